"""Initial images from prompts: made once, paid once, kept as step 0 with their prompt."""

from __future__ import annotations

import pytest

from banana100_core.catalog.faults import Fault
from banana100_core.catalog.settings import RunSettings
from banana100_core.errors import ProjectError, ProviderError
from banana100_core.generation.executor import Executor
from banana100_core.generation.limits import Limits
from banana100_core.generation.plan import add_plan, make_plan
from banana100_core.project.check import check
from banana100_core.project.images import initial_images
from banana100_core.project.records import Outcome, RunState
from banana100_core.project.runs import run_costs, runs, set_run_state, steps

PRO = ("gemini", "gemini-3-pro-image")
PROMPT = "A misty forest at dawn"


def planned(project, repeats=3, steps=2, prompt=PROMPT, **options):
    plan = make_plan([], "replicate", *PRO, steps, repeats, 7, from_text={"Fog": prompt}, **options)
    return plan, add_plan(project, plan)


def work_off(project, run_ids=None):
    executor = Executor(project, limits=Limits(first_delay=0.01))
    executor.start(run_ids)
    assert executor.wait(60)
    executor.close()


def test_the_plan_counts_it_once(project) -> None:
    plan, run_ids = planned(project)
    assert (plan.calls, plan.initial_prompts()) == (7, {"Fog": PROMPT})
    assert plan.cost_usd[0] == pytest.approx(7 * 0.134)
    assert [len(steps(project, run_id)) for run_id in run_ids] == [0, 0, 0]
    assert runs(project)[0].initial_sha256 is None


def test_one_run_makes_it_and_all_start_from_it(project, fake) -> None:
    server = fake()
    server.keep_bodies = True
    _, run_ids = planned(project, settings=RunSettings(resolution="2K", temperature=0.0))
    work_off(project)
    assert [run.state for run in runs(project)] == [RunState.DONE] * 3
    [initial] = initial_images(project)
    assert (initial.name, initial.image.width) == ("Fog", 512)
    firsts = [steps(project, run_id)[0] for run_id in run_ids]
    assert {first.image.sha256 for first in firsts} == {initial.image.sha256}
    for first in firsts:
        assert (first.number, first.outcome, first.prompt) == (0, Outcome.INITIAL, PROMPT)
        assert first.reasoning.startswith("**Analyzing")
        assert first.settings["resolution"] == "2K"
        assert "the prompt alone" in first.settings["notes"][0]
    # Paid once, in the run that made it.
    assert sorted(first.cost_usd is not None for first in firsts) == [False, False, True]
    assert server.accepted == 7 == sum(cost.calls for cost in run_costs(project))
    made = [body for body in server.bodies if "nline" not in str(body["contents"])]
    assert [body["contents"][0]["parts"] for body in made] == [[{"text": PROMPT}]]
    # Later plans start from it as from any other, and remember the prompt.
    later = add_plan(project, make_plan(["Fog"], "mirror", *PRO, 1, 1, 1))
    assert steps(project, later[0])[0].prompt == PROMPT
    assert check(project.path) == []


def test_once_stored_it_is_never_asked_for_again(project, fake) -> None:
    server = fake()
    _, run_ids = planned(project, repeats=2)
    executor = Executor(project, limits=Limits(first_delay=0.01), at_services=1)
    executor.subscribe(lambda progress: progress.step == 0 and executor.cancel())
    executor.start()
    assert executor.wait(60)
    executor.close()
    assert server.accepted == 1
    assert [len(steps(project, run_id)) for run_id in run_ids] == [1, 0]
    work_off(project, run_ids)
    assert server.accepted == 5
    assert [run.state for run in runs(project)] == [RunState.DONE] * 2


def test_a_refusal_stops_all_of_its_runs_after_the_tries_of_one(project, fake) -> None:
    server = fake(Fault.SAFETY)
    server.strikes = lambda model, edit: (setattr(server, "accepted", server.accepted + 1), Fault.SAFETY)[1]
    _, run_ids = planned(project)
    work_off(project)
    assert server.accepted == 3
    stopped = runs(project)
    assert [run.state for run in stopped] == [RunState.STOPPED] * 3
    assert sum("Step 0: It failed 3 times" in run.state_reason for run in stopped) == 1
    assert sum("could not be made. It failed 3 times" in run.state_reason for run in stopped) == 2
    assert [step.outcome for run in stopped for step in steps(project, run.id)] == [Outcome.FAILED]
    del server.strikes
    server.faults = ()
    work_off(project, run_ids)
    assert [run.state for run in runs(project)] == [RunState.DONE] * 3
    assert all(steps(project, run_id)[0].outcome is Outcome.INITIAL for run_id in run_ids)
    assert server.accepted == 10 == sum(cost.calls for cost in run_costs(project))


def test_what_can_not_be_made_is_said(project) -> None:
    with pytest.raises(ProviderError, match="makes no picture from a prompt"):
        make_plan([], "replicate", "codec_loss", "jpeg-webp", 1, 1, 1, from_text={"Fog": PROMPT})
    planned(project)
    for run in runs(project):
        set_run_state(project, run.id, RunState.CANCELLED)
    plan = make_plan([], "replicate", *PRO, 1, 1, 1, from_text={"Fog": PROMPT})
    add_plan(project, plan)  # none of that name was made yet


def test_a_name_that_is_taken_is_refused(project, fake) -> None:
    fake()
    planned(project, repeats=1, steps=1)
    work_off(project)
    with pytest.raises(ProjectError, match="has an initial image named 'Fog'"):
        planned(project)
