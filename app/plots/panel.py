"""The panel of scores: curves over steps in one tab, the heat map of score gaps in the other."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from PySide6.QtWidgets import QTabWidget, QVBoxLayout, QWidget

from app.curtain import Curtain
from app.plots.curves import CurvesView
from app.plots.drift import DriftView
from app.plots.gaps import GapView
from app.plots.scores import ScoresView
from app.plots.terms import TermsBar

if TYPE_CHECKING:
    from collections.abc import Iterator

    from app.actions import ActionRegistry
    from app.session import Session


class ScorePlotPanel(QWidget):
    """Scores of the run on screen, and what the whole project says of the metrics."""

    def __init__(self, session: Session, registry: ActionRegistry, *, whole: bool = True) -> None:
        """With `whole` off there is nothing in it before `fill`."""
        super().__init__()
        self.setObjectName("score_panel")
        self._session = session
        self._registry = registry
        self.tabs = QTabWidget(self)
        self.tabs.setDocumentMode(True)
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(0)
        self._column.addWidget(self.tabs)
        if whole:
            deque(self.fill(), maxlen=0)

    def fill(self) -> Iterator[None]:
        """Make what is in it, giving way after each part that takes long."""
        session, registry = self._session, self._registry
        curtains = [
            self._add_curtain("Scores", "scores", "steps"),
            self._add_curtain("Score gaps", "scores", "steps", "models"),
            self._add_curtain("Drift", "scores", "steps"),
        ]
        plot = CurvesView()
        yield
        self.scores = ScoresView(session, registry, plot)
        curtains[0].set_panel(self.scores)
        yield
        self.gaps = GapView(session, registry, self.scores.source)
        curtains[1].set_panel(self.gaps)
        yield
        self.drift = DriftView(session)
        curtains[2].set_panel(self.drift)
        self.terms = TermsBar(session, registry, self.scores.source)
        self._column.insertWidget(0, self.terms)

    def add_tab(self, panel: QWidget, title: str) -> None:
        """Give another panel a tab beside the scores."""
        self.tabs.addTab(panel, title)

    def is_settled(self) -> bool:
        """Whether the curves and the table on screen are up to date."""
        return self.scores.source.settled and self.gaps.settled and self.drift.settled

    def _add_curtain(self, title: str, *tells: str) -> Curtain:
        curtain = Curtain(self._session, tells)
        self.tabs.addTab(curtain, title)
        return curtain
