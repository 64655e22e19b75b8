"""Fetching a metric's weights off the UI thread."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt, Signal

from app.background import Background

if TYPE_CHECKING:
    from app.session import Session
    from banana100_core.scoring.weights_fetch import FetchReport, WeightsFetch


class WeightsFetcher(QObject):
    """Fetches for one metric at a time; it ends when the project is closed, as the window goes with it."""

    progressed = Signal(str, object, object)  # file, bytes that are here, bytes in all if known
    ended = Signal(str, str)  # metric, what went wrong; empty where nothing did

    _arrived = Signal(str, object, object)

    def __init__(self, session: Session, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.metric: str | None = None
        self._fetch: WeightsFetch | None = None
        self._background = Background("weights", self)
        self._background.failed.connect(self._end)
        self._arrived.connect(self.progressed, Qt.ConnectionType.QueuedConnection)
        session.project_closed.connect(self._stop)

    def fetch(self, key: str) -> None:
        """Fetch what a metric lacks; nothing happens while there is another fetch."""
        from banana100_core.scoring.weights_fetch import WeightsFetch

        if self._fetch is None:
            self.metric = key
            self._fetch = WeightsFetch([key], self._arrived.emit)
            self._background.do(self._fetch.run, self._take)

    def cancel(self) -> None:
        """End at once; `ended` follows."""
        if self._fetch is not None:
            self._background.do(self._fetch.cancel)

    def _take(self, report: FetchReport) -> None:
        self._end("\n".join(reason for _file, reason in report.failed))

    def _end(self, problem: str) -> None:
        key, self.metric, self._fetch = self.metric, None, None
        self.ended.emit(key or "", problem)

    def _stop(self) -> None:
        if self._fetch is not None:
            self._fetch.cancel()
        self._background.stop()
        if self._fetch is not None:
            self._end("")
