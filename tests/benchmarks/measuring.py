"""How benchmarks of the window measure: time of a call, waiting as a window waits, rows against a limit."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import numpy as np

from tests.benchmarks.bench import BenchRow

if TYPE_CHECKING:
    from collections.abc import Callable

    from PySide6.QtCore import SignalInstance
    from PySide6.QtWidgets import QApplication


def timed(call: Callable[[], object]) -> float:
    """Milliseconds that a call takes."""
    start = time.perf_counter()
    call()
    return (time.perf_counter() - start) * 1000


def p95(values: list[float]) -> float:
    """The 95th percentile."""
    return float(np.percentile(values, 95))


def against_limit(name: str, ours: float, limit: float) -> BenchRow:
    """A row of milliseconds that are to stay below a limit."""
    return BenchRow(
        name, f"{ours:.1f} ms", f"{limit:.1f} ms", ours / limit, "below the limit, <= 1", ours <= limit
    )


def wait(application: QApplication, condition: Callable[[], bool], seconds: float = 60) -> None:
    """Handle events until something has come true; TimeoutError if it does not."""
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            raise TimeoutError("pictures did not arrive in time")
        application.processEvents()
        time.sleep(0.001)


def wait_idle(news: SignalInstance, condition: Callable[[], bool]) -> None:
    """Wait as a window does: asleep in its event loop until something comes."""
    from PySide6.QtCore import QEventLoop

    loop = QEventLoop()
    connection = news.connect(lambda: loop.quit() if condition() else None)
    if not condition():
        loop.exec()
    news.disconnect(connection)
