"""Regions of tags that a merge of failure modes joins: at each step those that held there before."""

from __future__ import annotations

import hashlib
from contextlib import contextmanager

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from banana100_core.project import Project
from banana100_core.project.failure_modes import restore_mode
from banana100_core.project.images import NewImage
from banana100_core.project.mode_merging import merge_modes
from banana100_core.project.records import (
    Image,
    NewRegion,
    NewRun,
    NewStep,
    NewTag,
    Outcome,
    RegionKind,
)
from banana100_core.project.regions import add_regions, regions, regions_at, scaled
from banana100_core.project.runs import add_run, add_steps
from banana100_core.project.tags import add_tag, tags, undo

LAST = 8
GONE, KEPT = "green_tint", "static_noise"
SIZES = {
    number: (64 + 64 * (number % 2), 48) for number in range(1, LAST + 1) if number != 4
}  # step 4 failed
BOXES = tuple(((float(place), 4.0), (place + 20.0, 30.0)) for place in range(0, 40, 8))


def picture(number):
    data = f"picture {number} ".encode() * 10
    width, height = SIZES[number]
    return NewImage(Image(hashlib.sha256(data).hexdigest(), width, height, "image/png", len(data)), data)


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    """A run of eight steps whose pictures are wide and narrow in turn, the fourth of which failed."""
    with Project.create(tmp_path_factory.mktemp("joined") / "a.b100") as project:
        run_id = add_run(project, NewRun("Dongpo", "codec_loss", "jpeg", "replicate", steps_planned=LAST))
        add_steps(
            project,
            [
                (
                    NewStep(run_id, number, Outcome.DONE if number in SIZES else Outcome.FAILED),
                    picture(number) if number in SIZES else None,
                )
                for number in range(1, LAST + 1)
            ],
        )
        yield project


@contextmanager
def untagged(study):
    """The study without tags, and without them again."""
    try:
        yield study
    finally:
        restore_mode(study, "Merger", GONE)
        for annotator in ("Merger", "Ann"):
            while undo(study, annotator):
                pass
        assert rows(study) == ([], [])


def holds(tag, step):
    return tag.onset <= step and (tag.end_step is None or step <= tag.end_step)


def seen(project, mode=None):
    """What is outlined at each step, in its picture: by the tags that hold there, and no others."""
    drawn = regions(project)
    found = {}
    for step, size in SIZES.items():
        held = [
            region
            for tag in tags(project)
            if holds(tag, step) and (mode is None or tag.failure_mode == mode)
            for region in regions_at([each for each in drawn if each.tag_uuid == tag.uuid], step)
        ]
        found[step] = {
            tuple((round(x, 6), round(y, 6)) for x, y in scaled(region.points, SIZES[region.step], size))
            for region in held
        }
    return found


def rows(project):
    with project.reading() as connection:
        names = "uuid, tag_uuid, step, end_step, points"
        drawn = connection.execute(f"SELECT {names} FROM region ORDER BY uuid").fetchall()
        there = connection.execute("SELECT uuid, failure_mode, onset, end_step FROM tag ORDER BY uuid")
        return [tuple(row) for row in drawn], [tuple(row) for row in there]


REGIONS = st.lists(
    st.tuples(st.sampled_from(sorted(SIZES)), st.sampled_from(BOXES), st.none() | st.integers(0, 6)),
    max_size=5,
)
TAGS = st.tuples(
    st.sampled_from([GONE, KEPT]), st.integers(1, LAST), st.none() | st.integers(0, LAST - 1), REGIONS
)


@given(st.lists(TAGS, max_size=4))
@example([(KEPT, 1, 4, [(2, BOXES[0], None)]), (GONE, 3, None, [])])  # its own region outlasted its end
@example([(KEPT, 2, 3, [(7, BOXES[0], None)]), (GONE, 3, None, [])])  # outlined where it didn't hold
@example([(KEPT, 2, None, [(2, BOXES[0], None)]), (GONE, 4, 3, [(1, BOXES[1], None)])])  # before its onset
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_merge_changes_at_no_step_what_is_outlined_and_undo_restores_each_row(study, drawn):
    with untagged(study) as project:
        for mode, onset, length, outlined in drawn:
            end = None if length is None else min(onset + length, LAST)
            tag = add_tag(project, "Ann", NewTag(1, mode, onset, end))
            add_regions(
                project,
                "Ann",
                tag.uuid,
                [
                    NewRegion(step, RegionKind.BOX, box, None if ends is None else step + ends)
                    for step, box, ends in outlined
                ],
            )
        before, stored = seen(project), rows(project)
        done = merge_modes(project, "Merger", GONE, KEPT)
        assert seen(project) == seen(project, KEPT) == before
        if 0 < done.joined == len(drawn) - 1:
            (tag,) = tags(project)
            inside = [region for region in regions(project) if holds(tag, region.step)]
            assert all((region.end_step or 0) <= (tag.end_step or 2 * LAST) for region in inside)
        while undo(project, "Merger"):
            pass
        assert rows(project) == stored


def test_a_region_ends_with_the_tag_that_it_was_of(study):
    with untagged(study) as project:
        kept = add_tag(project, "Ann", NewTag(1, KEPT, 1, 3))
        add_tag(project, "Ann", NewTag(1, GONE, 2, 6))
        add_regions(project, "Ann", kept.uuid, [NewRegion(2, RegionKind.BOX, BOXES[0])])
        merge_modes(project, "Merger", GONE, KEPT)
        ((tag,), (region,)) = tags(project), regions(project)
        assert (tag.uuid, tag.onset, tag.end_step) == (kept.uuid, 1, 6)
        assert (region.tag_uuid, region.step, region.end_step) == (kept.uuid, 2, 3)
