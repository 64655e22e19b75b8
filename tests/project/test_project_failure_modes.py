"""The taxonomy of a project: added to, renamed, retired, merged; a mode in use is never lost."""

from __future__ import annotations

import pytest

from banana100_core.catalog.failure_modes import Level
from banana100_core.catalog.failure_modes import failure_modes as catalog
from banana100_core.errors import ProjectError
from banana100_core.project import Project
from banana100_core.project.failure_modes import (
    NewMode,
    add_mode,
    change_mode,
    failure_modes,
    restore_mode,
    retire_mode,
    uses,
)
from banana100_core.project.mode_merging import merge_modes, plan_mode_merge
from banana100_core.project.records import NewRegion, NewTag, RegionKind
from banana100_core.project.regions import add_region, regions, regions_at
from banana100_core.project.tags import add_tag, edits, tags, undo

BOX = ((4.0, 5.0), (20.0, 30.0))
OTHER_BOX = ((30.0, 5.0), (40.0, 30.0))


@pytest.fixture
def project(tmp_path, add_study):
    with Project.create(tmp_path / "study.b100") as project:
        add_study(project, 10)
        yield project


def mode(project, key):
    return next(each for each in failure_modes(project) if each.key == key)


def log_of_modes(project):
    with project.reading() as connection:
        rows = connection.execute("SELECT annotator, failure_mode FROM failure_mode_edit ORDER BY id")
        return [tuple(row) for row in rows]


def spans(project):
    return [(tag.annotator, tag.failure_mode, tag.onset, tag.end_step) for tag in tags(project)]


def said(project):
    """What tags say, whenever they were modified."""
    return [
        (tag.uuid, tag.annotator, tag.failure_mode, tag.onset, tag.end_step, tag.severity, tag.note)
        for tag in tags(project)
    ]


def test_a_new_project_has_the_paper_s_taxonomy_in_its_order(project):
    assert [each.key for each in failure_modes(project)] == list(catalog())
    assert not any(each.retired for each in failure_modes(project))


def test_a_mode_is_added_among_those_of_its_level_and_can_be_tagged(project):
    key = add_mode(project, "Ann", NewMode("Halo, bright", Level.OBJECT, "A rim of light.", "Seen.", "z"))
    assert key == "halo_bright"
    found = mode(project, key)
    assert (found.name, found.level, found.shortcut) == ("Halo, bright", Level.OBJECT, "Z")
    levels = [each.level for each in failure_modes(project)]
    assert levels == sorted(levels, key=list(Level).index)
    add_tag(project, "Ann", NewTag(1, key, 3))
    assert uses(project)[key].tags == 1
    assert log_of_modes(project) == [("Ann", key)]


def test_a_kind_stands_after_what_it_is_a_kind_of(project):
    key = add_mode(project, "Ann", NewMode("Banding", Level.IMAGE, parent="persistent_noise"))
    keys = [each.key for each in failure_modes(project)]
    assert keys[keys.index(key) - 1] == "wrinkles"


@pytest.mark.parametrize("name", ["!!!", "雪", "green tint "])
def test_any_name_gives_a_key_of_its_own(project, name):
    if name.strip() == "green tint":
        with pytest.raises(ProjectError, match="There is a failure mode Green tint already"):
            add_mode(project, "Ann", NewMode(name, Level.IMAGE))
    else:
        assert add_mode(project, "Ann", NewMode(name, Level.IMAGE)) == "mode"


def test_a_renamed_mode_keeps_its_tags_and_stays_so_when_opened_again(project):
    add_tag(project, "Ann", NewTag(1, "green_tint", 3))
    change_mode(project, "Ann", "green_tint", name="Green cast", definition="All goes green.")
    project.close()
    with Project.open(project.path) as again:
        assert mode(again, "green_tint").name == "Green cast"
        assert spans(again) == [("Ann", "green_tint", 3, None)]


def test_a_letter_that_is_taken_is_refused_with_whose_it_is(project):
    with pytest.raises(ProjectError, match="The key N is taken: it tags Persistent noise"):
        change_mode(project, "Ann", "green_tint", shortcut="n")
    assert mode(project, "green_tint").shortcut == "G"
    change_mode(project, "Ann", "persistent_noise", shortcut="")
    change_mode(project, "Ann", "green_tint", shortcut="n")
    assert mode(project, "green_tint").shortcut == "N"


@pytest.mark.parametrize("letter", ["1", "ab", "É", "?"])
def test_a_key_is_one_letter(project, letter):
    with pytest.raises(ProjectError, match="one letter, A to Z"):
        change_mode(project, "Ann", "green_tint", shortcut=letter)


@pytest.mark.parametrize(
    ("key", "parent", "reason"),
    [
        ("green_tint", "green_tint", "a kind of itself"),
        ("texture_loss", "green_tint", "no kinds of kinds"),
        ("persistent_noise", "texture_loss", "has kinds of its own"),
        ("replacement", "texture_loss", "of the image level"),
        ("texture_loss", "nothing", "There is no failure mode"),
    ],
)
def test_a_parent_that_cannot_be_is_refused(project, key, parent, reason):
    before = failure_modes(project)
    with pytest.raises(ProjectError, match=reason):
        change_mode(project, "Ann", key, parent=parent, level=mode(project, key).level)
    assert failure_modes(project) == before


def test_kinds_follow_to_another_level(project):
    change_mode(project, "Ann", "persistent_noise", level=Level.OBJECT)
    assert mode(project, "green_tint").level is Level.OBJECT


def test_a_retired_mode_keeps_its_tags_frees_its_letter_and_comes_back(project):
    tag = add_tag(project, "Ann", NewTag(1, "green_tint", 3))
    retire_mode(project, "Ann", "green_tint")
    assert (mode(project, "green_tint").retired, mode(project, "green_tint").shortcut) == (True, "")
    assert tags(project) == [tag]
    with pytest.raises(ProjectError, match="Green tint is retired"):
        add_tag(project, "Bob", NewTag(1, "green_tint", 3))
    restore_mode(project, "Ann", "green_tint")
    assert (mode(project, "green_tint").retired, mode(project, "green_tint").shortcut) == (False, "G")


def test_a_letter_given_away_meanwhile_is_not_taken_back(project):
    retire_mode(project, "Ann", "green_tint")
    change_mode(project, "Ann", "texture_loss", shortcut="G")
    restore_mode(project, "Ann", "green_tint")
    assert mode(project, "green_tint").shortcut == ""


def test_a_mode_with_kinds_is_not_retired_before_them(project):
    with pytest.raises(ProjectError, match="kinds of its own: Static noise, Green tint"):
        retire_mode(project, "Ann", "persistent_noise")


def test_merging_moves_tags_retires_the_mode_and_can_be_undone(project):
    add_tag(project, "Bob", NewTag(1, "green_tint", 3, note="left"))
    plan = plan_mode_merge(project, "green_tint", "texture_loss")
    assert spans(project) == [("Bob", "green_tint", 3, None)]
    assert merge_modes(project, "Ann", "green_tint", "texture_loss") == plan
    assert (plan.moved, plan.joined, plan.runs, plan.annotators) == (1, 0, 1, ("Bob",))
    assert spans(project) == [("Bob", "texture_loss", 3, None)]
    assert mode(project, "green_tint").merged_into == "texture_loss"
    assert [edit.annotator for edit in edits(project)] == ["Bob", "Ann"]
    undo(project, "Ann")
    assert spans(project) == [("Bob", "green_tint", 3, None)]


def test_two_claims_of_one_annotator_at_the_same_steps_become_one(project):
    add_tag(project, "Ann", NewTag(1, "green_tint", 2, 6, severity=3, certainty=0.4, note="from the left"))
    kept = add_tag(project, "Ann", NewTag(1, "static_noise", 4, 8, severity=1, certainty=0.9, note="grain"))
    add_tag(project, "Ann", NewTag(1, "green_tint", 10))
    add_tag(project, "Bob", NewTag(1, "green_tint", 5))
    before = said(project)
    done = merge_modes(project, "Cleo", "green_tint", "static_noise")
    assert (done.moved, done.joined, done.annotators) == (2, 1, ("Ann", "Bob"))
    assert spans(project) == [
        ("Ann", "static_noise", 2, 8),
        ("Bob", "static_noise", 5, None),
        ("Ann", "static_noise", 10, None),
    ]
    joined = next(tag for tag in tags(project) if tag.uuid == kept.uuid)
    assert (joined.severity, joined.certainty, joined.note) == (3, 0.9, "grain\nfrom the left")
    while undo(project, "Cleo"):
        pass
    assert said(project) == before


def test_regions_of_both_hold_after_a_merge_and_are_as_before_when_it_is_undone(project):
    gone = add_tag(project, "Ann", NewTag(1, "green_tint", 2))
    kept = add_tag(project, "Ann", NewTag(1, "static_noise", 3))
    add_region(project, "Ann", gone.uuid, NewRegion(2, RegionKind.BOX, BOX))
    add_region(project, "Ann", kept.uuid, NewRegion(5, RegionKind.BOX, OTHER_BOX))
    before = {region.uuid for region in regions(project)}
    merge_modes(project, "Ann", "green_tint", "static_noise")
    (tag,) = tags(project)
    held = {step: {each.points for each in regions_at(regions(project), step)} for step in (1, 2, 4, 5, 9)}
    assert held == {1: set(), 2: {BOX}, 4: {BOX}, 5: {BOX, OTHER_BOX}, 9: {BOX, OTHER_BOX}}
    assert tag.uuid == kept.uuid
    undo(project, "Ann")
    undo(project, "Ann")
    assert {region.uuid for region in regions(project)} == before


def test_regions_end_after_a_merge_where_they_or_their_tag_did(project):
    gone = add_tag(project, "Ann", NewTag(1, "green_tint", 2, 6))
    kept = add_tag(project, "Ann", NewTag(1, "static_noise", 3))
    add_region(project, "Ann", gone.uuid, NewRegion(2, RegionKind.BOX, BOX))
    add_region(project, "Ann", kept.uuid, NewRegion(3, RegionKind.BOX, OTHER_BOX, end_step=8))
    merge_modes(project, "Ann", "green_tint", "static_noise")
    there = regions(project)
    held = {step: {each.points for each in regions_at(there, step)} for step in (2, 3, 6, 7, 8, 9)}
    both = {BOX, OTHER_BOX}
    assert held == {2: {BOX}, 3: both, 6: both, 7: {OTHER_BOX}, 8: {OTHER_BOX}, 9: set()}


def test_tags_that_come_later_are_taken_along_by_merging_again(project):
    merge_modes(project, "Ann", "green_tint", "texture_loss")
    restore_mode(project, "Ann", "green_tint")
    add_tag(project, "Bob", NewTag(1, "green_tint", 3))
    merge_modes(project, "Ann", "green_tint", "texture_loss")
    assert spans(project) == [("Bob", "texture_loss", 3, None)]


@pytest.mark.parametrize(
    ("key", "into", "reason"),
    [
        ("green_tint", "green_tint", "into itself"),
        ("persistent_noise", "texture_loss", "kinds of its own"),
        ("green_tint", "nothing", "There is no failure mode"),
    ],
)
def test_a_merge_that_cannot_be_changes_nothing(project, key, into, reason):
    add_tag(project, "Ann", NewTag(1, key, 3))
    before = (tags(project), failure_modes(project))
    with pytest.raises(ProjectError, match=reason):
        merge_modes(project, "Ann", key, into)
    assert (tags(project), failure_modes(project)) == before


def test_nothing_is_merged_into_a_retired_mode(project):
    retire_mode(project, "Ann", "texture_loss")
    with pytest.raises(ProjectError, match="Loss of texture is retired"):
        merge_modes(project, "Ann", "green_tint", "texture_loss")
