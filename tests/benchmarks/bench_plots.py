"""The score plot at its fullest: 23 metrics, 100 steps, 5 repeats."""

from __future__ import annotations

import os
import statistics
import time

import numpy as np

from tests.benchmarks.bench import BenchRow

STEPS = 100
REPEATS = 5
ROUNDS = 15
FRAME_MS = 33.0
SIZE = (1600, 420)


def rows() -> list[BenchRow]:
    """Time a full redraw, a new point on each curve, a moved cursor, and the averaging behind them."""
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    from PySide6.QtWidgets import QApplication

    application = QApplication.instance() or QApplication([])
    return [*_drawing(application), _averaging()]


def _drawing(application) -> list[BenchRow]:
    from app.plots.curves import CurvesView
    from app.plots.look import look
    from banana100_core.catalog.metrics import metrics

    view = CurvesView()
    view.resize(*SIZE)
    view.show()
    view.set_steps(STEPS)
    looks = [look(place) for place in range(len(metrics()))]
    versions = [_curves(np.random.default_rng(seed)) for seed in range(ROUNDS)]
    view.show_curves(versions[0], looks, bands=True)
    application.processEvents()
    last = versions[-1]
    fewer = [[_shorter(last[0], STEPS - ROUNDS + number), *last[1:]] for number in range(ROUNDS)]

    def show(curves):
        return lambda: view.show_curves(curves, looks, bands=True)

    redraws = [_timed(view, show(curves)) for curves in versions]
    points = [_timed(view, show(curves)) for curves in fewer]
    moves = [_timed(view, lambda number=number: view.set_step(3 * number + 1)) for number in range(ROUNDS)]
    view.close()
    size = f"{len(metrics())} x {STEPS} x {REPEATS}"
    return [
        _row(f"score plot redrawn, {size}", redraws, FRAME_MS),
        _row("score plot, one curve has a new point", points, FRAME_MS),
        _row("score plot, the cursor moves a step", moves, FRAME_MS),
    ]


def _averaging() -> BenchRow:
    """The reading thread's own work for all curves, without the database."""
    from app.plots.series import Group, Question, ScoreTable, curves
    from banana100_core.catalog.metrics import metrics
    from banana100_core.project.records import StepScore

    random = np.random.default_rng(0)
    scores = [
        StepScore(run_id, step, "0" * 64, key, "method", value, value, None)
        for run_id in range(REPEATS)
        for step, key, value in zip(
            np.repeat(np.arange(STEPS), len(metrics())).tolist(),
            list(metrics()) * STEPS,
            random.uniform(0, 100, STEPS * len(metrics())).tolist(),
            strict=True,
        )
    ]
    question = Question(tuple(metrics()), (Group("all", tuple(range(REPEATS))),))
    times = []
    for _ in range(ROUNDS):
        begun = time.perf_counter()
        table = ScoreTable()
        table.replace(scores, None)
        found = curves(table, question, {})
        times.append((time.perf_counter() - begun) * 1000)
    assert len(found) == len(metrics())
    return _row(f"curves made of {len(scores):,} scores", times, 100.0)


def _curves(random):
    from app.plots.series import Curve, Group
    from banana100_core.catalog.metrics import metrics

    made = []
    steps = np.arange(STEPS, dtype=np.float64)
    for place, key in enumerate(metrics()):
        wave = 40 * np.exp(-steps / 25) + 2.5 * place + random.normal(0, 1.0, (REPEATS, STEPS))
        spread = wave.std(axis=0, ddof=1)
        counts = np.full(STEPS, REPEATS)
        made.append(Curve(key, "method", Group("all", (1,)), steps, wave.mean(axis=0), spread, counts))
    return made


def _shorter(curve, count):
    from dataclasses import replace

    parts = {name: getattr(curve, name)[:count] for name in ("steps", "values", "spread", "counts")}
    return replace(curve, **parts)


def _timed(view, change) -> float:
    begun = time.perf_counter()
    change()
    view.viewport().repaint()
    return (time.perf_counter() - begun) * 1000


def _row(name: str, times: list[float], limit: float) -> BenchRow:
    taken = statistics.median(times)
    ratio = taken / limit
    return BenchRow(name, f"{taken:.1f} ms", f"limit {limit:g} ms", ratio, "ratio <= 1", ratio <= 1)
