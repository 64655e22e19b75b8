"""What the metric in the list lacks on this computer, and a button that does something about it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHBoxLayout, QProgressBar, QPushButton, QVBoxLayout, QWidget

from app import theme
from app.notifications import plain_label
from app.plots.terms import ask_for_terms
from app.plots.weights_fetcher import WeightsFetcher
from app.tooltips import plain_tip
from banana100_core.catalog.metrics import metric
from banana100_core.scoring import terms
from banana100_core.scoring.methods import PYIQA, State

if TYPE_CHECKING:
    from collections.abc import Callable

    from app.actions import ActionRegistry
    from app.plots.source import ScoreSource
    from app.session import Session

_STEPS = 1000  # of the bar; a model has more bytes than Qt counts
_MEGA = 1e6


class WeightsBox(QWidget):
    """Says why a metric is greyed; fetches its weights, shows what arrives, and tells what went wrong."""

    def __init__(
        self, session: Session, registry: ActionRegistry, source: ScoreSource, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._session = session
        self._source = source
        self._key: str | None = None
        self._problems: dict[str, str] = {}
        self._fetched: set[str] = set()
        self._act: Callable[[], object] = self.fetch
        self._score_missing = registry.qaction("score.missing").trigger
        self.fetcher = WeightsFetcher(session, self)
        self.text = plain_label(muted=True, wrap=True)
        self.text.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.bar = QProgressBar()
        self.bar.setTextVisible(False)
        self.bar.setFixedHeight(theme.GRID // 2)
        self.bar.setAccessibleName("How far the weights are")
        self.button = QPushButton()
        self.button.clicked.connect(self._do)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, theme.GRID // 2, 0, 0)
        column.setSpacing(theme.GRID // 2)
        column.addWidget(self.text)
        column.addWidget(self.bar)
        row = QHBoxLayout()
        row.addWidget(self.button)
        row.addStretch(1)
        column.addLayout(row)
        self.hide()
        self.fetcher.progressed.connect(self._show_progress)
        self.fetcher.ended.connect(self._take_end)
        source.statuses_read.connect(lambda _statuses: self._show())
        session.project_opened.connect(self._forget)

    def show_metric(self, key: str | None) -> None:
        """Speak of this metric, or of none."""
        if key != self._key:
            self._key = key
            self._show()

    def fetch(self) -> None:
        """Fetch what the metric lacks, once pyiqa's terms are accepted where it needs them."""
        key = self._key
        status = self._source.statuses.get(key or "")
        if key is None or status is None or self.fetcher.metric is not None:
            return
        if status.backend == PYIQA and not terms.accepted():
            ask_for_terms(self.window(), self._session, self.fetch)
            return
        self._problems.pop(key, None)
        self.fetcher.fetch(key)
        self.bar.setRange(0, 0)  # busy, until something arrives
        self._show()

    def _do(self) -> None:
        self._act()

    def _show(self) -> None:
        status = self._source.statuses.get(self._key or "")
        fetching = self.fetcher.metric
        self.bar.setVisible(fetching is not None)
        self.text.setToolTip("")
        if fetching is not None:
            self._say(f"Fetching weights of {metric(fetching).title}", "Cancel", self.fetcher.cancel)
        elif status is None or self._key is None:
            self.hide()
        elif status.state is State.READY and self._key in self._fetched:
            self._say(f"{metric(self._key).title} can score now.", "Score what is missing", self._score)
        elif status.state is State.READY:
            self.hide()
        elif status.state is State.TERMS:
            self._say(status.reason, "Read the terms…", self._ask_for_terms)
        elif not status.fetchable:
            self._say(f"{status.reason} {status.way_out}")
        elif self._key in self._problems:
            self._say(f"Weights of {metric(self._key).title} could not be fetched.", "Try again", self.fetch)
            self.text.setToolTip(plain_tip(self._problems[self._key]))
        else:
            self._say(_lack(self._key, status.state), "Fetch weights", self.fetch)
            self.text.setToolTip(plain_tip(f"{status.reason}\n{status.way_out}"))

    def _say(self, text: str, button: str = "", act: Callable[[], object] | None = None) -> None:
        self.text.setText(text)
        self.button.setText(button)
        self.button.setVisible(act is not None)
        self._act = act or self.fetch
        self.show()

    def _show_progress(self, name: str, done: int, total: int | None) -> None:
        if self.fetcher.metric is None:
            return
        size = f"{done / _MEGA:,.0f} of {total / _MEGA:,.0f} MB" if total else f"{done / _MEGA:,.0f} MB"
        self.text.setText(f"Fetching weights of {metric(self.fetcher.metric).title}\n{name}\n{size}")
        self.bar.setRange(0, _STEPS if total else 0)
        self.bar.setValue(int(_STEPS * done / total) if total else 0)

    def _take_end(self, key: str, problem: str) -> None:
        if problem:
            self._problems[key] = problem
            self._session.failed.emit(f"Weights of {metric(key).title} can't be fetched", problem)
        else:
            self._fetched.add(key)
        if self._session.project is not None:
            self._source.read_statuses()
        self._show()

    def _ask_for_terms(self) -> None:
        ask_for_terms(self.window(), self._session, self._source.read_statuses)

    def _score(self) -> None:
        self._fetched.discard(self._key or "")
        self._score_missing()
        self._show()

    def _forget(self) -> None:
        self._problems.clear()
        self._fetched.clear()
        self._show()


def _lack(key: str, state: State) -> str:
    if state is State.WEIGHTS_WRONG:
        return f"Weights of {metric(key).title} are not the files that they should be."
    whole = any(file.is_repository for file in metric(key).weights)
    size = " They are a whole model of many gigabytes." if whole else ""
    return f"Weights of {metric(key).title} are missing.{size}"
