"""What the list of runs tells of each run beside its counts."""

from __future__ import annotations

import pytest

from banana100_core.project import Project
from banana100_core.project.records import NewRun, NewScore, NewTag, ReviewState
from banana100_core.project.reviews import accept_run, mark_run
from banana100_core.project.run_facts import (
    RunFacts,
    missing_scores,
    run_curves,
    run_facts,
    scores_by_metric,
)
from banana100_core.project.runs import add_run, steps
from banana100_core.project.scores import add_scores, step_scores
from banana100_core.project.tags import add_tag


@pytest.fixture
def project(tmp_path):
    with Project.create(tmp_path / "study.b100") as project:
        yield project


def _hash(project, run_id: int, number: int) -> str:
    return next(step.image.sha256 for step in steps(project, run_id) if step.number == number)


def test_sizes_tags_and_annotators_of_each_run(project, add_study):
    first, second = add_study(project, count=3), add_study(project, count=3, repeat=2)
    empty = add_run(project, _empty_run())
    add_tag(project, "Grace", NewTag(first, "wrinkles", onset=2, review_state=ReviewState.DONE))
    add_tag(project, "Ada", NewTag(first, "wrinkles", onset=1))
    facts = run_facts(project)
    assert facts[first].sizes == facts[second].sizes == ((64, 48),)
    assert facts[first].failure_modes == ("wrinkles",)
    assert facts[first].annotators == ("Ada", "Grace")
    assert facts[first].reviews == {ReviewState.DONE, ReviewState.DRAFT}
    assert facts[second].annotators == ()
    assert empty not in facts


def test_the_last_word_on_each_annotators_work(project, add_study):
    first, second = add_study(project, count=1), add_study(project, count=1, repeat=2)
    mark_run(project, "Ben", first, ReviewState.DONE)
    mark_run(project, "Ada", first, ReviewState.DONE)
    accept_run(project, "Ada", first, "Ben")
    facts = run_facts(project)
    assert facts[first].said == (("Ada", ReviewState.DONE), ("Ben", ReviewState.ACCEPTED))
    assert facts[second].said == ()


def _empty_run() -> NewRun:
    return NewRun("Fog", "codec_loss", "jpeg", "replicate")


def test_the_latest_scores_are_those_of_the_last_scored_step(project, add_study):
    run_id = add_study(project, count=4)
    assert run_facts(project)[run_id].scores == {"brisque": 26.0, "niqe": 26.0}
    last = _hash(project, run_id, 4)
    project.write(lambda database: database.execute("DELETE FROM score WHERE image_sha256 = ?", [last]))
    assert run_facts(project)[run_id].scores == {"brisque": 27.0, "niqe": 27.0}


def test_curves_are_the_normalised_scores_in_order_of_steps(project, add_study):
    first, second, third = (add_study(project, count=12, repeat=repeat) for repeat in (1, 2, 3))
    expected = {
        run_id: [(row.step, row.normalised) for row in step_scores(project, [run_id], ["niqe"])]
        for run_id in (first, third)
    }
    assert len(expected[first]) == 13
    assert run_curves(project, [first, third], "niqe") == expected
    assert run_curves(project, [second], "piqe") == {}


def test_a_curve_takes_the_later_of_two_scores_and_leaves_failed_ones_out(project, add_study):
    run_id = add_study(project, count=3)
    before = dict(run_curves(project, [run_id], "niqe")[run_id])
    later, failed = _hash(project, run_id, 2), _hash(project, run_id, 3)
    add_scores(project, [NewScore(later, "niqe", "another", 4.0)])
    sql = "UPDATE score SET created_at = '2999-01-01' WHERE method_version = 'another'"
    project.write(lambda database: database.execute(sql))
    project.write(lambda database: database.execute("DELETE FROM score WHERE image_sha256 = ?", [failed]))
    add_scores(project, [NewScore(failed, "niqe", "1", None, "too small")])
    ((_id, curve),) = run_curves(project, [run_id], "niqe").items()
    assert [step for step, _value in curve] == [0, 1, 2]
    assert curve[:2] == [(0, before[0]), (1, before[1])]
    assert curve[2][1] != before[2]
    (row,) = (row for row in step_scores(project, [run_id]) if row.method_version == "another")
    assert curve[2][1] == row.normalised
    assert scores_by_metric(project, run_id) == {"brisque": 3, "niqe": 4}


def test_missing_scores_are_counted_by_the_metrics_that_the_project_uses(project, add_study):
    first, second = add_study(project, count=3), add_study(project, count=3, repeat=2)
    assert missing_scores(project) == {}
    add_scores(project, [NewScore(_hash(project, first, number), "piqe", "1", 30.0) for number in range(4)])
    assert missing_scores(project) == {second: 4}
    failed = [
        NewScore(_hash(project, second, number), "piqe", "1", None, "too small") for number in range(1, 4)
    ]
    add_scores(project, failed)
    assert missing_scores(project) == {second: 1}


def test_one_metric_in_two_versions_counts_once(project, add_study):
    run_id = add_study(project, count=3)
    add_scores(project, [NewScore(_hash(project, run_id, 1), "niqe", "another", 4.0)])
    assert missing_scores(project) == {}


def test_a_project_without_scores_lacks_none(project):
    add_run(project, _empty_run())
    assert missing_scores(project) == {}
    assert run_facts(project).get(1, RunFacts()) == RunFacts()
