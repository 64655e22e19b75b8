from __future__ import annotations

import gc
import time

import pytest
from PySide6.QtCore import QTimer

from app.garbage import UiThreadCollector
from app.responsiveness import LoopWatch
from tests.benchmarks import bench_window


def test_a_busy_loop_shows_as_a_gap(qtbot):
    watch = LoopWatch()
    begun = time.perf_counter()
    watch.start()
    QTimer.singleShot(20, lambda: time.sleep(0.12))
    qtbot.waitUntil(lambda: watch.longest > 100 and watch.count > 20)
    watch.stop()
    assert watch.longest <= (time.perf_counter() - begun) * 1000
    assert watch.percentile(0.5) < watch.longest


def test_a_gap_that_is_open_counts_when_the_watch_ends(qtbot):
    watch = LoopWatch()
    watch.start()
    time.sleep(0.06)
    watch.stop()
    assert watch.longest >= 60


@pytest.mark.parametrize(("share", "value"), [(0.0, 1.0), (0.5, 50.0), (0.99, 99.0), (1.0, 100.0)])
def test_a_percentile_is_a_gap_that_was_measured(share, value):
    watch = LoopWatch()
    watch._gaps.extend(float(gap) for gap in range(100, 0, -1))
    assert watch.percentile(share) == value


def test_nothing_measured_is_no_gap():
    watch = LoopWatch()
    assert (watch.longest, watch.percentile(0.99), watch.count) == (0.0, 0.0, 0)


def test_cycles_are_collected_on_the_ui_thread_only(qtbot):
    class Node:
        pass

    collector = UiThreadCollector()
    collector.start()
    try:
        assert not gc.isenabled()
        node = Node()
        node.itself = node
        found: list[str] = []
        import weakref

        weakref.finalize(node, found.append, "collected")
        del node
        kept = [[] for _object in range(2 * gc.get_threshold()[0])]
        qtbot.waitUntil(lambda: found == ["collected"])
        assert kept
    finally:
        collector.stop()
    assert gc.isenabled()


def test_the_window_is_measured_while_the_pool_scores(tmp_path):
    """The limits themselves belong to the benchmark: here only that it measures what it says."""
    study = tmp_path / "study.b100"
    bench_window.make_study(study)
    gaps = bench_window.loop_gaps(study, seconds=3.0)
    assert gaps["count"] > 20
    assert 0 < gaps["p99"] <= gaps["longest"]
