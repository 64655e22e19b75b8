"""Regions of tags: where they hold, and that the log of edits takes them back like all else."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from banana100_core.errors import ProjectError
from banana100_core.project import Project
from banana100_core.project.images import NewImage
from banana100_core.project.records import Image, NewRegion, NewStep, NewTag, Outcome, Region, RegionKind
from banana100_core.project.regions import (
    add_region,
    add_regions,
    change_region,
    copy_regions,
    edit_regions,
    regions,
    regions_at,
    remove_region,
)
from banana100_core.project.runs import add_run, add_steps
from banana100_core.project.tags import add_tag, change_tag, edits, redo, remove_tag, tags, undo

BOX = NewRegion(3, RegionKind.BOX, ((4, 5), (20, 30)))
TRIANGLE = NewRegion(5, RegionKind.POLYGON, ((0, 0), (64, 0), (10.5, 48)))


@pytest.fixture
def run_id(project, add_study):
    """A run of ten steps of 64 by 48 pixels."""
    return add_study(project, 10)


@pytest.fixture
def tag(project, run_id):
    return add_tag(project, "Ann", NewTag(run_id, "green_tint", 2))


def timeless(found: list[Region]) -> list[Region]:
    return sorted((replace(region, modified_at="") for region in found), key=lambda region: region.uuid)


def state(project) -> tuple:
    return (
        sorted((replace(tag, modified_at="") for tag in tags(project)), key=lambda tag: tag.uuid),
        timeless(regions(project)),
    )


def test_a_region_comes_back_as_it_was(project, run_id, tag):
    box = add_region(project, "Ann", tag.uuid, BOX)
    triangle = add_region(project, "Ann", tag.uuid, TRIANGLE)
    assert regions(project) == regions(project, run_id) == [box, triangle]
    assert regions(project, run_id + 1) == []
    assert (box.tag_uuid, box.step, box.kind, box.points) == (tag.uuid, 3, "box", ((4, 5), (20, 30)))
    assert triangle.points == TRIANGLE.points
    assert box.uuid != triangle.uuid


def test_a_box_may_be_drawn_from_any_corner(project, tag):
    for points in (((20, 30), (4, 5)), ((4, 30), (20, 5)), ((20, 5), (4, 30))):
        box = add_region(project, "Ann", tag.uuid, NewRegion(3, RegionKind.BOX, points))
        assert box.points == ((4, 5), (20, 30))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"points": ((4, 5), (64.5, 30))}, r"point \(64.5, 30\) is outside the picture of step 3.*64x48"),
        ({"points": ((4, -1), (20, 30))}, r"point \(4, -1\) is outside"),
        ({"points": ((4, 5), (20, float("nan")))}, "nan"),
        ({"points": ((4, 5), (4, 30))}, "box encloses nothing"),
        ({"points": ((4, 5), (20, 30), (3, 3))}, "3 were given"),
        ({"kind": RegionKind.POLYGON}, "polygon has 3 points or more; 2 were given"),
        ({"kind": RegionKind.POLYGON, "points": ((1, 1), (2, 2), (9, 9))}, "on one line"),
        ({"kind": RegionKind.POLYGON, "points": ((1, 1), (1, 1), (1, 1))}, "on one line"),
        ({"kind": "circle"}, "'circle' doesn't exist"),
        ({"step": 11}, "Step 11 of run 1 has no picture"),
        ({"step": -1}, "Step -1"),
    ],
)
def test_a_region_that_cant_be_is_refused(project, tag, change, said):
    with pytest.raises(ProjectError, match=said):
        add_region(project, "Ann", tag.uuid, replace(BOX, **change))
    assert regions(project) == []
    assert len(edits(project)) == 1
    if change.keys() == {"points"}:
        box = add_region(project, "Ann", tag.uuid, BOX)
        with pytest.raises(ProjectError, match=said):
            change_region(project, "Ann", box.uuid, change["points"])
        assert regions(project) == [box]


def test_a_failed_step_cant_be_outlined(project, run_id, tag):
    add_steps(project, [(NewStep(run_id, 11, Outcome.FAILED, reason="refused"), None)])
    with pytest.raises(ProjectError, match="no picture to outline"):
        add_region(project, "Ann", tag.uuid, replace(BOX, step=11))


def test_unknown_tags_and_regions_are_said(project, tag):
    with pytest.raises(ProjectError, match="no tag x"):
        add_region(project, "Ann", "x", BOX)
    with pytest.raises(ProjectError, match="no region x"):
        change_region(project, "Ann", "x", BOX.points)
    with pytest.raises(ProjectError, match="no region x"):
        remove_region(project, "Ann", "x")
    with pytest.raises(ProjectError, match="annotator"):
        add_region(project, " ", tag.uuid, BOX)


def test_regions_hold_until_the_next_outlined_step(project, tag):
    first = add_regions(project, "Ann", tag.uuid, [BOX, replace(BOX, points=((30, 30), (40, 40)))])
    later = add_region(project, "Ann", tag.uuid, replace(BOX, step=6))
    there = regions(project)
    assert regions_at(there, 2) == []
    assert regions_at(there, 3) == regions_at(there, 5) == first
    assert regions_at(there, 6) == regions_at(there, 10) == [later]


def test_copies_can_be_changed_and_leave_the_originals(project, tag):
    box = add_region(project, "Ann", tag.uuid, BOX)
    (copy,) = copy_regions(project, "Ann", tag.uuid, 4)
    assert (copy.step, copy.points) == (4, box.points)
    assert copy_regions(project, "Ann", tag.uuid, 4) == [copy]
    change_region(project, "Ann", copy.uuid, ((0, 0), (9, 9)))
    assert regions_at(regions(project), 3) == [box]
    assert regions_at(regions(project), 4)[0].points == ((0, 0), (9, 9))
    with pytest.raises(ProjectError, match=r"No region .* holds at step 2"):
        copy_regions(project, "Ann", tag.uuid, 2)


def test_no_copy_is_made_where_the_tag_does_not_hold(project, tag):
    add_region(project, "Ann", tag.uuid, BOX)
    change_tag(project, "Ann", tag.uuid, onset=4, end_step=6)
    for step in (3, 7):
        with pytest.raises(ProjectError, match=f"doesn't hold at step {step}"):
            copy_regions(project, "Ann", tag.uuid, step)
    assert [each.step for each in copy_regions(project, "Ann", tag.uuid, 6)] == [6]


def test_copies_follow_a_picture_that_changed_its_size(project, run_id, tag):
    data = b"half the size"
    image = Image("f" * 64, 32, 24, "image/png", len(data))
    add_steps(project, [(NewStep(run_id, 11, Outcome.DONE), NewImage(image, data))])
    add_region(project, "Ann", tag.uuid, BOX)
    assert copy_regions(project, "Ann", tag.uuid, 11)[0].points == ((2, 2.5), (10, 15))


def test_a_change_that_changes_nothing_is_not_logged(project, tag):
    box = add_region(project, "Ann", tag.uuid, BOX)
    log = edits(project)
    assert change_region(project, "Ann", box.uuid, ((20, 30), (4, 5))) == box
    assert add_regions(project, "Ann", tag.uuid, []) == []
    assert edits(project) == log


def test_the_log_tells_only_of_regions_that_an_edit_touched(project, tag):
    one, _ = add_regions(project, "Ann", tag.uuid, [BOX, TRIANGLE])
    change_region(project, "Bob", one.uuid, ((0, 0), (9, 9)))
    last = edits(project)[-1]
    assert (last.annotator, last.action, last.tag_uuid) == ("Bob", "change", tag.uuid)
    assert last.before["regions"].keys() == last.after["regions"].keys() == {one.uuid}
    assert last.after["regions"][one.uuid]["points"] == "[[0.0, 0.0], [9.0, 9.0]]"


def test_undo_of_a_removal_brings_the_regions_back(project, tag):
    add_regions(project, "Ann", tag.uuid, [BOX, TRIANGLE])
    before = state(project)
    remove_tag(project, "Bob", tag.uuid)
    assert state(project) == ([], [])
    undo(project, "Bob")
    assert state(project) == before
    redo(project, "Bob")
    assert state(project) == ([], [])


def test_undo_keeps_what_another_annotator_outlined(project, tag):
    mine = add_region(project, "Ann", tag.uuid, BOX)
    theirs = add_region(project, "Bob", tag.uuid, TRIANGLE)
    undo(project, "Ann")
    assert timeless(regions(project)) == timeless([theirs])
    redo(project, "Ann")
    assert timeless(regions(project)) == timeless([mine, theirs])


@pytest.mark.parametrize("by_other", ["change", "remove"])
def test_undo_never_takes_another_annotators_region(project, tag, by_other):
    box = add_region(project, "Ann", tag.uuid, BOX)
    if by_other == "change":
        change_region(project, "Bob", box.uuid, ((0, 0), (9, 9)))
    else:
        remove_region(project, "Bob", box.uuid)
    before = (state(project), edits(project))
    with pytest.raises(ProjectError, match="another annotator has changed"):
        undo(project, "Ann")
    assert (state(project), edits(project)) == before
    undo(project, "Bob")
    undo(project, "Ann")
    assert regions(project) == []


def test_undo_of_a_new_tag_never_takes_another_annotators_region(project, tag):
    add_region(project, "Bob", tag.uuid, BOX)
    with pytest.raises(ProjectError, match="another annotator has changed"):
        undo(project, "Ann")
    assert len(regions(project)) == 1


ACTIONS = st.lists(
    st.one_of(
        st.just(("add",)),
        st.just(("tag",)),
        st.tuples(st.just("onset"), st.integers(1, 10)),
        st.tuples(st.just("move"), st.integers(0, 9), st.integers(0, 40)),
        st.tuples(st.just("remove"), st.integers(0, 9)),
        st.tuples(st.just("end"), st.integers(0, 9), st.integers(0, 5)),
        st.tuples(st.just("copy"), st.integers(3, 10)),
        st.just(("untag",)),
        st.just(("undo",)),
        st.just(("undo",)),
        st.just(("redo",)),
        st.just(("reopen",)),
    ),
    max_size=30,
)


def act(project, run_id, name, values):
    """Do one edit where it can be done."""
    tagged, drawn = tags(project), regions(project)
    region = drawn[values[0] % len(drawn)] if drawn and values else None
    own = [there for there in drawn if tagged and there.tag_uuid == tagged[0].uuid]
    match name:
        case "tag":
            add_tag(project, "Ann", NewTag(run_id, "green_tint", 2))
        case "add" if tagged:
            add_regions(project, "Ann", tagged[0].uuid, [BOX, TRIANGLE])
        case "onset" if tagged:
            change_tag(project, "Ann", tagged[-1].uuid, onset=values[0])
        case "move" if region:
            points = ((0, 0), (values[1] + 1, 9), (3, 40))
            change_region(project, "Ann", region.uuid, points[: 2 if region.kind == "box" else 3])
        case "end" if region:
            ended = NewRegion(region.step, region.kind, region.points, region.step + values[1])
            edit_regions(project, "Ann", region.tag_uuid, {region.uuid: ended})
        case "remove" if region:
            remove_region(project, "Ann", region.uuid)
        case "copy" if regions_at(own, values[0]) and tagged[0].onset <= values[0]:
            copy_regions(project, "Ann", tagged[0].uuid, values[0])
        case "untag" if tagged:
            remove_tag(project, "Ann", tagged[0].uuid)


@given(ACTIONS)
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_undo_and_redo_of_regions_are_those_of_a_list_of_states(
    tmp_path_factory, new_run, new_image, actions
):
    path = tmp_path_factory.mktemp("undo") / "a.b100"
    project = Project.create(path)
    try:
        run_id = add_run(project, new_run(steps_planned=10))
        add_steps(
            project, [(NewStep(run_id, number, Outcome.DONE), new_image(number)) for number in range(1, 11)]
        )
        history, at = [state(project)], 0
        for name, *values in actions:
            edit_count = len(edits(project))
            match name:
                case "undo":
                    assert (undo(project, "Ann") is None) == (at == 0)
                    at = max(at - 1, 0)
                case "redo":
                    assert (redo(project, "Ann") is None) == (at == len(history) - 1)
                    at = min(at + 1, len(history) - 1)
                case "reopen":
                    project.close()
                    project = Project.open(path)
                case _:
                    act(project, run_id, name, values)
            if name not in {"undo", "redo"} and len(edits(project)) > edit_count:
                history[at + 1 :] = [state(project)]
                at += 1
            assert state(project) == history[at]
    finally:
        project.close()
