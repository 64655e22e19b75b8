"""The project file: a list of runs of a whole study, and a received 10 MB picture made safe."""

from __future__ import annotations

import contextlib
import hashlib
import os
import sqlite3
import statistics
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from banana100_core.project import Project
from banana100_core.project.images import NewImage
from banana100_core.project.records import Image, NewRun, NewStep, Outcome
from banana100_core.project.runs import add_run, add_step, add_steps, runs
from tests.benchmarks.bench import BenchRow

if TYPE_CHECKING:
    from collections.abc import Callable

RUNS, STEPS, LIST_LIMIT_MS = 280, 100, 50.0
PICTURE_BYTES, PICTURES = 10_000_000, 24


def rows() -> list[BenchRow]:
    """The list of runs against a limit; adding a step against SQLite alone."""
    with tempfile.TemporaryDirectory() as folder:
        return [listing(Path(folder)), adding(Path(folder))]


def listing(folder: Path) -> BenchRow:
    """Time to list 280 runs of 100 steps with their counts."""
    with Project.create(folder / "large.b100") as project:
        for number in range(RUNS):
            run_id = add_run(
                project, NewRun(f"picture {number // 22}", "p", "m", "replicate", number % 5, STEPS)
            )
            add_steps(project, [step(run_id, of, b"%d %d" % (run_id, of)) for of in range(STEPS + 1)])
        ours = 1000 * statistics.median(seconds(lambda: runs(project)) for _ in range(9))
    return BenchRow(
        f"list {RUNS} runs of {STEPS} steps",
        f"{ours:.1f} ms",
        f"{LIST_LIMIT_MS:.0f} ms",
        ours / LIST_LIMIT_MS,
        "ours / limit, at most 1",
        ours <= LIST_LIMIT_MS,
    )


def adding(folder: Path) -> BenchRow:
    """Time to have a received picture on disk, against a bare insert with the same promise."""
    pictures = [os.urandom(PICTURE_BYTES) for _ in range(PICTURES)]
    insert = "INSERT INTO blob VALUES (?, ?)"
    ours, peer = [], []
    with (
        Project.create(folder / "ours.b100") as project,
        contextlib.closing(sqlite3.connect(folder / "peer.db", isolation_level=None)) as bare,
    ):
        bare.execute("PRAGMA journal_mode=WAL")
        bare.execute("PRAGMA synchronous=FULL")
        bare.execute("CREATE TABLE blob (sha256 TEXT PRIMARY KEY, bytes BLOB)")
        run_id = add_run(project, NewRun("picture", "p", "m", "replicate"))
        # In turns, so that what else the machine does meets both.
        for number, data in enumerate(pictures):
            new = step(run_id, number, data)
            ours.append(seconds(lambda new=new: add_step(project, *new)))
            row = (new[1].image.sha256, data)
            peer.append(seconds(lambda row=row: bare.execute(insert, row)))
    # Means, since the cost of taking the log into the file falls on some of them only.
    ratio = statistics.mean(peer) / statistics.mean(ours)
    return BenchRow(
        "add a step with a picture of 10 MB",
        f"{1000 * statistics.mean(ours):.0f} ms",
        f"sqlite3 {1000 * statistics.mean(peer):.0f} ms",
        ratio,
        "peer / ours, at least 0.9",
        ratio >= 0.9,
    )


def step(run_id: int, number: int, data: bytes) -> tuple[NewStep, NewImage]:
    """A step as it comes from a service; its bytes stand for a picture."""
    image = Image(hashlib.sha256(data).hexdigest(), 2816, 1504, "image/png", len(data))
    outcome = Outcome.DONE if number else Outcome.INITIAL
    return NewStep(run_id, number, outcome, prompt="Replicate.", reasoning="r" * 3000), NewImage(image, data)


def seconds(work: Callable[[], object]) -> float:
    """Wall time of one piece of work."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start
