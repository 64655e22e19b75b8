"""Copies of a project that went to annotators and came back."""

from __future__ import annotations

from dataclasses import replace

import pytest

from banana100_core.errors import ProjectError
from banana100_core.project import Project
from banana100_core.project.failure_modes import failure_modes
from banana100_core.project.merge import Prefer, merge
from banana100_core.project.pack import pack
from banana100_core.project.records import NewRegion, NewTag, RegionKind, ReviewState
from banana100_core.project.regions import add_region, change_region, regions
from banana100_core.project.rows import now
from banana100_core.project.runs import add_run
from banana100_core.project.tags import add_tag, change_tag, edits, redo, remove_tag, tags, undo

BOX = NewRegion(3, RegionKind.BOX, ((4, 5), (20, 30)))


@pytest.fixture
def mine(tmp_path, add_study):
    """The project, with a run of ten steps and a tag of Ann's that has a region."""
    with Project.create(tmp_path / "mine.b100") as project:
        run_id = add_study(project, 10)
        tag = add_tag(project, "Ann", NewTag(run_id, "green_tint", 2))
        add_region(project, "Ann", tag.uuid, BOX)
        yield project


@pytest.fixture
def copy_of(tmp_path):
    """Makes a copy as it is handed out, and opens it."""
    opened = []

    def make(project, name="theirs") -> Project:
        pack(project, tmp_path / f"{name}.b100")
        opened.append(Project.open(tmp_path / f"{name}.b100"))
        return opened[-1]

    yield make
    for project in opened:
        project.close()


def said(project) -> tuple:
    return (tags(project), regions(project), edits(project))


def take_over(project, *others, **options):
    return merge(project, [other.path for other in others], **options)


def test_two_annotators_work_is_united(mine, copy_of):
    theirs = copy_of(mine)
    first = add_tag(mine, "Ann", NewTag(1, "wrinkles", 4))
    bob = add_tag(theirs, "Bob", NewTag(1, "texture_loss", 5, note="Ü"))
    box = add_region(theirs, "Bob", bob.uuid, BOX)
    report = take_over(mine, theirs)
    assert (report.added, report.changed, report.removed, report.unchanged) == (1, 0, 0, 1)
    assert (report.edits, report.conflicts, report.left_out) == (2, [], [])
    assert {tag.uuid for tag in tags(mine)} == {first.uuid, bob.uuid, tags(mine)[0].uuid}
    assert box in regions(mine)
    assert [edit.annotator for edit in edits(mine)] == ["Ann", "Ann", "Ann", "Bob", "Bob"]


def test_a_dry_run_tells_the_same_and_changes_nothing(mine, copy_of, tmp_path):
    theirs = copy_of(mine)
    add_tag(theirs, "Bob", NewTag(1, "texture_loss", 5))
    before, files = said(mine), sorted(tmp_path.iterdir())
    planned = take_over(mine, theirs, dry_run=True)
    assert (said(mine), sorted(tmp_path.iterdir())) == (before, files)
    done = take_over(mine, theirs)
    assert done.backup is not None
    done.backup = None
    assert planned == done


def test_merging_again_changes_nothing(mine, copy_of, tmp_path):
    theirs = copy_of(mine)
    tag = add_tag(theirs, "Bob", NewTag(1, "texture_loss", 5))
    change_tag(theirs, "Bob", tag.uuid, onset=6)
    undo(theirs, "Bob")
    take_over(mine, theirs)
    after, files = said(mine), sorted(tmp_path.iterdir())
    report = take_over(mine, theirs)
    assert (report.added, report.changed, report.edits, report.backup) == (0, 0, 0, None)
    assert (said(mine), sorted(tmp_path.iterdir())) == (after, files)


def test_the_project_is_backed_up_first(mine, copy_of):
    theirs = copy_of(mine)
    add_tag(theirs, "Bob", NewTag(1, "texture_loss", 5))
    before = said(mine)
    backup = take_over(mine, theirs).backup
    with Project.open(backup, read_only=True) as copy:
        assert said(copy) == before
    assert said(mine) != before


def test_what_only_one_side_changed_is_the_newer(mine, copy_of):
    theirs = copy_of(mine)
    (tag,) = tags(mine)
    change_tag(theirs, "Bob", tag.uuid, review_state=ReviewState.ACCEPTED)
    change_region(theirs, "Bob", regions(theirs)[0].uuid, ((0, 0), (9, 9)))
    report = take_over(mine, theirs)
    assert (report.changed, report.conflicts) == (1, [])
    assert (tags(mine), regions(mine)) == (tags(theirs), regions(theirs))
    change_tag(mine, "Ann", tag.uuid, onset=4)
    report = take_over(mine, theirs)
    assert (report.changed, report.unchanged) == (0, 1)
    assert tags(mine)[0].onset == 4


def test_a_removal_is_taken_over_and_not_taken_back(mine, copy_of):
    theirs = copy_of(mine)
    (tag,) = tags(mine)
    remove_tag(theirs, "Bob", tag.uuid)
    assert take_over(mine, theirs).removed == 1
    assert (tags(mine), regions(mine)) == ([], [])
    report = take_over(theirs, mine)
    assert (report.added, tags(theirs)) == (0, [])


def test_what_was_removed_here_stays_removed(mine, copy_of):
    theirs = copy_of(mine)
    remove_tag(mine, "Ann", tags(mine)[0].uuid)
    report = take_over(mine, theirs)
    assert (report.added, report.conflicts, tags(mine)) == (0, [], [])


@pytest.mark.parametrize(
    ("prefer", "onset"), [(None, 4), (Prefer.MINE, 4), (Prefer.THEIRS, 6), (Prefer.NEWEST, 6)]
)
def test_conflicts_are_listed_and_decided(mine, copy_of, prefer, onset):
    theirs = copy_of(mine)
    (tag,) = tags(mine)
    change_tag(mine, "Ann", tag.uuid, onset=4)
    later_than(mine, theirs)
    change_tag(theirs, "Bob", tag.uuid, onset=6, severity=3)
    report = take_over(mine, theirs, prefer=prefer)
    (conflict,) = report.conflicts
    assert (conflict.tag_uuid, set(conflict.fields)) == (tag.uuid, {"onset", "severity"})
    assert (conflict.mine.row["onset"], conflict.theirs.row["onset"]) == (4, 6)
    assert conflict.taken == (Prefer.THEIRS if onset == 6 else Prefer.MINE)
    assert tags(mine)[0].onset == onset
    after = said(mine)
    again = take_over(mine, theirs, prefer=prefer)
    assert len(again.conflicts) == (0 if onset == 6 else 1)
    assert said(mine) == after


def later_than(mine, theirs):
    """Let the clock go on, as far as the log tells the time, so that the next edit is the newest."""
    last = max(edit.at for project in (mine, theirs) for edit in edits(project))
    while now() <= last:
        pass


def test_the_newest_may_be_ones_own(mine, copy_of):
    theirs = copy_of(mine)
    (tag,) = tags(mine)
    change_tag(theirs, "Bob", tag.uuid, onset=6)
    later_than(mine, theirs)
    change_tag(mine, "Ann", tag.uuid, onset=4)
    report = take_over(mine, theirs, prefer=Prefer.NEWEST)
    assert ([conflict.taken for conflict in report.conflicts], tags(mine)[0].onset) == (["mine"], 4)


def test_a_removal_against_a_change_is_a_conflict(mine, copy_of):
    theirs = copy_of(mine)
    (tag,) = tags(mine)
    change_tag(mine, "Ann", tag.uuid, onset=4)
    remove_tag(theirs, "Bob", tag.uuid)
    report = take_over(mine, theirs)
    assert ([conflict.fields for conflict in report.conflicts], len(tags(mine))) == ([("removed",)], 1)
    take_over(mine, theirs, prefer=Prefer.THEIRS)
    assert tags(mine) == []


def test_the_same_made_on_both_sides_is_no_conflict(mine, copy_of):
    theirs = copy_of(mine)
    (tag,) = tags(mine)
    change_tag(mine, "Ann", tag.uuid, onset=4)
    change_tag(theirs, "Bob", tag.uuid, onset=4)
    report = take_over(mine, theirs)
    assert (report.conflicts, report.unchanged) == ([], 1)


def test_different_regions_are_a_conflict(mine, copy_of):
    theirs = copy_of(mine)
    (region,) = regions(mine)
    change_region(mine, "Ann", region.uuid, ((0, 0), (9, 9)))
    change_region(theirs, "Bob", region.uuid, ((0, 0), (8, 8)))
    report = take_over(mine, theirs, prefer=Prefer.THEIRS)
    assert [conflict.fields for conflict in report.conflicts] == [("regions",)]
    assert regions(mine)[0].points == ((0, 0), (8, 8))


def test_undo_goes_on_over_what_was_merged(mine, copy_of):
    theirs = copy_of(mine)
    tag = add_tag(theirs, "Bob", NewTag(1, "texture_loss", 5))
    change_tag(theirs, "Bob", tag.uuid, onset=6)
    undo(theirs, "Bob")
    take_over(mine, theirs)
    redo(mine, "Bob")
    assert tags(mine)[-1].onset == 6
    undo(mine, "Bob")
    undo(mine, "Bob")
    assert [tag.annotator for tag in tags(mine)] == ["Ann"]
    assert undo(mine, "Bob") is None
    undo(mine, "Ann")
    assert regions(mine) == []


def test_runs_are_matched_by_uuid_not_by_number(mine, copy_of, add_study, new_run):
    theirs = copy_of(mine)
    add_run(theirs, new_run(steps_planned=20, initial_image="of theirs alone"))
    add_study(mine, 5, initial_image="of mine alone")
    mine_twice = copy_of(mine, "back to front")
    mine_twice.write(lambda database: renumber(database, {1: 7, 2: 1}))
    strange = add_tag(theirs, "Bob", NewTag(2, "texture_loss", 5))
    known = add_tag(theirs, "Bob", NewTag(1, "wrinkles", 5))
    report = take_over(mine, theirs)
    assert [(left.tag_uuid, left.reason) for left in report.left_out] == [
        (strange.uuid, "the project has no run of that UUID")
    ]
    assert known.uuid in {tag.uuid for tag in tags(mine, 1)}
    assert tags(mine, 2) == []
    report = take_over(mine_twice, theirs)
    assert (report.added, report.unchanged) == (1, 1)
    assert known.uuid in {tag.uuid for tag in tags(mine_twice, 7)}
    assert undo(mine_twice, "Bob").before["run_id"] == 7


def renumber(database, numbers):
    database.execute("PRAGMA defer_foreign_keys=ON")
    for old, new in numbers.items():
        for table in ("step", "tag"):
            database.execute(f"UPDATE {table} SET run_id = ? WHERE run_id = ?", (new, old))
        database.execute("UPDATE run SET id = ? WHERE id = ?", (new, old))


def test_a_tag_of_steps_that_are_missing_here_is_left_out(mine, copy_of):
    theirs = copy_of(mine)
    theirs.write(lambda database: database.execute("UPDATE run SET steps_planned = 40"))
    late = add_tag(theirs, "Bob", NewTag(1, "texture_loss", 33))
    report = take_over(mine, theirs)
    assert [left.tag_uuid for left in report.left_out] == [late.uuid]
    assert "after 20" in report.left_out[0].reason
    assert late.uuid not in {tag.uuid for tag in tags(mine)}


def test_failure_modes_come_with_their_tags(mine, copy_of):
    theirs = copy_of(mine)
    row = {"level": "image", "definition": "d", "example": "e", "position": 90}
    modes = [
        {"key": "halo", "name": "Halo", "shortcut": "1", "parent": None, **row},
        {"key": "blue_halo", "name": "Blue halo", "shortcut": "G", "parent": "halo", **row},
        {"key": "red_halo", "name": "Red halo", "shortcut": None, "parent": "halo", **row},
        {"key": "unused", "name": "Unused", "shortcut": None, "parent": None, **row},
    ]
    theirs.write(
        lambda database: database.execute("UPDATE failure_mode SET shortcut = NULL WHERE shortcut = 'G'")
    )
    theirs.write(lambda database: database["failure_mode"].insert_all(modes))
    for key in ("blue_halo", "red_halo"):
        add_tag(theirs, "Bob", NewTag(1, key, 3))
    report = take_over(mine, theirs)
    assert sorted(report.new_failure_modes) == ["blue_halo", "halo", "red_halo"]
    found = {mode.key: mode for mode in failure_modes(mine)}
    assert (found["halo"].shortcut, found["blue_halo"].shortcut, found["blue_halo"].parent) == (
        "1",
        "",
        "halo",
    )
    assert "unused" not in found


def test_several_copies_at_once(mine, copy_of):
    bobs, carols = copy_of(mine, "bob"), copy_of(mine, "carol")
    (tag,) = tags(mine)
    add_tag(bobs, "Bob", NewTag(1, "texture_loss", 5))
    add_tag(carols, "Carol", NewTag(1, "wrinkles", 5))
    change_tag(bobs, "Bob", tag.uuid, onset=5)
    change_tag(carols, "Carol", tag.uuid, onset=6)
    report = take_over(mine, bobs, carols)
    assert (report.added, report.changed, len(report.conflicts)) == (2, 1, 1)
    assert (report.conflicts[0].other, tags(mine, 1)[-1].onset) == (str(carols.path), 5)


def test_the_project_itself_is_refused(mine, tmp_path):
    with pytest.raises(ProjectError, match="itself"):
        merge(mine, [mine.path])
    with pytest.raises(ProjectError, match="no project"):
        merge(mine, [tmp_path / "nowhere.b100"])


def test_what_differs_only_in_time_is_the_same(mine, copy_of):
    theirs = copy_of(mine)
    (tag,) = tags(mine)
    for project, name in ((mine, "Ann"), (theirs, "Bob")):
        change_tag(project, name, tag.uuid, onset=7)
        change_tag(project, name, tag.uuid, onset=2)
    assert take_over(mine, theirs).conflicts == []
    assert [replace(found, modified_at="") for found in tags(mine)] == [replace(tag, modified_at="")]
