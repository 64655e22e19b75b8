"""Counts, rate and time left."""

from __future__ import annotations

import pytest

from banana100_core.scoring.tally import Tally


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_counts_rate_and_time_left():
    clock = Clock()
    tally = Tally(clock)
    tally.ask(["piqe", "niqe"] * 10)
    for second in range(1, 6):
        clock.now = second
        tally.finish("piqe", failed=False)
        tally.finish("niqe", failed=second == 3)
    progress = tally.progress(paused=False, problem="")
    assert (progress.done, progress.total, progress.failed) == (10, 20, 1)
    assert progress.per_metric == {"piqe": (5, 10), "niqe": (5, 10)}
    assert progress.rate == pytest.approx(2)
    assert progress.seconds_left == pytest.approx(5)
    assert tally.progress(paused=True, problem="").seconds_left is None


def test_the_rate_is_that_of_the_last_minute():
    clock = Clock()
    tally = Tally(clock)
    tally.ask(["piqe"] * 1000)
    for second in range(200):
        clock.now = second
        for _ in range(1 if second < 100 else 4):
            tally.finish("piqe", failed=False)
    assert tally.progress(paused=False, problem="").rate == pytest.approx(4, rel=0.05)


def test_idle_time_does_not_slow_the_rate():
    clock = Clock()
    tally = Tally(clock)
    tally.ask(["piqe"])
    clock.now = 1
    tally.finish("piqe", failed=False)
    clock.now = 31
    tally.ask(["piqe"] * 2)
    clock.now = 32
    tally.finish("piqe", failed=False)
    assert tally.progress(paused=False, problem="").rate == pytest.approx(1)


def test_what_is_dropped_is_not_waited_for():
    tally = Tally(Clock())
    tally.ask(["piqe"] * 3)
    tally.drop(["piqe"] * 3)
    progress = tally.progress(paused=False, problem="gone")
    assert (progress.done, progress.total, progress.problem) == (0, 0, "gone")
    assert progress.seconds_left is None


def test_failures_that_are_tried_again_count_as_not_done():
    clock = Clock()
    tally = Tally(clock)
    tally.ask(["piqe", "niqe", "niqe"])
    for metric, failed in (("piqe", True), ("niqe", True), ("niqe", False)):
        clock.now += 1
        tally.finish(metric, failed=failed)
    tally.forget_failed("niqe")
    progress = tally.progress(paused=False, problem="")
    assert (progress.done, progress.total, progress.failed) == (2, 2, 1)
    tally.ask(["niqe"])
    clock.now += 1
    tally.finish("niqe", failed=False)
    tally.forget_failed(None)
    progress = tally.progress(paused=False, problem="")
    assert (progress.done, progress.total, progress.failed) == (2, 2, 0)
    assert progress.rate >= 0
