"""Steps as runs have them, of a real project; some runs lack steps that were asked for."""

from __future__ import annotations

import pytest

from app.stepping import StepWishes, beside, nearest
from banana100_core.project import Project
from banana100_core.project.runs import steps


@pytest.fixture
def runs(tmp_path, fill):
    """The steps 0 to 4 of one run, and those 0 to 2 of another."""
    with Project.create(tmp_path / "study.b100") as project:
        longer = fill(project, images=1, repeats=1, steps=4)
        shorter = fill(project, images=1, repeats=1, steps=2)
        yield steps(project, longer[0]), steps(project, shorter[0])


def test_the_nearest_step_is_found_where_steps_are_missing(runs):
    longer, shorter = runs
    with_a_gap = [step for step in longer if step.number != 2]
    assert [nearest(with_a_gap, number) for number in (-1, 2, 3, 99)] == [0, 1, 3, 4]
    assert nearest(shorter, 4) == 2


def test_the_step_beside_another_leaves_gaps_out_and_stays_within_the_run(runs):
    with_a_gap = [step for step in runs[0] if step.number != 2]
    assert beside(with_a_gap, 1, 1) == 3
    assert beside(with_a_gap, 3, -1) == 1
    assert (beside(with_a_gap, 4, 1), beside(with_a_gap, 0, -1)) == (4, 0)
    assert beside(with_a_gap, 2, 1) == 2


def test_what_was_asked_for_outlasts_a_run_that_lacks_it(runs):
    longer, shorter = runs
    wishes = StepWishes()
    assert wishes.settle(longer) == (4, 1)
    assert (wishes.ask(longer, 3, growing=False), wishes.ask_reference(longer, 4)) == (3, 4)
    assert wishes.settle(shorter) == (2, 2)
    assert wishes.settle([]) == (0, 0)
    assert wishes.settle(longer) == (3, 4)


def test_the_last_step_of_a_growing_run_is_followed(runs):
    longer, shorter = runs
    wishes = StepWishes()
    wishes.ask(shorter, 2, growing=True)
    assert wishes.settle(longer) == (4, 1)
    wishes.ask(shorter, 2, growing=False)
    assert wishes.settle(longer) == (2, 1)
