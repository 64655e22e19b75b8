"""The executor: each step on disk before the next, and what becomes of trouble."""

from __future__ import annotations

import re
import threading
import time
from dataclasses import replace
from itertools import pairwise

import pytest

from banana100_core.errors import ProjectClosedError, ProjectError
from banana100_core.generation.executor import Executor, GenerationProgress
from banana100_core.generation.plan import PlannedRun, add_plan, make_plan
from banana100_core.imaging.decode import inspect, sha256
from banana100_core.project import Project
from banana100_core.project.check import check
from banana100_core.project.images import NewImage, add_initial_image, image_bytes
from banana100_core.project.records import NewRun, Outcome, RunState
from banana100_core.project.runs import add_run, run, run_costs, runs, steps

WAIT = 60.0


@pytest.fixture
def executor(project):
    executor = Executor(project, side_by_side=1)
    yield executor
    executor.close()


@pytest.fixture(scope="session")
def undisturbed(tmp_path_factory, plan_runs, images_of):
    """The images of the runs that `plan_runs` plans, made without disturbance."""
    with Project.create(tmp_path_factory.mktemp("undisturbed") / "study.b100") as project:
        run_ids = plan_runs(project)
        made(Executor(project), run_ids)
        return images_of(project, run_ids)


def made(executor: Executor, run_ids=None) -> None:
    try:
        executor.start(run_ids)
        assert executor.wait(WAIT)
    finally:
        executor.close()


def at_step(executor: Executor, number: int, act) -> threading.Event:
    """Act once, on the chain's own thread, when so many steps are done; the event tells that it was done."""
    begun, happened = threading.Event(), threading.Event()

    def hear(progress: GenerationProgress) -> None:
        if progress.steps_done == number and not begun.is_set():
            begun.set()  # to act may tell of further progress
            act()
            happened.set()

    executor.subscribe(hear)
    return happened


def calls(project: Project) -> list[tuple[int, int, int, str]]:
    with project.reading() as connection:
        return [
            tuple(row)
            for row in connection.execute("SELECT run_id, step, attempt, outcome FROM call ORDER BY id")
        ]


def test_every_step_is_made_from_the_one_before(project, plan_runs, executor) -> None:
    run_ids = plan_runs(project)
    executor.start()
    assert executor.wait(WAIT)
    for run_id in run_ids:
        stored, planned = run(project, run_id), PlannedRun.of(run(project, run_id))
        assert (stored.state, stored.steps_done, stored.steps_failed) == (RunState.DONE, 4, 0)
        chain = steps(project, run_id)
        assert [step.number for step in chain] == [0, 1, 2, 3, 4]
        for before, step in pairwise(chain):
            assert step.outcome is Outcome.DONE
            assert step.sent_sha256 == before.image.sha256
            assert step.image == inspect(image_bytes(project, step.image.sha256))
            assert step.prompt == planned.step(step.number).prompt
            assert step.settings["seed"] == planned.step(step.number).seed
            assert "sampling grid moved" in step.settings["notes"][0]
            assert step.declared_media_type == step.image.media_type
            assert step.seconds > 0
    assert calls(project) == [(run_id, number, 1, "done") for run_id in run_ids for number in (1, 2, 3, 4)]
    assert [(cost.calls, cost.failed_calls) for cost in run_costs(project)] == [(4, 0)] * 2
    assert check(project.path) == []


def test_progress_is_told_after_each_step(project, plan_runs, executor) -> None:
    run_ids = plan_runs(project)
    heard = []
    unsubscribe = executor.subscribe(heard.append)
    executor.start()
    assert executor.wait(WAIT)
    assert heard[0].steps_planned == 8
    assert heard[0].seconds_left is None
    assert sorted({(progress.run_id, progress.step) for progress in heard[1:]}) == [
        (run_id, number) for run_id in run_ids for number in (1, 2, 3, 4)
    ]
    done = [progress.steps_done for progress in heard]
    assert done == sorted(done)
    assert all(progress.seconds_left > 0 for progress in heard if 0 < progress.steps_done < 8)
    final = executor.progress()
    assert (final.steps_done, final.steps_planned, final.failed, final.running) == (8, 8, 0, False)
    assert final.message == "two, repeat 1: step 4 of 4"
    unsubscribe()
    plan_runs(project)
    executor.start()
    assert executor.wait(WAIT)
    assert {progress.run_id for progress in heard} <= {None, *run_ids}


def test_a_listener_that_fails_stops_nothing(project, plan_runs, executor, caplog) -> None:
    plan_runs(project, images=["one"], steps=1)
    executor.subscribe(lambda progress: 1 / 0)
    executor.start()
    assert executor.wait(WAIT)
    assert runs(project)[0].state is RunState.DONE
    assert "ZeroDivisionError" in caplog.text


def test_pause_holds_the_next_step_and_resume_goes_on(
    project, plan_runs, executor, images_of, undisturbed
) -> None:
    run_ids = plan_runs(project)
    paused = at_step(executor, 2, executor.pause)
    executor.start()
    assert paused.wait(WAIT)
    assert not executor.wait(0.5)
    assert executor.progress().paused
    assert executor.progress().running
    assert [stored.steps_done for stored in runs(project)] == [2, 0]
    executor.resume()
    assert executor.wait(WAIT)
    assert images_of(project, run_ids) == undisturbed


def test_a_pause_with_nothing_under_way_does_not_hold_what_is_started_later(
    project, plan_runs, executor
) -> None:
    executor.pause()
    plan_runs(project, images=["one"], steps=1)
    executor.start()
    assert executor.wait(WAIT)
    assert runs(project)[0].state is RunState.DONE


def test_cancel_keeps_what_is_finished_and_a_run_can_be_taken_up_again(
    project, plan_runs, executor, images_of, undisturbed
) -> None:
    run_ids = plan_runs(project)
    at_step(executor, 2, executor.cancel)
    executor.start()
    assert executor.wait(WAIT)
    assert [(stored.state, stored.steps_done) for stored in runs(project)] == [
        (RunState.CANCELLED, 2),
        (RunState.CANCELLED, 0),
    ]
    executor.start()
    assert executor.wait(WAIT)
    assert [stored.steps_done for stored in runs(project)] == [2, 0]
    executor.start(run_ids)
    assert executor.wait(WAIT)
    assert images_of(project, run_ids) == undisturbed
    assert {stored.state for stored in runs(project)} == {RunState.DONE}


def test_a_run_that_is_cancelled_and_started_at_once_is_worked_off_by_one_thread(project, plan_runs) -> None:
    run_ids = plan_runs(project, images=["one"])
    executor = Executor(project, side_by_side=2)
    again, went_on, states = threading.Event(), threading.Event(), []

    def hear(progress: GenerationProgress) -> None:
        if progress.steps_done == 1 and not again.is_set():
            again.set()
            executor.cancel()
            executor.start(run_ids)
            went_on.wait(2)  # the other thread could begin meanwhile, and may not
        elif again.is_set() and progress.step > 1:
            states.append(run(project, progress.run_id).state)
            went_on.set()

    executor.subscribe(hear)
    made(executor, run_ids)
    assert again.is_set()
    assert set(states) == {RunState.PLANNED, RunState.DONE}
    assert runs(project)[0].state is RunState.DONE


@pytest.mark.parametrize("end", [Executor.cancel, Executor.close])
def test_an_edit_that_never_ends_does_not_hold_up_the_end(project, plan_runs, executor, trouble, end) -> None:
    plan_runs(project, images=["one"], editor=("trouble", "hangs"))
    executor.start()
    hangs = trouble / "died"
    polled, until = threading.Event(), time.monotonic() + WAIT
    while not hangs.exists():
        assert time.monotonic() < until
        polled.wait(0.01)
    end(executor)
    assert executor.wait(WAIT)
    expected = RunState.CANCELLED if end is Executor.cancel else RunState.PLANNED
    assert (runs(project)[0].state, runs(project)[0].steps_done) == (expected, 0)
    assert calls(project) == []


def test_close_leaves_runs_planned_and_another_executor_goes_on(
    project, plan_runs, images_of, undisturbed
) -> None:
    run_ids = plan_runs(project)
    executor = Executor(project, side_by_side=1)
    reached = at_step(executor, 5, executor.pause)  # else it might be done before it is closed
    executor.start()
    assert reached.wait(WAIT)
    executor.close()
    assert runs(project)[1].state is RunState.PLANNED
    with pytest.raises(ProjectClosedError):
        executor.start()
    made(Executor(project))
    assert images_of(project, run_ids) == undisturbed


def test_runs_side_by_side_give_the_same_images(project, plan_runs, images_of, undisturbed) -> None:
    run_ids = plan_runs(project)
    executor, together = Executor(project, side_by_side=2), threading.Barrier(2)
    met = []
    # Two chains meet at a step of their own only when both are under way.
    executor.subscribe(
        lambda progress: (
            progress.step == 1
            and threading.get_ident() not in met
            and (met.append(threading.get_ident()), together.wait(WAIT))
        )
    )
    made(executor, run_ids)
    assert len(met) == 2
    assert images_of(project, run_ids) == undisturbed


def test_a_worker_that_dies_is_started_anew_and_its_step_asked_for_again(
    project, plan_runs, executor, trouble
) -> None:
    plan_runs(project, images=["one"], editor=("trouble", "dies-once"), steps=2)
    executor.start()
    assert executor.wait(WAIT)
    assert runs(project)[0].state is RunState.DONE
    assert calls(project) == [(1, 1, 1, "failed"), (1, 1, 2, "done"), (1, 2, 1, "done")]
    assert run_costs(project)[0].cost_usd == 0.5
    assert executor.progress().cost_usd == 0.5


@pytest.mark.parametrize(
    ("model", "attempts", "reason"),
    [
        ("dies", 3, "failed 3 times.*ended with code 3"),
        ("lies", 3, "failed 3 times.*the answer of trouble"),
        ("refuses", 1, "won't edit this"),
        ("breaks", 1, "a fault of its own"),
    ],
)
def test_an_editor_in_trouble_stops_its_run_with_the_reason_and_others_go_on(
    project, plan_runs, executor, trouble, model, attempts, reason
) -> None:
    plan_runs(project, images=["one"], editor=("trouble", model), steps=2)
    plan_runs(project, images=["one"], steps=2)
    executor.start()
    assert executor.wait(WAIT)
    stopped, other = runs(project)
    assert (stopped.state, stopped.steps_done, stopped.steps_failed) == (RunState.STOPPED, 0, 1)
    assert "Step 1: " in stopped.state_reason
    failed = steps(project, stopped.id)[1]
    assert failed.outcome is Outcome.FAILED
    assert failed.reason in stopped.state_reason
    assert re.search(reason, stopped.state_reason, re.DOTALL)
    assert [call for call in calls(project) if call[0] == stopped.id] == [
        (stopped.id, 1, attempt, "failed") for attempt in range(1, attempts + 1)
    ]
    assert (other.state, other.steps_done) == (RunState.DONE, 2)
    assert executor.progress().failed == 1
    assert check(project.path) == []


def test_a_stopped_run_goes_on_at_its_failed_step(project, plan_runs, executor, trouble) -> None:
    [run_id] = plan_runs(project, images=["one"], editor=("trouble", "refuses"), steps=2)
    executor.start()
    assert executor.wait(WAIT)
    executor.start()
    assert executor.wait(WAIT)
    assert len(calls(project)) == 1
    source = trouble / "trouble_editor.py"
    source.write_text(source.read_text().replace('model == "refuses"', "False"))
    executor.start([run_id])
    assert executor.wait(WAIT)
    assert (run(project, run_id).state, run(project, run_id).state_reason) == (RunState.DONE, "")
    assert [step.outcome for step in steps(project, run_id)] == [Outcome.INITIAL, Outcome.DONE, Outcome.DONE]


def test_an_editor_that_does_not_compute_here_works_without_a_process(
    project, plan_runs, executor, trouble
) -> None:
    plan_runs(project, images=["one"], editor=("trouble", "here"), steps=2)
    executor.start()
    assert executor.wait(WAIT)
    [_, first, second] = steps(project, 1)
    assert (first.reasoning, first.cost_usd) == (first.prompt, 0.25)
    # Both the declared and the true type are kept, also where they differ.
    assert (second.declared_media_type, second.image.media_type) == ("image/gif", "image/png")


def test_a_bad_initial_image_stops_its_run_only(project, plan_runs, executor, make_png, tmp_path) -> None:
    gone = tmp_path / "gone.png"
    gone.write_bytes(make_png(seed=5))
    add_initial_image(project, "gone", NewImage(inspect(gone.read_bytes()), file=gone))
    damaged = bytearray(make_png(seed=6))
    damaged[len(damaged) // 2] ^= 0xFF
    header = replace(inspect(make_png(seed=6)), sha256=sha256(damaged))
    add_initial_image(project, "damaged", NewImage(header, data=bytes(damaged)))
    editor = ("restoration_loop", "realesr-animevideov3-x2")
    add_plan(project, make_plan(["gone", "damaged"], "replicate", *editor, 2, 1, seed=1))
    plan_runs(project, images=["good"], steps=2)
    gone.unlink()
    executor.start()
    assert executor.wait(WAIT)
    of_gone, of_damaged, of_good = runs(project)
    assert of_gone.state is of_damaged.state is RunState.STOPPED
    assert str(gone) in of_gone.state_reason
    assert "damaged" in of_damaged.state_reason
    assert of_good.state is RunState.DONE


def test_an_editor_that_is_not_installed_stops_its_run(
    project, plan_runs, executor, trouble, monkeypatch
) -> None:
    plan_runs(project, images=["one"], editor=("trouble", "here"), steps=1)
    monkeypatch.undo()
    executor.start()
    assert executor.wait(WAIT)
    assert runs(project)[0].state is RunState.STOPPED
    assert "There is no editor 'trouble'" in runs(project)[0].state_reason


def test_a_run_added_without_its_initial_image_gets_it(project, plan_runs, executor) -> None:
    plan_runs(project, images=["one"], steps=1)
    planned = PlannedRun.of(runs(project)[0])
    new = NewRun("one", planned.provider, planned.model, "replicate", repeat=2, steps_planned=1, seed=3)
    lost = NewRun("lost", planned.provider, planned.model, "replicate", steps_planned=1, seed=3)
    run_id, lost_id = add_run(project, new), add_run(project, lost)
    executor.start()
    assert executor.wait(WAIT)
    assert [step.number for step in steps(project, run_id)] == [0, 1]
    assert "no initial image named 'lost'" in run(project, lost_id).state_reason


def test_a_full_disk_ends_the_work_with_the_reason_and_loses_nothing(
    project, plan_runs, executor, images_of, undisturbed
) -> None:
    run_ids = plan_runs(project)

    def limit(pages: int) -> None:
        project.write(lambda database: database.execute(f"PRAGMA max_page_count={pages}").fetchone())

    used = project.write(lambda database: database.execute("PRAGMA page_count").fetchone()[0])
    limit(used + 1)
    executor.start()
    assert executor.wait(WAIT)
    progress = executor.progress()
    assert progress.failed == 1
    assert "no space left" in progress.message
    assert {stored.state for stored in runs(project)} == {RunState.PLANNED}
    done = images_of(project, run_ids)
    assert len(done[0]) < len(undisturbed[0])
    limit(2**31)
    executor.start()
    assert executor.wait(WAIT)
    assert images_of(project, run_ids) == undisturbed
    assert {stored.state for stored in runs(project)} == {RunState.DONE}
    assert check(project.path) == []


def test_a_project_that_is_closed_first_ends_the_work_quietly(tmp_path, plan_runs, trouble) -> None:
    with Project.create(tmp_path / "closed.b100") as project:
        plan_runs(project, images=["one"], editor=("trouble", "here"), steps=1000)
        executor = Executor(project)
        begun = at_step(executor, 1, lambda: None)
        executor.start()
        assert begun.wait(WAIT)
    assert executor.wait(WAIT)
    executor.close()
    assert check(project.path) == []


def test_a_run_that_is_not_there_is_refused(executor) -> None:
    with pytest.raises(ProjectError, match="no run 7"):
        executor.start([7])
