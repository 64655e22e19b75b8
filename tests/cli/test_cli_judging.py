"""`judge` against the stand-in: yes or no for each reasoning summary, kept, and asked for once."""

from __future__ import annotations

import hashlib
import json

import pytest

from banana100_core.analysis.admission import admission_spreads, admissions, first_admission
from banana100_core.catalog.faults import Fault
from banana100_core.catalog.judge import judge_model, judge_prompt
from banana100_core.generation.fake_gemini import FakeGemini
from banana100_core.project import Project
from banana100_core.project.records import NewRun, NewStep, Outcome
from banana100_core.project.runs import add_run, add_step, runs
from banana100_core.project.verdicts import Verdict, add_verdict, judge_prompts, verdicts


@pytest.fixture
def server(monkeypatch):
    """The stand-in, with the client pointed to it."""
    fake = FakeGemini(retry_delay=0.01)
    monkeypatch.setenv("GOOGLE_GEMINI_BASE_URL", fake.url)
    monkeypatch.setenv("GEMINI_API_KEY", "any")
    monkeypatch.delenv("GOOGLE_API_KEY", raising=False)
    yield fake
    fake.close()


@pytest.fixture
def reasoned(empty, make_png):
    """A project of two repeats whose reasoning admits noise at some of six steps."""
    from banana100_core.imaging.decode import inspect
    from banana100_core.project.images import NewImage

    data = make_png()
    with Project.open(empty) as project:
        for repeat, noisy in ((1, {2, 4, 5, 6}), (2, {6})):
            run_id = add_run(project, NewRun("Holi", "gemini", "pro", "replicate", repeat, steps_planned=6))
            for number in range(1, 7):
                said = "I notice noise." if number in noisy else f"All is well in step {number}."
                step = NewStep(run_id, number, Outcome.DONE, reasoning=said)
                add_step(project, step, NewImage(inspect(data), data=data))
    return empty


def test_each_summary_is_judged_once_and_the_first_yes_is_found(banana100, reasoned, server) -> None:
    told = json.loads(banana100("judge", reasoned, "--json").stdout)
    assert (told["model"], told["prompt_version"]) == (judge_model(), judge_prompt().version)
    assert [(run["judged"], run["first"], run["first_of_two"]) for run in told["runs"]] == [
        (6, 2, 4),
        (6, 6, None),
    ]
    [first] = told["spreads"]["first"]
    assert (first["mean"], first["repeats"]) == (4, 2)
    assert first["sd"] == pytest.approx(2.828, abs=0.001)
    [of_two] = told["spreads"]["first_of_two"]
    assert (of_two["mean"], of_two["sd"], of_two["admitting"]) == (4, None, 1)
    assert server.accepted == 12
    assert "first yes at step 2, first of two at step 4" in banana100("judge", reasoned).stdout
    assert server.accepted == 12
    with Project.open(reasoned, read_only=True) as project:
        assert len(verdicts(project)) == 12
        assert judge_prompts(project) == {judge_prompt().version: judge_prompt().text}
        assert all("stand-in" in verdict.model_version for verdict in verdicts(project))


def test_another_prompt_is_another_judge(banana100, reasoned, server, tmp_path) -> None:
    own = tmp_path / "stern.txt"
    own.write_text("Does it admit anything?")
    banana100("judge", reasoned, "--run", 1)
    told = json.loads(banana100("judge", reasoned, "--run", 1, "--prompt", own, "--json").stdout)
    assert told["prompt_version"].startswith("stern-")
    assert server.accepted == 12
    own.write_text(" ")
    assert "is empty" in banana100("judge", reasoned, "--prompt", own, code=2).stderr


def test_the_plan_and_its_cost_are_told_first_and_a_budget_holds(banana100, reasoned, server) -> None:
    told = json.loads(banana100("judge", reasoned, "--dry-run", "--json").stdout)
    assert (told["calls"], told["judged_already"]) == (12, 0)
    assert 0 < told["cost_usd"]["low"] < told["cost_usd"]["high"] < 0.1
    assert judge_prompt().text.split()[0] in banana100("judge", reasoned, "--dry-run").stdout
    assert server.accepted == 0
    assert "of the budget of $0.00 is spent" in banana100("judge", reasoned, "--budget", 0.001, code=2).stderr
    assert server.accepted == 0
    banana100("judge", reasoned, "--budget", 1)
    assert json.loads(banana100("judge", reasoned, "--dry-run", "--json").stdout)["judged_already"] == 12


def test_a_summary_that_gets_no_answer_is_passed_over_and_named(
    banana100, reasoned, server, monkeypatch
) -> None:
    strikes = server.strikes
    refused = hashlib.sha256(f"{judge_prompt().text}\nAll is well in step 3.".encode()).hexdigest()
    monkeypatch.setattr(
        server, "strikes", lambda model, edit: Fault.SAFETY if edit == refused else strikes(model, edit)
    )
    told = banana100("judge", reasoned, code=1)
    assert "run 1, step 3: gemini-3-flash answered neither yes nor no" in told.stderr
    with Project.open(reasoned, read_only=True) as project:
        judged = {(each.run_id, each.step) for each in verdicts(project)}
    assert len(judged) >= 10
    assert (1, 3) not in judged


def test_a_judge_without_an_answer_says_why_and_what_it_found_is_kept(banana100, reasoned, server) -> None:
    server.faults = (Fault.UNAUTHORISED,)
    assert "Check the API key" in banana100("judge", reasoned, code=2).stderr
    server.faults = (Fault.RATE_LIMITED,)
    server.every = 1
    banana100("judge", reasoned)
    with Project.open(reasoned, read_only=True) as project:
        assert len(verdicts(project)) == 12


def test_the_first_yes_and_the_first_of_two_in_a_row() -> None:
    admits = {1: False, 2: True, 3: False, 5: True, 6: True, 7: False}
    assert first_admission(admits) == 2
    assert first_admission(admits, in_a_row=2) == 5
    assert first_admission({1: True, 3: True}, in_a_row=2) is None
    assert first_admission({}) is None


def test_a_verdict_takes_the_place_of_one_by_the_same_judge_only(reasoned) -> None:
    with Project.open(reasoned) as project:
        for model, admits in (("a", True), ("a", False), ("b", True)):
            add_verdict(project, Verdict(1, 3, model, "1", admits))
        assert [(each.model, each.admits) for each in verdicts(project)] == [("a", False), ("b", True)]
        assert [each.admits for each in verdicts(project, "b", "1")] == [True]
        found = admissions(runs(project), verdicts(project, "b"))
        assert [(each.run.id, each.first) for each in found] == [(1, 3)]
        assert admission_spreads(found)[0].sd is None
