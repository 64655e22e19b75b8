"""Summaries that claim success where tags or scores say failure."""

from __future__ import annotations

import pytest

from banana100_core.analysis.contradictions import claims_success, contradictions
from banana100_core.imaging.decode import inspect
from banana100_core.project.images import NewImage
from banana100_core.project.records import NewRun, NewScore, NewStep, NewTag, Outcome, ReviewState
from banana100_core.project.runs import add_run, add_step
from banana100_core.project.scores import add_scores
from banana100_core.project.tags import add_tag, change_tag
from banana100_core.project.verdicts import Verdict

PROUD = (
    "**Planning**\n\nI avoid noise.\n\n**Assessing Quality**\n\nA faithful replica without any visible noise."
)
HUMBLE = "**Planning**\n\nAs before.\n\n**Assessing Quality**\n\nA faithful replica, yet I notice some noise."


@pytest.fixture
def study(project, make_png):
    """Two runs of four steps; the summary of the third step admits noise."""
    for repeat in (1, 2):
        run_id = add_run(project, NewRun("Moss", "gemini", "pro", "replicate", repeat, 4))
        for number in range(1, 5):
            data = make_png(16, 16, seed=10 * repeat + number)
            step = NewStep(run_id, number, Outcome.DONE, reasoning=HUMBLE if number == 3 else PROUD)
            add_step(project, step, NewImage(inspect(data), data=data))
    return project


@pytest.mark.parametrize(
    ("said", "claims"),
    [
        ("The result is identical to the input.", True),
        ("No noise, grain-free, and free of visible artifacts.", True),
        ("There is no noise and it is free from any visible artefacts.", True),
        ("The edit succeeded: eight apples.", True),
        ("The new total is eight apples; the request is completed.", True),
        ("It is exact, but a greenish tint crept in.", False),
        ("The replica is not quite exact.", False),
        ("", False),
    ],
)
def test_words_claim_success_or_admit_a_flaw(said, claims) -> None:
    assert claims_success(said) is claims


def test_a_tag_that_holds_contradicts_a_claim(study) -> None:
    assert contradictions(study) == []
    tag = add_tag(study, "Ann", NewTag(1, "static_noise", 2))
    [found] = contradictions(study)
    assert (found.run.id, found.step, found.steps, found.judged) == (1, 2, (2, 4), False)
    assert found.claim == "A faithful replica without any visible noise."
    assert (found.tags, found.falls) == ((tag,), ())
    change_tag(study, "Ann", tag.uuid, end_step=3)
    assert contradictions(study)[0].steps == (2,)
    change_tag(study, "Ann", tag.uuid, review_state=ReviewState.REJECTED)
    assert contradictions(study) == []


def test_a_tag_about_the_claim_is_no_failure_of_the_picture(study) -> None:
    add_tag(study, "Ann", NewTag(1, "reasoning_claims_success", 1))
    assert contradictions(study) == []


def test_a_score_that_fell_contradicts_it_too_and_a_judge_knows_better_than_words(study, make_png) -> None:
    scores = {1: 0.8, 2: 0.75, 3: 0.6, 4: 0.5}
    add_scores(
        study,
        [
            NewScore(inspect(make_png(16, 16, seed=20 + number)).sha256, "clipiqa", "v1", score)
            for number, score in scores.items()
        ],
    )
    [found] = contradictions(study)
    assert (found.run.id, found.steps) == (2, (4,))
    assert [(fall.metric, round(fall.by)) for fall in found.falls] == [("clipiqa", 30)]
    assert contradictions(study, [1]) == []
    assert contradictions(study, fall=31) == []
    verdicts = [Verdict(2, 3, "judge", "1", admits=False), Verdict(2, 4, "judge", "1", admits=True)]
    [judged] = contradictions(study, verdicts=verdicts)
    assert (judged.steps, judged.judged) == ((3,), True)
