"""Copies of a project that went to annotators and came back."""

from __future__ import annotations

import contextlib
import json
from dataclasses import replace

import pytest
from sqlite_utils import Database
from sqlite_utils.migrations import Migrations

from banana100_core.catalog.failure_modes import Level
from banana100_core.errors import ProjectError
from banana100_core.project import Project
from banana100_core.project.check import check
from banana100_core.project.database import connect
from banana100_core.project.failure_modes import (
    NewMode,
    add_mode,
    change_mode,
    failure_modes,
    retire_mode,
)
from banana100_core.project.images import image_bytes
from banana100_core.project.merge import Prefer, merge
from banana100_core.project.merge_taxonomy import read_log
from banana100_core.project.migrations import (
    add_regions,
    add_replies,
    add_suggestions,
    add_verdicts,
    create,
)
from banana100_core.project.mode_merging import merge_modes
from banana100_core.project.pack import pack
from banana100_core.project.records import (
    NewRegion,
    NewStep,
    NewSuggestion,
    NewTag,
    Outcome,
    RegionKind,
    ReviewState,
)
from banana100_core.project.regions import add_region, change_region, edit_regions, regions
from banana100_core.project.reviews import accept_run, mark_run, reject_run, reviews
from banana100_core.project.rows import now
from banana100_core.project.runs import add_run, add_steps, runs, steps
from banana100_core.project.scores import step_scores
from banana100_core.project.suggestions import (
    accept_suggestion,
    reject_suggestion,
    replace_suggestions,
    suggestions,
)
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
def test_conflicts_are_listed_and_decided(mine, copy_of, next_moment, prefer, onset):
    theirs = copy_of(mine)
    (tag,) = tags(mine)
    change_tag(mine, "Ann", tag.uuid, onset=4)
    next_moment()
    change_tag(theirs, "Bob", tag.uuid, onset=6, severity=3)
    report = take_over(mine, theirs, prefer=prefer)
    (conflict,) = report.conflicts
    assert (conflict.tag_uuid, set(conflict.fields)) == (tag.uuid, {"onset", "severity"})
    assert (conflict.mine.row["onset"], conflict.theirs.row["onset"]) == (4, 6)
    assert conflict.taken == (Prefer.THEIRS if onset == 6 else Prefer.MINE)
    assert tags(mine)[0].onset == onset
    after = said(mine)
    again = take_over(mine, theirs, prefer=prefer)
    # What was decided doesn't come again.
    assert len(again.conflicts) == (1 if prefer is None else 0)
    assert said(mine) == after


def test_the_newest_may_be_ones_own(mine, copy_of, next_moment):
    theirs = copy_of(mine)
    (tag,) = tags(mine)
    change_tag(theirs, "Bob", tag.uuid, onset=6)
    next_moment()
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


def test_an_end_of_a_region_is_taken_over_and_can_be_in_conflict(mine, copy_of):
    theirs = copy_of(mine)
    (region,) = regions(mine)
    ended = replace(BOX, end_step=region.step + 2)
    edit_regions(theirs, "Bob", region.tag_uuid, {region.uuid: ended})
    assert merge(mine, [theirs.path]).changed == 1
    assert regions(mine) == regions(theirs)
    edit_regions(mine, "Ann", region.tag_uuid, {region.uuid: replace(ended, end_step=region.step)})
    edit_regions(theirs, "Bob", region.tag_uuid, {region.uuid: BOX})
    report = merge(mine, [theirs.path])
    assert [conflict.fields for conflict in report.conflicts] == [("regions",)]


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


# The taxonomy and the reviews


def mode_of(project, key):
    return next(mode for mode in failure_modes(project) if mode.key == key)


def test_the_newest_change_to_a_failure_mode_holds_on_both_sides(mine, copy_of, next_moment):
    theirs = copy_of(mine)
    change_mode(mine, "Ann", "green_tint", name="Green cast")
    next_moment()
    change_mode(theirs, "Bob", "green_tint", name="Greenness", shortcut="Z")
    change_mode(theirs, "Bob", "wrinkles", shortcut="G")
    report = take_over(mine, theirs)
    assert [(change.key, change.fields) for change in report.changed_failure_modes] == [
        ("green_tint", ("name", "shortcut")),
        ("wrinkles", ("shortcut",)),
    ]
    assert (mode_of(mine, "green_tint").name, mode_of(mine, "green_tint").shortcut) == ("Greenness", "Z")
    assert mode_of(mine, "wrinkles").shortcut == "G"
    again = take_over(mine, theirs)
    assert (again.changed_failure_modes, again.backup) == ([], None)
    assert take_over(theirs, mine).changed_failure_modes == []


def test_tags_of_a_mode_that_was_renamed_or_retired_here_come_all_the_same(mine, copy_of):
    theirs = copy_of(mine)
    change_mode(mine, "Ann", "wrinkles", name="Ripples")
    retire_mode(mine, "Ann", "texture_loss")
    add_tag(theirs, "Bob", NewTag(1, "texture_loss", 5))
    add_tag(theirs, "Bob", NewTag(1, "wrinkles", 6))
    report = take_over(mine, theirs)
    assert (report.added, report.left_out, report.changed_failure_modes) == (2, [], [])
    assert mode_of(mine, "texture_loss").retired
    assert mode_of(mine, "wrinkles").name == "Ripples"


def test_tags_of_a_mode_that_was_merged_away_here_stay_until_it_is_merged_again(mine, copy_of):
    theirs = copy_of(mine)
    merge_modes(mine, "Ann", "green_tint", "wrinkles")
    late = add_tag(theirs, "Bob", NewTag(1, "green_tint", 5))
    report = take_over(mine, theirs)
    assert (report.added, report.conflicts) == (1, [])
    assert [tag.failure_mode for tag in tags(mine)] == ["wrinkles", "green_tint"]
    merge_modes(mine, "Ann", "green_tint", "wrinkles")
    assert {tag.failure_mode for tag in tags(mine)} == {"wrinkles"}
    assert take_over(mine, theirs).added == 0
    take_over(theirs, mine)
    assert mode_of(theirs, "green_tint").merged_into == "wrinkles"
    assert {tag.failure_mode for tag in tags(theirs)} == {"wrinkles"}
    assert late.uuid in {tag.uuid for tag in tags(theirs)}


def test_a_mode_added_to_the_taxonomy_comes_without_tags_too(mine, copy_of):
    theirs = copy_of(mine)
    kind = add_mode(theirs, "Bob", NewMode("Halo", Level.IMAGE, shortcut="Z", parent="persistent_noise"))
    add_mode(mine, "Ann", NewMode("Banding", Level.IMAGE, shortcut="Z"))
    report = take_over(mine, theirs)
    assert report.new_failure_modes == [kind]
    assert (mode_of(mine, kind).parent, mode_of(mine, kind).shortcut) == ("persistent_noise", "")
    assert [edit["annotator"] for edit in mine_log(mine)] == ["Ann", "Bob"]


def mine_log(project):
    with project.reading() as connection:
        return read_log(connection)


def test_no_merge_makes_kinds_of_kinds(mine, copy_of):
    theirs = copy_of(mine)
    change_mode(mine, "Ann", "texture_loss", parent="duplicated_objects")
    change_mode(theirs, "Bob", "duplicated_objects", parent="monochrome_failure")
    take_over(mine, theirs)
    parents = {mode.key: mode.parent for mode in failure_modes(mine)}
    assert all(parents[parent] is None for parent in parents.values() if parent is not None)


def test_reviews_are_united_and_tags_carry_them(mine, copy_of, next_moment):
    theirs = copy_of(mine)
    mark_run(mine, "Ann", 1, ReviewState.DONE)
    next_moment()
    reject_run(theirs, "Cleo", 1, "Ann", "Look at step 2.")
    mark_run(theirs, "Bob", 1, ReviewState.DONE)
    report = take_over(mine, theirs)
    assert report.reviews == 2
    (conflict,) = report.review_conflicts
    assert (conflict.mine, conflict.theirs, conflict.taken) == ("done", "rejected", "rejected")
    assert [(each.annotator, each.state, each.comment) for each in reviews(mine)] == [
        ("Ann", ReviewState.REJECTED, "Look at step 2."),
        ("Bob", ReviewState.DONE, ""),
    ]
    assert tags(mine)[0].review_state is ReviewState.REJECTED
    again = take_over(mine, theirs)
    assert (again.reviews, again.review_conflicts, again.backup) == (0, [], None)


def test_an_edit_after_a_review_is_not_hidden_by_a_merge(mine, copy_of, next_moment):
    theirs = copy_of(mine)
    accept_run(mine, "Cleo", 1, "Ann")
    next_moment()
    change_tag(mine, "Ann", tags(mine)[0].uuid, onset=1)
    mark_run(theirs, "Bob", 1, ReviewState.DONE)
    take_over(mine, theirs)
    assert tags(mine)[0].review_state is ReviewState.DRAFT
    assert reviews(mine)[0].waits


def clashing(mine, theirs):
    """Both change the same tag; gives its UUID."""
    (tag,) = tags(mine)
    change_tag(mine, "Ann", tag.uuid, onset=4)
    change_tag(theirs, "Bob", tag.uuid, onset=6)
    return tag.uuid


def test_both_sides_of_a_conflict_can_stay(mine, copy_of):
    theirs = copy_of(mine)
    uuid = clashing(mine, theirs)
    report = take_over(mine, theirs, prefer=Prefer.BOTH)
    assert [conflict.taken for conflict in report.conflicts] == [Prefer.BOTH]
    own, copied = tags(mine)
    assert (own.uuid, own.onset, copied.onset, copied.annotator) == (uuid, 4, 6, "Ann")
    assert [region.points for region in regions(mine)] == [BOX.points] * 2
    assert {region.tag_uuid for region in regions(mine)} == {own.uuid, copied.uuid}
    after = said(mine)
    again = take_over(mine, theirs, prefer=Prefer.BOTH)
    assert (again.conflicts, again.added, said(mine)) == ([], 0, after)


def test_each_conflict_is_decided_on_its_own(mine, copy_of):
    second = add_tag(mine, "Ann", NewTag(1, "wrinkles", 2))
    third = add_tag(mine, "Ann", NewTag(1, "texture_loss", 2))
    theirs = copy_of(mine)
    for tag in tags(mine):
        change_tag(mine, "Ann", tag.uuid, onset=4)
        change_tag(theirs, "Bob", tag.uuid, onset=6)
    name = str(theirs.path)
    decisions = {(second.uuid, name): Prefer.THEIRS, (third.uuid, name): Prefer.MINE}
    report = take_over(mine, theirs, decisions=decisions)
    assert len(report.conflicts) == 3
    found = {tag.failure_mode: tag.onset for tag in tags(mine)}
    assert found == {"green_tint": 4, "wrinkles": 6, "texture_loss": 4}
    (left,) = take_over(mine, theirs).conflicts
    assert left.mine.row["failure_mode"] == "green_tint"


def test_a_decision_for_mine_reaches_the_copy_and_can_be_undone(mine, copy_of):
    theirs = copy_of(mine)
    clashing(mine, theirs)
    take_over(mine, theirs, prefer=Prefer.MINE)
    report = take_over(theirs, mine)
    assert (report.conflicts, report.changed, tags(theirs)[0].onset) == ([], 1, 4)
    undo(mine, "Ann")
    assert tags(mine)[0].onset == 6


def test_runs_of_a_copy_alone_are_listed_and_added_when_asked(mine, copy_of, add_study, content, tmp_path):
    theirs = copy_of(mine)
    run_id = add_study(theirs, 3, initial_image="Fog")
    tag = add_tag(theirs, "Bob", NewTag(run_id, "texture_loss", 2))
    add_region(theirs, "Bob", tag.uuid, BOX)
    report = take_over(mine, theirs, dry_run=True)
    (only,) = report.new_runs
    assert (only.initial_image, only.steps, only.tags, only.reason) == ("Fog", 3, 1, "")
    assert [left.tag_uuid for left in report.left_out] == [tag.uuid]
    assert take_over(mine, theirs, dry_run=True, add_runs=True).left_out == []
    assert len(runs(mine)) == 1
    report = take_over(mine, theirs, add_runs=True)
    assert (report.runs_added, report.added, report.new_runs, report.left_out) == (1, 1, [], [])
    assert report.backup.exists()
    added = runs(mine)[1]
    assert (added.uuid, added.steps_done) == (runs(theirs)[1].uuid, 3)
    here, there = steps(mine, added.id), steps(theirs, run_id)
    assert [step.image for step in here] == [step.image for step in there]
    for step in here:
        assert image_bytes(mine, step.image.sha256) == image_bytes(theirs, step.image.sha256)
    assert [score.score for score in step_scores(mine, [added.id])] == [
        score.score for score in step_scores(theirs, [run_id])
    ]
    assert tag.uuid in {there.uuid for there in tags(mine, added.id)}
    again = take_over(mine, theirs, add_runs=True)
    assert (again.runs_added, again.added, again.backup) == (0, 0, None)
    assert check(mine.path) == []


def test_runs_that_cannot_come_say_why(mine, copy_of, new_run, new_image, tmp_path):
    add_run(mine, new_run(source="imported/here"))
    theirs = Project.create(tmp_path / "other.b100")
    add_run(theirs, new_run(source="imported/here"))
    lost = add_run(theirs, new_run(initial_image="lost"))
    file = tmp_path / "elsewhere" / "step.png"
    add_steps(theirs, [(NewStep(lost, 1, Outcome.DONE), new_image("lost", file=file))])
    file.unlink()
    theirs.close()
    report = merge(mine, [theirs.path], add_runs=True)
    assert (report.runs_added, len(report.new_runs)) == (0, 2)
    first, second = report.new_runs
    assert "imported it by itself" in first.reason
    assert "step.png" in second.reason
    assert "pack" in second.reason


def test_the_users_own_files_are_named_from_here(mine, new_run, new_image, tmp_path):
    (tmp_path / "away").mkdir()
    with Project.create(tmp_path / "away" / "other.b100") as theirs:
        run_id = add_run(theirs, new_run(initial_image="own"))
        image = new_image("own", file=tmp_path / "away" / "step.png")
        add_steps(theirs, [(NewStep(run_id, 1, Outcome.DONE), image)])
    assert merge(mine, [theirs.path], add_runs=True).runs_added == 1
    assert image_bytes(mine, image.image.sha256) == image.file.read_bytes()


def test_decisions_on_suggestions_come_along(mine, copy_of):
    found = [
        NewSuggestion(1, mode, 3, 1.0, "why", "t")
        for mode in ("wrinkles", "texture_loss", "counting_failure")
    ]
    replace_suggestions(mine, [1], found)
    theirs = copy_of(mine)
    by_mode = {there.failure_mode: there.uuid for there in suggestions(mine)}
    accept_suggestion(theirs, "Bob", by_mode["wrinkles"])
    reject_suggestion(theirs, "Bob", by_mode["texture_loss"])
    reject_suggestion(mine, "Ann", by_mode["counting_failure"])
    report = take_over(mine, theirs)
    assert report.suggestions == 2
    states = {there.failure_mode: (there.state, there.annotator) for there in suggestions(mine)}
    assert states == {
        "wrinkles": ("accepted", "Bob"),
        "texture_loss": ("rejected", "Bob"),
        "counting_failure": ("rejected", "Ann"),
    }
    assert take_over(mine, theirs).suggestions == 0


@pytest.fixture
def older(mine, tmp_path):
    """The path of a copy that version 1.4 wrote: Bob tagged the run of `mine` there."""
    path = tmp_path / "older [1].b100"
    (run,) = runs(mine)
    version_1_4 = Migrations("banana100")
    for migration in (create, add_replies, add_regions, add_suggestions, add_verdicts):
        version_1_4()(migration)
    with contextlib.closing(connect(path, "rwc")) as connection:
        database = Database(connection, execute_plugins=False)
        version_1_4.apply(database)
        database["project_setting"].insert_all(
            [{"key": "uuid", "value": "theirs"}, {"key": "images", "value": "inside"}]
        )
        with mine.reading() as own:
            database["run"].insert(dict(own.execute("SELECT * FROM run").fetchone()))
            mode = dict(own.execute("SELECT * FROM failure_mode WHERE key = 'wrinkles'").fetchone())
        known = {column.name for column in database["failure_mode"].columns}
        database["failure_mode"].insert({key: mode[key] for key in known} | {"parent": None})
        row = {"uuid": "bobs", "run_id": run.id, "failure_mode": "wrinkles", "annotator": "Bob", "onset": 3}
        row |= {"severity": 2, "certainty": 1.0, "note": "", "review_state": "draft"}
        row |= {"created_at": now(), "modified_at": now()}
        database["tag"].insert(row)
        after = json.dumps(row | {"end_step": None})
        database["edit"].insert(
            {"at": now(), "annotator": "Bob", "action": "add", "tag_uuid": "bobs", "after": after}
        )
        connection.commit()
    return path


def test_a_copy_of_an_older_version_is_merged_and_left_as_it_is(mine, older):
    before = older.read_bytes()
    files = sorted(older.parent.iterdir())
    report = merge(mine, [older], dry_run=True)
    assert (report.added, report.left_out) == (1, [])
    assert merge(mine, [older], add_runs=True).added == 1
    assert "bobs" in {tag.uuid for tag in tags(mine)}
    assert older.read_bytes() == before
    assert {path for path in older.parent.iterdir() if not path.name.endswith(".bak")} == set(files)
