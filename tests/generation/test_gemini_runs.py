"""Runs of the real client against an unreliable local server: all is accounted for, nothing is lost."""

from __future__ import annotations

import base64
import contextlib
import os
import random
import statistics
import subprocess
import sys
import threading
import time
from io import BytesIO

import numpy as np
import psutil
import pytest
from PIL import Image

from banana100_core.catalog.faults import LASTING, Fault
from banana100_core.catalog.settings import RunSettings, SessionMode
from banana100_core.errors import ProviderError
from banana100_core.generation.executor import Executor
from banana100_core.generation.gate import Gate
from banana100_core.generation.limits import BudgetSpentError, Limits
from banana100_core.generation.plan import add_plan, make_plan
from banana100_core.generation.providers import capabilities
from banana100_core.generation.ways_out import WayOut, way_out
from banana100_core.project import Project
from banana100_core.project.calls import failed_calls
from banana100_core.project.check import check
from banana100_core.project.images import image_bytes
from banana100_core.project.reasoning import search, step_sections
from banana100_core.project.records import Outcome, RunState
from banana100_core.project.runs import run, run_costs, runs, set_run_model, steps

PRO = ("gemini", "gemini-3-pro-image")
WAIT = 120
# The sizes of a real study take some ten minutes and 3 GB of disk; the small ones try the same code.
FULL_SIZE = "BANANA100_FULL_SIZE" in os.environ
STEPS = 100 if FULL_SIZE else 12
KILLS, STEPS_TO_KILL = (50, 160) if FULL_SIZE else (20, 60)
if FULL_SIZE:
    WAIT = 3600
HIGHEST = capabilities(*PRO).usd_per_image[1]
RESUME = """
import sys
from pathlib import Path
from threading import Semaphore
from banana100_core.generation.executor import Executor
from banana100_core.generation.limits import Limits
from banana100_core.project import Project

told = Semaphore(int(sys.argv[2]))  # so many times; then all chains are held, and something is left to do

def tell(progress):
    print(progress.steps_done, flush=True)
    told.acquire()

with Project.open(Path(sys.argv[1])) as project:
    executor = Executor(project, limits=Limits(first_delay=0.01))
    executor.subscribe(tell)
    executor.start()
    executor.wait()
    executor.close()
"""


def work_off(project, run_ids=None, **options) -> Executor:
    executor = Executor(project, limits=Limits(**{"first_delay": 0.01} | options))
    executor.start(run_ids)
    assert executor.wait(WAIT)
    executor.close()
    return executor


def call_count(project, where="1") -> int:
    with project.reading() as connection:
        return connection.execute(f"SELECT count(*) FROM call WHERE {where}").fetchone()[0]


def test_with_every_fault_all_calls_are_accounted_for_and_runs_finish_without_a_hand(
    project, plan_runs, fake
) -> None:
    passing = [fault for fault in Fault if fault not in LASTING]
    server = fake(*passing, every=2)
    plan_runs(project, images=["one"], editor=PRO, steps=STEPS, repeats=5)
    executor = work_off(project)
    assert [each.state for each in runs(project)] == [RunState.DONE] * 5
    assert set(server.struck) == set(passing)
    stored = [step for each in runs(project) for step in steps(project, each.id) if step.number]
    assert len(stored) == STEPS * 5
    failures = call_count(project, "outcome = 'failed'")
    assert server.accepted == len(stored) + failures == call_count(project)
    costs = run_costs(project)
    assert sum(cost.cost_usd for cost in costs) == pytest.approx(executor.progress().cost_usd)
    # An answer that was cut may have been paid: the budget counts it, the project doesn't know.
    lost = server.struck[Fault.CUT] * HIGHEST
    assert executor.limits.spent_usd == pytest.approx(executor.progress().cost_usd + lost)
    assert {step.finish_reason for step in stored} == {"STOP", "IMAGE_QUALITY_LIMIT"}
    assert any(step.declared_media_type != step.image.media_type for step in stored)
    assert [section.evaluates for section in step_sections(stored[0])] == [False, True]
    assert search(project, "faithful replica").total == sum("faithful" in step.reasoning for step in stored)
    assert check(project.path) == []


@pytest.mark.slow
def test_kills_at_random_moments_lose_and_double_nothing_that_was_received(
    tmp_path, plan_runs, fake, images_of
) -> None:
    server = fake(Fault.OVERLOADED, Fault.NO_IMAGE, Fault.CUT, every=3)
    path = tmp_path / "killed.b100"
    with Project.create(path) as project:
        run_ids = plan_runs(project, images=["one"], editor=PRO, steps=STEPS_TO_KILL, repeats=3)
    moments = random.Random(3)
    kept: list[list[str]] = [[], [], []]
    for kill in range(KILLS):
        command = [sys.executable, "-c", RESUME, str(path), str(kill % 7 + 2)]
        process = subprocess.Popen(command, stdout=subprocess.PIPE)
        for _ in range(kill % 7):
            assert process.stdout.readline()
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(timeout=moments.uniform(0, 0.1))
        assert process.poll() is None, "it was done before it could be killed"
        process.kill()
        process.stdout.close()
        process.wait()
        with Project.open(path, read_only=True) as project:
            now = images_of(project, run_ids)
        assert [images[: len(before)] for images, before in zip(now, kept, strict=True)] == kept
        kept = now
    assert sum(map(len, kept)) > KILLS
    with Project.open(path) as project:
        work_off(project)
        assert [each.state for each in runs(project)] == [RunState.DONE] * 3
        assert call_count(project, "outcome = 'done'") == 3 * STEPS_TO_KILL
        # Only what was out when the process was killed is not known: at most one call of each run.
        assert 0 <= server.accepted - call_count(project) <= KILLS * 3
    assert check(path) == []


def test_a_key_that_is_refused_stops_runs_with_the_way_out_and_a_good_one_goes_on(
    project, plan_runs, fake, secret, caplog
) -> None:
    caplog.set_level(0)
    server = fake(Fault.UNAUTHORISED)
    run_ids = plan_runs(project, images=["one"], editor=PRO, steps=2, repeats=2)
    executor = work_off(project)
    assert server.accepted == 2
    for each in runs(project):
        assert each.state is RunState.STOPPED
        assert "Check the API key, then start the run again" in each.state_reason
        assert way_out(each) is WayOut.KEY
    assert "Check the API key" in executor.progress().message
    server.faults = ()
    work_off(project, run_ids)
    assert [each.state for each in runs(project)] == [RunState.DONE] * 2
    project.close()
    # The key: in no file of the project, no log, no error.
    for file in project.path.parent.rglob("*"):
        if file.is_file():
            assert secret.encode() not in file.read_bytes(), file
    assert secret not in caplog.text


def test_a_retired_model_asks_for_another_which_goes_on(project, plan_runs, fake) -> None:
    server = fake()
    [run_id] = plan_runs(project, images=["one"], editor=PRO, steps=4)
    executor = Executor(project, limits=Limits(first_delay=0.01))
    retire = lambda progress: progress.step == 2 and setattr(server, "faults", (Fault.RETIRED,))  # noqa: E731
    executor.subscribe(retire)
    executor.start()
    assert executor.wait(WAIT)
    executor.close()
    assert "resume PROJECT --run RUN --model MODEL" in run(project, run_id).state_reason
    assert way_out(run(project, run_id)) is WayOut.ANOTHER_MODEL
    set_run_model(project, run_id, "gemini-3.5-pro-image")
    work_off(project, [run_id])
    after = run(project, run_id)
    assert (after.state, after.model) == (RunState.DONE, "gemini-3.5-pro-image")
    assert way_out(after) is None
    assert after.settings["earlier_models"] == [{"model": PRO[1], "to_step": 2}]


def test_answers_without_an_image_stop_a_run_after_three_tries_and_it_can_go_on(
    project, plan_runs, fake
) -> None:
    server = fake(*[Fault.SAFETY])
    server.strikes = lambda model, edit: counted(server)
    [run_id] = plan_runs(project, images=["one"], editor=PRO, steps=2)
    work_off(project)
    stopped = run(project, run_id)
    assert stopped.state is RunState.STOPPED
    assert "Step 1: It failed 3 times. Gemini gave no image (IMAGE_SAFETY)" in stopped.state_reason
    failed = steps(project, run_id)[1]
    assert (failed.outcome, failed.finish_reason) == (Outcome.FAILED, "IMAGE_SAFETY")
    assert call_count(project) == server.accepted == 3
    assert way_out(stopped) is WayOut.AGAIN
    assert [(each.step, each.attempt) for each in failed_calls(project, [run_id])] == [(1, 3), (1, 2), (1, 1)]
    assert "IMAGE_SAFETY" in failed_calls(project, [run_id], limit=1)[0].reason
    del server.strikes
    server.faults = ()
    work_off(project, [run_id])
    assert run(project, run_id).state is RunState.DONE


def counted(server) -> Fault:
    server.accepted += 1
    return Fault.SAFETY


def test_the_budget_is_never_overspent_and_says_what_to_do(project, plan_runs, fake) -> None:
    server = fake()
    run_ids = plan_runs(project, images=["one"], editor=PRO, steps=4, repeats=4)
    executor = work_off(project, budget_usd=1.0)
    assert 0 < executor.limits.spent_usd <= 1.0
    # It is used as far as the next call, at its highest price, would fit.
    assert executor.limits.spent_usd + HIGHEST > 1.0
    stopped = [each for each in runs(project) if each.state is RunState.STOPPED]
    assert stopped
    assert all("of the budget of $1.00 is spent" in each.state_reason for each in stopped)
    assert {way_out(each) for each in stopped} == {WayOut.BUDGET}
    assert all(each.steps_failed == 0 for each in stopped)
    work_off(project, run_ids, budget_usd=10.0)
    assert [each.state for each in runs(project)] == [RunState.DONE] * 4
    assert server.accepted == 16


def test_the_services_wish_to_wait_holds_every_chain() -> None:
    limits, gate = Limits(), Gate()
    started = time.monotonic()
    limits.hold_off(0.3)
    chains = [threading.Thread(target=limits.take_turn, args=(gate, 0.0)) for _ in range(3)]
    for chain in chains:
        chain.start()
    for chain in chains:
        chain.join()
    assert time.monotonic() - started >= 0.3


def test_calls_go_out_no_faster_than_the_rate() -> None:
    limits, gate = Limits(calls_per_minute=1200), Gate()
    started = time.monotonic()
    for _ in range(5):
        assert limits.take_turn(gate, 0.0)
    assert time.monotonic() - started >= 4 * 60 / 1200


def test_whoever_waits_for_a_turn_is_let_go_when_all_ends() -> None:
    limits, gate = Limits(), Gate()
    limits.hold_off(1000)
    threading.Timer(0.05, lambda: gate.end(cancelled=True)).start()
    assert not limits.take_turn(gate, 0.0)


def test_what_is_out_is_reserved_and_what_is_lost_counts_in_full() -> None:
    limits, gate = Limits(budget_usd=1.0), Gate()
    assert limits.take_turn(gate, 0.6)
    limits.answered(0.6, 0.1)
    assert limits.spent_usd == pytest.approx(0.1)
    assert limits.take_turn(gate, 0.6)
    limits.answered(0.6, None)
    with pytest.raises(BudgetSpentError, match=r"\$0.70 of the budget of \$1.00"):
        limits.take_turn(gate, 0.6)


def test_delays_grow_up_to_a_minute_and_differ() -> None:
    limits = Limits()
    for tries, longest in ((1, 1), (2, 2), (5, 16), (20, 60)):
        drawn = {limits.delay(tries) for _ in range(50)}
        assert len(drawn) > 1
        assert longest / 2 <= min(drawn) <= max(drawn) <= longest


@pytest.mark.slow
def test_memory_stays_level_over_many_large_answers(tmp_path, plan_runs, fake) -> None:
    answers = 500 if FULL_SIZE else 12
    picture = four_k() if FULL_SIZE else None
    fake(*[Fault.LARGE][: not FULL_SIZE], answer_with=picture)
    with Project.create(tmp_path / "large.b100") as project:
        plan_runs(project, images=["one"], editor=PRO, steps=answers)
        executor = Executor(project, limits=Limits(first_delay=0.01))
        seen: list[float] = []
        me = psutil.Process(os.getpid())
        executor.subscribe(lambda progress: seen.append(me.memory_info().rss / 2**20))
        executor.start()
        assert executor.wait(WAIT)
        executor.close()
        assert runs(project)[0].state is RunState.DONE
        smallest = len(picture) if picture else 30 * 2**20
        stored = steps(project, 1)[1:]
        assert len({step.image.sha256 for step in stored}) == answers
        assert all(step.image.byte_size > smallest for step in stored)
    half = len(seen) // 2
    print(f"{answers} answers: up to {max(seen[:half]):.0f}, then {max(seen[half:]):.0f} MB")
    # In the middle: now and then the server, which is in this process too, still holds what it has sent.
    assert statistics.median(seen[half:]) - statistics.median(seen[:half]) < 150


def four_k() -> bytes:
    """A picture of 17 megapixels in a JPEG of some 5 MB."""
    random = np.random.default_rng(1)
    pixels = random.integers(0, 256, (3072, 5504, 3), dtype=np.uint8) // 6 + 100
    out = BytesIO()
    Image.fromarray(pixels).save(out, "JPEG", quality=88)
    return out.getvalue()


def test_one_session_sends_back_all_that_went_before_also_after_a_break(project, plan_runs, fake) -> None:
    server = fake()
    server.keep_bodies = True
    plan_runs(project, images=["one"], editor=PRO, steps=1)
    single = RunSettings(session=SessionMode.SINGLE)
    [run_id] = add_plan(project, make_plan(["one"], "mirror", *PRO, 4, 1, seed=1, settings=single))
    assert run(project, run_id).session_mode == "single"
    executor = Executor(project, limits=Limits(first_delay=0.01))
    executor.subscribe(lambda progress: progress.step == 2 and executor.cancel())
    executor.start([run_id])
    assert executor.wait(WAIT)
    executor.close()
    assert run(project, run_id).steps_done == 2
    work_off(project, [run_id])
    assert run(project, run_id).state is RunState.DONE
    lengths = [[len(content["parts"]) for content in body["contents"]] for body in server.bodies]
    assert lengths == [[2], [2, 1, 1], [2, 1, 1, 1, 1], [2, 1, 1, 1, 1, 1, 1]]
    images = [image_bytes(project, step.image.sha256) for step in steps(project, run_id)]
    sent = [
        base64.urlsafe_b64decode(part["inlineData"]["data"])
        for content in server.bodies[-1]["contents"]
        for part in content["parts"]
        if "inlineData" in part
    ]
    assert sent == images[:4]


def test_an_editor_that_keeps_no_session_refuses_one() -> None:
    single = RunSettings(session=SessionMode.SINGLE)
    with pytest.raises(ProviderError, match="keeps no session"):
        make_plan(["one"], "replicate", "codec_loss", "jpeg-webp", 2, 1, seed=1, settings=single)
