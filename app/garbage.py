"""Python's cycle collector, kept on the UI thread."""

from __future__ import annotations

import gc

from PySide6.QtCore import QObject, QTimer

LOOK_MS = 250


class UiThreadCollector(QObject):
    """Collects cycles on the thread it lives in, and nowhere else.

    Python collects on whatever thread happens to allocate. A widget in a reference cycle would be destroyed
    on a thread of the core, which Qt forbids.
    """

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._timer = QTimer(self)
        self._timer.timeout.connect(self._look)

    def start(self) -> None:
        """Take over from Python; what exists by now is left out from then on, to keep collections short."""
        gc.disable()
        gc.freeze()
        self._timer.start(LOOK_MS)

    def stop(self) -> None:
        """Give it back to Python."""
        self._timer.stop()
        gc.unfreeze()
        gc.enable()

    def _look(self) -> None:
        counts, thresholds = gc.get_count(), gc.get_threshold()
        due = [generation for generation in (0, 1, 2) if counts[generation] > thresholds[generation] > 0]
        if due:
            gc.collect(due[-1])
