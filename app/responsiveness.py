"""How long the event loop was busy with one thing: the gaps between the ticks of a precise timer."""

from __future__ import annotations

import math
import time
from collections import deque

from PySide6.QtCore import QObject, Qt, QTimer

TICK_MS = 8
KEPT = 200_000  # about half an hour of ticks


class LoopWatch(QObject):
    """Measures, while it runs, the time between two events handled by the loop that it lives in."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._gaps: deque[float] = deque(maxlen=KEPT)
        self._last = 0.0
        self._timer = QTimer(self)
        self._timer.setTimerType(Qt.TimerType.PreciseTimer)
        self._timer.setInterval(TICK_MS)
        self._timer.timeout.connect(self._tick)

    def start(self) -> None:
        """Begin anew."""
        self._gaps.clear()
        self._last = time.perf_counter()
        self._timer.start()

    def stop(self) -> None:
        """End, counting the gap that is open."""
        self._tick()
        self._timer.stop()

    @property
    def count(self) -> int:
        """Number of gaps measured."""
        return len(self._gaps)

    @property
    def longest(self) -> float:
        """The longest gap in milliseconds."""
        return max(self._gaps, default=0.0)

    def percentile(self, share: float) -> float:
        """The gap in milliseconds that a `share` of them, say 0.99, does not exceed."""
        ordered = sorted(self._gaps)
        return ordered[max(math.ceil(share * len(ordered)) - 1, 0)] if ordered else 0.0

    def report(self) -> str:
        """One line for people."""
        return (
            f"event loop: {self.count} gaps, longest {self.longest:.1f} ms, "
            f"p99 {self.percentile(0.99):.1f} ms"
        )

    def _tick(self) -> None:
        now = time.perf_counter()
        self._gaps.append((now - self._last) * 1000)
        self._last = now
