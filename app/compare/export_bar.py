"""A line that tells how far an export has come, with the way to stop it."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtWidgets import QHBoxLayout, QProgressBar, QPushButton, QSizePolicy, QWidget

from app import theme
from app.notifications import plain_label

if TYPE_CHECKING:
    from collections.abc import Callable

DONE_MS = 8000
"""How long it says that a file is written."""


@dataclass(frozen=True, slots=True)
class Export:
    """One export, to be told of on any thread: `stop` is set when it is to end with nothing written."""

    stop: threading.Event
    progress: Callable[[int, int, str], None]
    end: Callable[[bool], None]


class ExportBar(QWidget):
    """Shows the export begun last; an earlier one goes on unseen."""

    _told = Signal(object, int, int)
    _ended = Signal(object, bool)

    def __init__(self) -> None:
        super().__init__()
        self._shown: threading.Event | None = None
        self._running: set[threading.Event] = set()
        self._name = ""
        self._text = plain_label(muted=True)
        self._text.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self._progress = QProgressBar()
        self._progress.setTextVisible(False)
        self._progress.setFixedHeight(theme.GRID // 2)
        self._cancel = QPushButton("Cancel")
        self._cancel.clicked.connect(self.cancel)
        self._hide = QTimer(self)
        self._hide.setSingleShot(True)
        self._hide.setInterval(DONE_MS)
        self._hide.timeout.connect(self.hide)
        row = QHBoxLayout(self)
        row.setContentsMargins(theme.GRID + theme.GRID // 2, theme.GRID // 2, theme.GRID, theme.GRID // 2)
        row.setSpacing(theme.GRID)
        row.addWidget(self._text, 1)
        row.addWidget(self._progress, 1)
        row.addWidget(self._cancel)
        self._told.connect(self._show_progress, Qt.ConnectionType.QueuedConnection)
        self._ended.connect(self._end, Qt.ConnectionType.QueuedConnection)
        self.hide()

    @property
    def text(self) -> str:
        """What it says."""
        return self._text.text()

    def begin(self, name: str) -> Export:
        """Tell of a new export."""
        stop = threading.Event()
        self._shown, self._name = stop, name
        self._running.add(stop)
        self._hide.stop()
        self._text.setText(f"Writing {name}")
        self._progress.setRange(0, 0)
        for part in (self._progress, self._cancel):
            part.show()
        self.show()
        return Export(
            stop,
            lambda done, total, _what: self._told.emit(stop, done, total),
            lambda whole: self._ended.emit(stop, whole),
        )

    def cancel(self) -> None:
        """Stop what is shown; nothing of it is left."""
        if self._shown is not None:
            self._shown.set()
            self._text.setText(f"Stopping {self._name}")

    def stop_all(self) -> None:
        """Stop every export: what it is made of goes."""
        for stop in self._running:
            stop.set()
        self._running.clear()
        self._shown = None
        self.hide()

    def _show_progress(self, stop: threading.Event, done: int, total: int) -> None:
        if stop is self._shown:
            self._progress.setRange(0, total)
            self._progress.setValue(done)

    def _end(self, stop: threading.Event, whole: bool) -> None:
        self._running.discard(stop)
        if stop is not self._shown:
            return
        self._shown = None
        for part in (self._progress, self._cancel):
            part.hide()
        self._text.setText(f"{self._name} is written")
        self.setVisible(whole)
        if whole:
            self._hide.start()
