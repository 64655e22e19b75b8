"""Scores by image content and method; normalised scores and gaps in the views."""

from __future__ import annotations

import math

import pytest

from banana100_core.catalog.metrics import metrics
from banana100_core.errors import ProjectError
from banana100_core.project.records import NewScore, NewStep, Outcome
from banana100_core.project.runs import add_run, add_step, steps
from banana100_core.project.scores import (
    add_scores,
    forget_failed,
    replies,
    scored,
    step_scores,
    unscored_images,
)


@pytest.fixture
def run_id(project, new_run, new_image):
    """A run of 20 steps, not scored."""
    run_id = add_run(project, new_run())
    for number in range(21):
        outcome = Outcome.DONE if number else Outcome.INITIAL
        add_step(project, NewStep(run_id, number, outcome), new_image(number))
    return run_id


@pytest.fixture
def score(project, run_id):
    """Scores steps of the run, by number."""
    images = [step.image.sha256 for step in steps(project, run_id)]

    def add(metric: str, values: dict[int, float | None], version: str = "v1") -> None:
        add_scores(
            project,
            [
                NewScore(images[number], metric, version, value, None if value is not None else "too small")
                for number, value in values.items()
            ],
        )

    return add


def rows(project, view: str, columns: str = "*") -> list[dict]:
    with project.reading() as connection:
        return [dict(row) for row in connection.execute(f"SELECT {columns} FROM {view}")]


@pytest.mark.parametrize("metric", metrics())
def test_the_file_normalises_as_the_catalog_does(project, score, metric):
    values = {number: -40.0 + 7.3 * number for number in range(21)}
    score(metric, values)
    found = {row.step: row.normalised for row in step_scores(project)}
    assert found == pytest.approx({n: metrics()[metric].normalise(value) for n, value in values.items()})
    in_view = {row["step"]: row["normalised"] for row in rows(project, "step_scores")}
    assert in_view == pytest.approx(found)


def test_a_score_outside_the_typical_range_is_never_clipped(project, score):
    score("brisque", {1: 34.1, 20: -9.8})  # the paper's own example
    assert [row.normalised for row in step_scores(project)] == pytest.approx([77.2667, 106.5333], abs=1e-3)


def test_gaps_are_taken_against_step_1_and_failures_are_positive_ones(project, score):
    score("brisque", {0: 150.0, 1: 34.1, 5: 30.0, 10: 40.0, 20: -9.8})
    score("niqe", {1: 5.0, 5: 6.0, 10: 7.0, 20: 5.0})
    brisque, niqe = rows(project, "score_gaps")
    assert (brisque["metric"], brisque["failures"]) == ("brisque", 2)
    assert brisque["delta_5"] == pytest.approx((34.1 - 30.0) / 1.5)
    assert brisque["delta_10"] == pytest.approx((34.1 - 40.0) / 1.5)
    assert brisque["delta_20"] == pytest.approx((34.1 + 9.8) / 1.5)
    assert (niqe["metric"], niqe["failures"], niqe["delta_20"]) == ("niqe", 0, 0.0)


def test_a_gap_of_what_isnt_scored_is_unknown_and_no_failure(project, score):
    score("brisque", {1: 34.1, 5: 30.0, 10: None})
    score("niqe", {5: 3.0, 10: 2.0})
    brisque, niqe = rows(project, "score_gaps")
    assert (brisque["delta_10"], brisque["delta_20"], brisque["failures"]) == (None, None, 1)
    assert (niqe["delta_5"], niqe["failures"]) == (None, 0)


def test_methods_are_never_mixed(project, score):
    score("brisque", {1: 34.1, 5: 30.0}, "v1")
    score("brisque", {1: 20.0, 5: 30.0}, "v2")
    gaps = {row["method_version"]: row["delta_5"] > 0 for row in rows(project, "score_gaps")}
    assert gaps == {"v1": True, "v2": False}


def test_views_have_the_columns_they_are_known_by(project):
    columns = {
        "step_scores": "run_id, initial_image, model, protocol, repeat, step, metric, method_version, score,"
        " normalised",
        "score_gaps": "run_id, initial_image, model, protocol, repeat, metric, method_version, delta_5,"
        " delta_10, delta_20, failures",
        "tag_onsets": "run_id, initial_image, model, protocol, repeat, failure_mode, level, annotator, onset,"
        " end_step, severity, review_state",
        "run_costs": "run_id, model, protocol, steps_done, steps_planned, calls, failed_calls, input_tokens,"
        " output_tokens, cost_usd, seconds",
    }
    with project.reading() as connection:
        for view, names in columns.items():
            cursor = connection.execute(f"SELECT * FROM {view}")
            assert [column[0] for column in cursor.description] == names.split(", ")


def test_equal_pictures_share_a_score(project, run_id, score, new_run, new_image):
    other = add_run(project, new_run(repeat=2))
    add_step(project, NewStep(other, 1, Outcome.DONE), new_image(7))
    score("niqe", {7: 4.0})
    assert [(row.run_id, row.step) for row in step_scores(project)] == [(run_id, 7), (other, 1)]


def test_scores_are_asked_for_by_run_and_metric(project, run_id, score, new_run, new_image):
    other = add_run(project, new_run())
    add_step(project, NewStep(other, 1, Outcome.DONE), new_image(1))
    score("niqe", {1: 4.0, 2: 4.0})
    score("brisque", {1: 4.0})
    assert {(row.run_id, row.metric) for row in step_scores(project, [other])} == {
        (other, "niqe"),
        (other, "brisque"),
    }
    assert {row.metric for row in step_scores(project, metrics=["niqe"])} == {"niqe"}
    assert len(step_scores(project, [run_id], ["niqe"])) == 2
    assert step_scores(project, []) == []


def test_a_failure_is_a_row_with_its_reason(project, score):
    score("liqe", {3: None})
    (row,) = step_scores(project)
    assert (row.score, row.normalised, row.error) == (None, None, "too small")


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_a_number_that_is_none_is_a_failure(project, score, value):
    score("niqe", {1: value})
    (row,) = step_scores(project)
    assert row.score is None
    assert str(value) in row.error


def test_the_same_score_again_is_one_score_and_a_failure_never_removes_one(project, score):
    score("niqe", {1: None})
    score("niqe", {1: 4.0})
    assert [row.score for row in step_scores(project)] == [4.0]
    score("niqe", {1: None})
    assert [(row.score, row.error) for row in step_scores(project)] == [(4.0, None)]


def test_failures_are_forgotten_on_request(project, score):
    score("niqe", {1: None, 2: 4.0})
    score("brisque", {1: None})
    assert forget_failed(project, "brisque") == 1
    assert forget_failed(project) == 1
    assert forget_failed(project) == 0
    assert [row.score for row in step_scores(project)] == [4.0]


def test_what_is_scored_and_what_is_not(project, run_id, score):
    images = [step.image.sha256 for step in steps(project, run_id)]
    score("niqe", dict.fromkeys(range(19), 4.0) | {19: None})
    score("niqe", dict.fromkeys(range(21), 4.0), "other version")
    score("piqe", dict.fromkeys(range(21), 4.0))
    score("brisque", dict.fromkeys(range(1, 21), 4.0))
    assert scored(project, "niqe", "v1") == set(images[:20])
    methods = {"piqe": "v1", "niqe": "v1", "brisque": "v1"}
    assert unscored_images(project, methods) == [(images[0], ("brisque",)), (images[20], ("niqe",))]
    assert unscored_images(project, methods, [run_id]) == unscored_images(project, methods)
    assert unscored_images(project, methods, []) == []
    assert unscored_images(project, {}) == []
    assert [metrics for _, metrics in unscored_images(project, {"liqe": "v", "musiq": "v"})] == [
        ("liqe", "musiq")
    ] * 21


def test_unknown_images_and_metrics_are_said_and_nothing_is_kept(project, run_id):
    image = steps(project, run_id)[1].image.sha256
    with pytest.raises(ProjectError, match="no image ffff"):
        add_scores(project, [NewScore(image, "niqe", "v1", 1.0), NewScore("f" * 64, "niqe", "v1", 1.0)])
    with pytest.raises(ProjectError, match="no metric sharpness"):
        add_scores(project, [NewScore(image, "niqe", "v1", 1.0), NewScore(image, "sharpness", "v1", 1.0)])
    add_scores(project, [])
    assert step_scores(project) == []


def test_replies_stay_with_their_score(project, run_id):
    image = steps(project, run_id)[3].image.sha256
    spoken = ("<answer>0.87</answer>", "<think>worn</think><answer>1.2</answer>")
    add_scores(project, [NewScore(image, "visualquality_r1", "v1", 1.035, replies=spoken)])
    assert replies(project, image, "visualquality_r1", "v1") == list(spoken)
    add_scores(project, [NewScore(image, "visualquality_r1", "v1", None, "no answer", replies=("hm",))])
    assert replies(project, image, "visualquality_r1", "v1") == list(spoken)
    add_scores(project, [NewScore(image, "visualquality_r1", "v1", 2.0, replies=("<answer>2</answer>",))])
    assert replies(project, image, "visualquality_r1", "v1") == ["<answer>2</answer>"]


def test_a_failure_keeps_the_reply_that_made_it_one_until_it_is_forgotten(project, run_id):
    image = steps(project, run_id)[3].image.sha256
    add_scores(project, [NewScore(image, "visualquality_r1", "v1", None, "no answer", replies=("hm",))])
    assert replies(project, image, "visualquality_r1", "v1") == ["hm"]
    forget_failed(project)
    assert replies(project, image, "visualquality_r1", "v1") == []
