"""SIGKILL at random moments: nothing lost, nothing doubled, and the images of an undisturbed run."""

from __future__ import annotations

import contextlib
import random
import subprocess
import sys

import pytest

from banana100_core.generation.executor import Executor
from banana100_core.project import Project
from banana100_core.project.check import check
from banana100_core.project.records import Outcome, RunState
from banana100_core.project.runs import runs, steps

KILLS = 20
RESUME = """
import sys
from pathlib import Path
from threading import Semaphore
from banana100_core.generation.executor import Executor
from banana100_core.project import Project

told = Semaphore(int(sys.argv[2]))  # so many times; then all chains are held, and something is left to do

def tell(progress):
    print(progress.steps_done, flush=True)
    told.acquire()

with Project.open(Path(sys.argv[1])) as project:
    executor = Executor(project)
    executor.subscribe(tell)
    executor.start()
    executor.wait()
    executor.close()
"""
PLANNED = {"images": ["one", "two", "three"], "steps": 60, "size": (120, 80)}


@pytest.mark.slow
def test_kills_at_random_moments_lose_and_double_nothing(tmp_path, plan_runs, images_of) -> None:
    with Project.create(tmp_path / "undisturbed.b100") as project:
        run_ids = plan_runs(project, **PLANNED)
        executor = Executor(project)
        executor.start()
        assert executor.wait(300)
        executor.close()
        undisturbed = images_of(project, run_ids)

    path = tmp_path / "killed.b100"
    with Project.create(path) as project:
        plan_runs(project, **PLANNED)
    moments = random.Random(2)
    kept: list[list[str]] = [[], [], []]
    for kill in range(KILLS):
        command = [sys.executable, "-c", RESUME, str(path), str(kill % 7 + 2)]
        process = subprocess.Popen(command, stdout=subprocess.PIPE)
        # Now while it starts, now some steps later; and then at any moment of the next step.
        for _ in range(kill % 7):
            assert process.stdout.readline()
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(timeout=moments.uniform(0, 0.6 if kill % 7 == 0 else 0.1))
        assert process.poll() is None, "it was done before it could be killed"
        process.kill()
        process.stdout.close()
        process.wait()
        assert check(path) == []
        with Project.open(path, read_only=True) as project:
            now = images_of(project, run_ids)
        assert [images[: len(before)] for images, before in zip(now, kept, strict=True)] == kept
        kept = now
    assert KILLS < sum(map(len, kept)) - len(run_ids) < 180

    with Project.open(path) as project:
        executor = Executor(project)
        executor.start()
        assert executor.wait(300)
        executor.close()
        assert images_of(project, run_ids) == undisturbed
        for stored in runs(project):
            assert (stored.state, stored.steps_failed) == (RunState.DONE, 0)
            chain = steps(project, stored.id)
            assert [step.number for step in chain] == list(range(61))
            assert {step.outcome for step in chain[1:]} == {Outcome.DONE}
        with project.reading() as connection:
            answered = connection.execute("SELECT run_id, step FROM call WHERE outcome = 'done'").fetchall()
        assert len(answered) == len(set(map(tuple, answered))) == 180
    assert check(path) == []
