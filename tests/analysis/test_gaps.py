"""Gaps against an independent numpy computation, on awkward runs too."""

from __future__ import annotations

import csv
import io
import json
from itertools import pairwise
from xml.etree import ElementTree as ET

import numpy as np
import pytest

from banana100_core.analysis.gap_formats import as_csv, as_json, as_svg
from banana100_core.analysis.gaps import deltas_of, gaps, spread, summarise
from banana100_core.catalog.metrics import metric
from banana100_core.imaging.decode import inspect
from banana100_core.project.images import NewImage
from banana100_core.project.records import NewRun, NewScore, NewStep, Outcome
from banana100_core.project.runs import add_run, add_steps
from banana100_core.project.scores import add_scores, step_scores

METHOD = "native-1"


@pytest.fixture
def scored_run(project, make_png):
    """Add a run whose step i has the given BRISQUE score; None is a failed score, absent is no step."""

    def add(scores: dict[int, float | None], *, name: str = "Dongpo", repeat: int = 1, key: str = "brisque"):
        run_id = add_run(project, NewRun(name, "gemini", "gemini-3-pro-image", "replicate", repeat=repeat))
        steps, rows = [], []
        for number, score in scores.items():
            data = make_png(8, 8, seed=run_id * 1000 + number)
            image = inspect(data)
            outcome = Outcome.INITIAL if number == 0 else Outcome.DONE
            steps.append((NewStep(run_id, number, outcome), NewImage(image, data=data)))
            rows.append(NewScore(image.sha256, key, METHOD, score, None if score is not None else "no score"))
        add_steps(project, steps)
        add_scores(project, rows)
        return run_id

    return add


def independent_gap(scores: dict[int, float | None], step: int, low: float, high: float) -> float | None:
    if scores.get(step) is None or scores.get(1) is None:
        return None
    normalised = (high - np.array([scores[step], scores[1]])) / (high - low) * 100
    return float(np.subtract(*normalised))


def test_the_papers_own_example(scored_run, project):
    """Dongpo: BRISQUE 34.1 at step 0 and -9.8 after 20 steps; range 0 to 150, lower is better."""
    run_id = scored_run({0: 34.1, 1: 34.1, 20: -9.8})
    normalised = {score.step: score.normalised for score in step_scores(project, [run_id])}
    assert normalised[0] == pytest.approx((150 - 34.1) / 150 * 100)
    assert normalised[20] == pytest.approx(106.533, abs=1e-3)  # beyond the typical range, and not clipped
    (gap,) = gaps(project)
    assert gap.deltas == {5: None, 10: None, 20: pytest.approx(43.9 / 150 * 100)}
    assert gap.failures == 1


@pytest.mark.parametrize(
    "scores",
    [
        {step: 34.1 - 0.7 * step for step in range(21)},
        {step: 20 + 9 * np.sin(step) for step in range(101)},
        {1: 30.0, 5: None, 10: 28.0, 20: 33.0},
        {1: None, 5: 30.0, 10: 28.0, 20: 33.0},
        {1: 30.0, 2: 31.0, 5: 29.0, 7: 12.0},
        {0: 30.0, 5: 31.0},
        {1: -3.0, 5: 160.0, 10: -3.0, 20: 151.0},
    ],
    ids=["falling", "hundred", "failed-5", "failed-1", "short", "no-step-1", "out-of-range"],
)
def test_gaps_equal_an_independent_computation(scored_run, project, scores):
    scored_run({step: None if score is None else float(score) for step, score in scores.items()})
    (gap,) = gaps(project)
    expected = {step: independent_gap(scores, step, 0, 150) for step in (5, 10, 20)}
    assert gap.deltas == {
        step: None if value is None else pytest.approx(value) for step, value in expected.items()
    }
    assert gap.failures == sum(value is not None and value > 0 for value in expected.values())


def test_the_view_agrees_with_the_library(scored_run, project):
    scored_run({step: 40.0 - step for step in range(21)})
    scored_run({1: 30.0, 5: None, 10: 28.0}, name="Fog")
    with project.reading() as connection:
        rows = connection.execute("SELECT * FROM score_gaps ORDER BY run_id").fetchall()
    for row, gap in zip(rows, gaps(project), strict=True):
        assert [row[f"delta_{step}"] for step in (5, 10, 20)] == pytest.approx(list(gap.deltas.values()))
        assert row["failures"] == gap.failures


def test_higher_is_better_keeps_its_sign():
    arniqa = metric("arniqa")
    falling = {step: arniqa.normalise(0.7 - 0.01 * step) for step in (1, 5, 10, 20)}
    assert deltas_of(falling) == {5: pytest.approx(-4), 10: pytest.approx(-9), 20: pytest.approx(-19)}


def test_repeats_give_mean_and_sample_deviation(scored_run, project):
    ends = [30.0, 21.0, 36.0, 12.0, 27.0]
    for repeat, end in enumerate(ends, start=1):
        scored_run({1: 33.0, 20: end}, repeat=repeat)
    scored_run({1: 33.0, 20: None}, repeat=6)
    (summary,) = summarise(gaps(project))
    deltas = (33.0 - np.array(ends)) / 150 * 100
    assert summary.deltas[20].mean == pytest.approx(deltas.mean())
    assert summary.deltas[20].sd == pytest.approx(deltas.std(ddof=1))
    assert summary.deltas[20].repeats == 5
    assert summary.deltas[5] is None
    assert summary.failures == 1


def test_a_single_repeat_has_no_deviation():
    assert spread([2.0, None]).sd is None
    assert spread([None, float("nan")]) is None


def test_csv_json_and_svg_tell_the_same(scored_run, project):
    scored_run({1: 30.0, 5: 36.0, 10: 24.0, 20: None}, name='<Fog & "mist">')
    found = gaps(project)
    (row,) = csv.DictReader(io.StringIO(as_csv(found)))
    assert float(row["delta_5"]) == pytest.approx(-4)
    assert row["delta_20"] == ""
    parsed = json.loads(as_json(found))
    assert parsed["gaps"][0]["delta_10"] == pytest.approx(4)
    assert parsed["summaries"][0]["delta_10"]["sd"] is None
    texts = [element.text for element in ET.fromstring(as_svg(found)).iter() if element.text]
    assert {'<Fog & "mist">', "-4.0", "+4.0", "–", "1", "BRISQUE"} <= set(texts)


def test_long_names_have_room_in_the_svg(scored_run, project):
    name = "An initial image of a name that goes on and on and on"
    scored_run({1: 30.0, 5: 36.0}, name=name)
    labels = [each for each in ET.fromstring(as_svg(gaps(project))).iter() if each.text == name]
    assert len(labels) == 4
    ends = [float(each.get("x")) for each in labels]
    least = 6 * len(name)
    assert ends[0] > least
    assert all(later - earlier > least + 44 for earlier, later in pairwise(ends))
