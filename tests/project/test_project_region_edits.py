"""Several regions of a tag made, changed and removed in one edit of its log, under UUIDs of the caller's."""

from __future__ import annotations

from dataclasses import replace

import pytest

from banana100_core.errors import ProjectError
from banana100_core.project.records import NewRegion, NewTag, RegionKind
from banana100_core.project.regions import copy_regions, edit_regions, regions, regions_at
from banana100_core.project.tags import add_tag, edits, redo, undo

BOX = NewRegion(3, RegionKind.BOX, ((4, 5), (20, 30)))
TRIANGLE = NewRegion(3, RegionKind.POLYGON, ((0, 0), (64, 0), (10.5, 48)))


@pytest.fixture
def tag(project, add_study):
    return add_tag(project, "Ann", NewTag(add_study(project, 10), "green_tint", 2))


def points(project):
    return {region.uuid: region.points for region in regions(project)}


def test_a_tag_may_bring_a_uuid_of_its_own(project, tag):
    assert add_tag(project, "Ann", NewTag(tag.run_id, "green_tint", 8), uuid="mine").uuid == "mine"


def test_all_of_an_edit_is_one_entry_of_the_log_and_undone_at_once(project, tag):
    edit_regions(project, "Ann", tag.uuid, {"a": BOX, "b": TRIANGLE})
    first = points(project)
    moved = replace(BOX, points=((5, 6), (21, 31)))
    put = edit_regions(project, "Ann", tag.uuid, {"a": moved, "c": TRIANGLE}, removed=["b"])
    assert [region.uuid for region in put] == ["a", "c"]
    second = points(project)
    assert second == {"a": moved.points, "c": TRIANGLE.points}
    assert len(edits(project)) == 3
    undo(project, "Ann")
    assert points(project) == first == {"a": BOX.points, "b": TRIANGLE.points}
    redo(project, "Ann")
    assert points(project) == second


def test_an_edit_tried_again_is_the_same_edit(project, tag):
    for _ in range(2):
        edit_regions(project, "Ann", tag.uuid, {"a": BOX}, removed=["gone"])
    assert len(edits(project)) == 2


@pytest.mark.parametrize(
    ("region", "said"),
    [
        (replace(BOX, step=4), "is a box of step 3"),
        (TRIANGLE, "is a box of step 3"),
        (replace(BOX, points=((4, 5), (65, 30))), "outside the picture"),
    ],
)
def test_a_region_stays_of_its_kind_and_step(project, tag, region, said):
    edit_regions(project, "Ann", tag.uuid, {"a": BOX})
    with pytest.raises(ProjectError, match=said):
        edit_regions(project, "Ann", tag.uuid, {"a": region, "b": TRIANGLE})
    assert points(project) == {"a": BOX.points}


def test_a_region_of_another_tag_is_left_alone(project, tag):
    other = add_tag(project, "Ann", NewTag(tag.run_id, "mirroring_failure", 2))
    edit_regions(project, "Ann", other.uuid, {"a": BOX})
    with pytest.raises(ProjectError, match=other.uuid):
        edit_regions(project, "Ann", tag.uuid, {"a": BOX})
    edit_regions(project, "Ann", tag.uuid, {}, removed=["a"])
    assert points(project) == {"a": BOX.points}


def test_a_region_ends_and_holds_on_again(project, tag):
    edit_regions(project, "Ann", tag.uuid, {"a": BOX, "b": TRIANGLE})
    edit_regions(project, "Ann", tag.uuid, {"a": replace(BOX, end_step=5)})
    there = regions(project)
    assert [region.uuid for region in regions_at(there, 5)] == ["a", "b"]
    assert [region.uuid for region in regions_at(there, 6)] == ["b"]
    (copy,) = copy_regions(project, "Ann", tag.uuid, 6)
    assert (copy.kind, copy.end_step) == (RegionKind.POLYGON, None)
    undo(project, "Ann")
    undo(project, "Ann")
    assert [region.end_step for region in regions(project)] == [None, None]
    redo(project, "Ann")
    assert [region.end_step for region in regions(project)] == [5, None]


def test_with_all_ended_nothing_holds_until_the_next_outlined_step(project, tag):
    edit_regions(project, "Ann", tag.uuid, {"a": replace(BOX, end_step=5), "b": replace(BOX, step=8)})
    there = regions(project)
    assert [[region.uuid for region in regions_at(there, step)] for step in (2, 3, 5, 6, 7, 8, 10)] == [
        [], ["a"], ["a"], [], [], ["b"], ["b"]
    ]  # fmt: skip
    with pytest.raises(ProjectError, match=r"No region .* holds at step 7"):
        copy_regions(project, "Ann", tag.uuid, 7)


def test_a_copy_ends_where_its_original_does(project, tag):
    edit_regions(project, "Ann", tag.uuid, {"a": replace(BOX, end_step=5)})
    (copy,) = copy_regions(project, "Ann", tag.uuid, 4)
    assert (copy.step, copy.end_step) == (4, 5)


def test_a_region_cant_end_before_it_begins(project, tag):
    with pytest.raises(ProjectError, match="step 3 can't end at step 2"):
        edit_regions(project, "Ann", tag.uuid, {"a": replace(BOX, end_step=2)})
