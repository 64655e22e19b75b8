"""Agreement of annotators: coefficients against published examples, the rest against sums done by hand."""

from __future__ import annotations

import csv
import io
from dataclasses import replace

import pytest

from banana100_core.analysis.agreement import NOTHING, agreement
from banana100_core.analysis.agreement_formats import Part, as_csv
from banana100_core.analysis.reliability import cohen_kappa, kappas_of, krippendorff_alpha
from banana100_core.imaging.decode import inspect
from banana100_core.project.images import NewImage
from banana100_core.project.records import (
    NewRegion,
    NewRun,
    NewStep,
    NewTag,
    Outcome,
    RegionKind,
    ReviewState,
)
from banana100_core.project.regions import add_region
from banana100_core.project.reviews import mark_run
from banana100_core.project.runs import add_run, add_steps
from banana100_core.project.tags import add_tag


def units_of(**rows: str) -> list[dict[str, int]]:
    """Units from a row of digits for each annotator, a dot where there is none."""
    return [
        {name: int(values[place]) for name, values in rows.items() if values[place] != "."}
        for place in range(len(next(iter(rows.values()))))
    ]


def test_alpha_is_that_of_krippendorffs_own_examples():
    """Krippendorff (2011), Computing Krippendorff's alpha-reliability: B, binary data; C, nominal data."""
    binary = units_of(meg="0100000010", owen="1110010000")
    assert krippendorff_alpha(binary) == pytest.approx(0.095, abs=5e-4)
    nominal = units_of(a="123321412...", b="1233224125.3", c=".3332342251.", d="12332441251.")
    assert krippendorff_alpha(nominal) == pytest.approx(0.743, abs=5e-4)


@pytest.mark.parametrize(
    ("yes_yes", "yes_no", "no_yes", "no_no", "kappa"),
    [
        (15, 5, 10, 70, 0.57),  # Viera and Garrett (2005), Understanding interobserver agreement
        (20, 5, 10, 15, 0.40),  # the usual textbook example of grant proposals
        (25, 0, 0, 25, 1.0),
        (0, 25, 25, 0, -1.0),
    ],
)
def test_kappa_is_that_of_published_examples(yes_yes, yes_no, no_yes, no_no, kappa):
    pairs = [(1, 1)] * yes_yes + [(1, 0)] * yes_no + [(0, 1)] * no_yes + [(0, 0)] * no_no
    assert cohen_kappa(pairs) == pytest.approx(kappa, abs=5e-3)


def test_coefficients_that_are_not_defined_are_none():
    assert krippendorff_alpha([]) is None
    assert krippendorff_alpha([{"a": 1}, {"b": 0}]) is None
    assert krippendorff_alpha(units_of(a="1111", b="1111")) is None
    assert cohen_kappa([(1, 1)] * 5) is None
    assert kappas_of([{"a": 1}, {"b": 0}]) == ()


@pytest.fixture
def add_tagged(project, make_png):
    """Adds a run of ten steps, the first three with pictures, and tags by annotator: (mode, onset, end)."""

    def add(**by_annotator) -> int:
        run_id = add_run(project, NewRun("Dongpo", "codec_loss", "jpeg", "replicate", steps_planned=10))
        for number in (1, 2, 3):
            data = make_png(seed=number)
            add_steps(project, [(NewStep(run_id, number, Outcome.DONE), NewImage(inspect(data), data))])
        for annotator, claims in by_annotator.items():
            for claim in claims:
                add_tag(project, annotator, NewTag(run_id, *claim))
        return run_id

    return add


def figures(found, key):
    return next(row for row in (*found.modes, *found.levels) if row.key == key)


def test_a_project_of_one_annotator_has_nothing_to_agree_on(project, add_tagged):
    add_tagged(Ann=[("green_tint", 2)])
    found = agreement(project)
    assert (found.annotators, found.shared_runs, found.modes, found.by_run) == ((), 0, (), ())


def test_presence_and_extent(project, add_tagged):
    add_tagged(Ann=[("green_tint", 3)], Bob=[("green_tint", 5)])
    add_tagged(Ann=[("green_tint", 1, 2), ("wrinkles", 4)], Bob=[("wrinkles", 4)])
    add_tagged(Ann=[("wrinkles", 4)], Bob=[("wrinkles", 6, 8)])
    found = agreement(project)
    assert (found.annotators, found.shared_runs) == (("Ann", "Bob"), 3)
    green = figures(found, "green_tint")
    assert (green.name, green.level, green.runs) == ("Green tint", "image", 2)
    # Ann saw it in runs 1 and 2, Bob in run 1: agreement by chance is 2/3 * 1/3 + 1/3 * 2/3.
    assert green.kappas[0].kappa == pytest.approx((2 / 3 - 4 / 9) / (1 - 4 / 9))
    assert green.alpha_presence == pytest.approx(krippendorff_alpha(units_of(a="110", b="100")))
    ann, bob = "0011111111" + "1100000000" + "0" * 10, "0000111111" + "0" * 20
    assert green.alpha_extent == pytest.approx(krippendorff_alpha(units_of(a=ann, b=bob)))
    level = figures(found, "image")
    assert level.runs == 3
    assert level.alpha_presence == pytest.approx(krippendorff_alpha(units_of(a="110011", b="100011")))


def test_onsets_apart(project, add_tagged):
    add_tagged(Ann=[("green_tint", 3), ("green_tint", 8)], Bob=[("green_tint", 5)])
    add_tagged(Ann=[("green_tint", 3)], Bob=[("green_tint", 3)], Carol=[("green_tint", 4)])
    add_tagged(Ann=[("green_tint", 3)], Bob=[("wrinkles", 1)])
    onset = figures(agreement(project), "green_tint").onset
    assert (onset.count, onset.mean, onset.median) == (4, 1.0, 1.0)
    assert onset.within == {0: 0.25, 1: 0.75, 2: 1.0}
    assert figures(agreement(project), "wrinkles").onset is None


def test_regions_overlap_at_steps_where_both_hold(project, add_tagged):
    run_id = add_tagged()
    ann = add_tag(project, "Ann", NewTag(run_id, "green_tint", 1, 2))
    bob = add_tag(project, "Bob", NewTag(run_id, "green_tint", 1))
    add_region(project, "Ann", ann.uuid, NewRegion(1, RegionKind.BOX, ((0, 0), (20, 20))))
    add_region(
        project, "Bob", bob.uuid, NewRegion(2, RegionKind.POLYGON, ((10, 0), (30, 0), (30, 20), (10, 20)))
    )
    overlap = figures(agreement(project), "green_tint").overlap
    # Ann's holds at 1 and 2, Bob's from 2 on: 10x20 of 30x20 at step 2 alone.
    assert (overlap.count, overlap.mean) == (1, pytest.approx(1 / 3))
    assert figures(agreement(project), "image").overlap == overlap


def test_a_region_that_has_ended_is_compared_no_more(project, add_tagged):
    run_id = add_tagged()
    box = NewRegion(1, RegionKind.BOX, ((0, 0), (20, 20)))
    for annotator, end in (("Ann", None), ("Bob", 2)):
        tag = add_tag(project, annotator, NewTag(run_id, "green_tint", 1))
        add_region(project, annotator, tag.uuid, replace(box, end_step=end))
    assert figures(agreement(project), "green_tint").overlap.count == 2  # steps 1 and 2 of 3


def test_regions_that_overlap_themselves_are_counted_once(project, add_tagged):
    run_id = add_tagged()
    ann = add_tag(project, "Ann", NewTag(run_id, "green_tint", 3))
    bob = add_tag(project, "Bob", NewTag(run_id, "green_tint", 3))
    for corner in (20, 10):
        add_region(project, "Ann", ann.uuid, NewRegion(3, RegionKind.BOX, ((0, 0), (corner, corner))))
    crossing = ((0, 0), (20, 20), (20, 0), (0, 20))
    add_region(project, "Bob", bob.uuid, NewRegion(3, RegionKind.POLYGON, crossing))
    assert figures(agreement(project), "green_tint").overlap.mean == pytest.approx(0.5)


def test_confusion_pairs_what_only_one_saw_with_what_only_the_other_saw(project, add_tagged):
    add_tagged(Ann=[("green_tint", 3), ("texture_loss", 1)], Bob=[("static_noise", 3), ("texture_loss", 1)])
    add_tagged(Ann=[("static_noise", 3)], Bob=[("green_tint", 3)])
    add_tagged(Ann=[("wrinkles", 3), ("texture_loss", 3)], Bob=[("texture_loss", 3)])
    found = {(cell.one, cell.other): cell.runs for cell in agreement(project).confusion}
    assert found == {
        ("texture_loss", "texture_loss"): 2,
        ("green_tint", "static_noise"): 2,
        (NOTHING, "wrinkles"): 1,
    }


def test_runs_come_by_disagreement(project, add_tagged):
    same = add_tagged(Ann=[("green_tint", 3)], Bob=[("green_tint", 3)])
    apart = add_tagged(Ann=[("green_tint", 3)], Bob=[("wrinkles", 3)])
    half = add_tagged(Ann=[("green_tint", 1)], Bob=[("green_tint", 6)])
    found = agreement(project)
    assert [(run.run_id, run.disagreement) for run in found.by_run] == [(apart, 1), (half, 0.5), (same, 0)]
    assert [run.run_id for run in agreement(project, [same, half]).by_run] == [half, same]


def test_who_is_done_with_a_run_and_tagged_nothing_there_counts(project, add_tagged):
    seen = add_tagged(Ann=[("green_tint", 3)])
    clean = add_tagged()
    for annotator in ("Ann", "Bob"):
        mark_run(project, annotator, clean, ReviewState.DONE)
    mark_run(project, "Bob", seen, ReviewState.DONE)
    mark_run(project, "Carol", seen, ReviewState.DRAFT)
    found = agreement(project)
    assert (found.annotators, found.shared_runs) == (("Ann", "Bob"), 2)
    green = figures(found, "green_tint")
    assert green.kappas[0].kappa == 0
    assert [(run.run_id, run.disagreement, run.first_step) for run in found.by_run] == [
        (seen, 1, 3),
        (clean, 0, None),
    ]


def test_the_confusion_of_a_pair_says_who_saw_what(project, add_tagged):
    add_tagged(Ann=[("green_tint", 3), ("texture_loss", 1)], Bob=[("static_noise", 3), ("texture_loss", 1)])
    add_tagged(Bob=[("green_tint", 3)], Ann=[("static_noise", 3)], Carol=[("green_tint", 3)])
    ann_bob, ann_carol, bob_carol = agreement(project).pairs
    assert (ann_bob.one, ann_bob.other, ann_bob.runs) == ("Ann", "Bob", 2)
    assert ann_bob.modes == ("green_tint", "static_noise", "texture_loss")
    assert ann_bob.count("green_tint", "static_noise") == 1
    assert ann_bob.count("static_noise", "green_tint") == 1
    assert ann_bob.count("texture_loss", "texture_loss") == 1
    assert ann_bob.count("texture_loss", NOTHING) == 0
    assert (ann_carol.runs, bob_carol.count("green_tint", "green_tint")) == (1, 1)


def test_csv_has_every_figure_and_nothing_where_there_is_none(project, add_tagged):
    add_tagged(Ann=[("green_tint", 3)], Bob=[("green_tint", 6)])
    add_tagged(Ann=[("green_tint", 3)], Bob=[("wrinkles", 2)])
    found = agreement(project)
    green, wrinkles, level = csv.DictReader(io.StringIO(as_csv(found, within=(2, 3))))
    assert (green["runs"], green["onset_mean"], green["onset_within_2"], green["onset_within_3"]) == (
        *("2", "3.0", "0.0"),
        "1.0",
    )
    assert (wrinkles["onset_mean"], wrinkles["onset_pairs"], level["name"]) == ("", "0", "image")
    assert float(green["alpha_extent"]) == pytest.approx(figures(found, "green_tint").alpha_extent)
    cells = list(csv.DictReader(io.StringIO(as_csv(found, Part.CONFUSION))))
    assert {(cell["failure_mode"], cell["other_failure_mode"], cell["runs"]) for cell in cells} == {
        ("green_tint", "green_tint", "1"),
        ("green_tint", "wrinkles", "1"),
    }
