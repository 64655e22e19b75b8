"""The panel of scores: curves over steps in one tab, the heat map of score gaps in the other."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtWidgets import QTabWidget, QVBoxLayout, QWidget

from app.curtain import Curtain
from app.plots.curves import CurvesView
from app.plots.drift import DriftView
from app.plots.gaps import GapView
from app.plots.scores import ScoresView
from app.plots.terms import TermsBar

if TYPE_CHECKING:
    from collections.abc import Generator

    from app.actions import ActionRegistry
    from app.session import Session


class ScorePlotPanel(QWidget):
    """Scores of the run on screen, and what the whole project says of the metrics."""

    def __init__(self, session: Session, registry: ActionRegistry, scores: ScoresView | None = None) -> None:
        """`scores`: the curves, if they are made already."""
        super().__init__()
        self.setObjectName("score_panel")
        self.scores = scores or ScoresView(session, registry)
        self.gaps = GapView(session, registry, self.scores.source)
        self.terms = TermsBar(session, registry, self.scores.source)
        self.tabs = QTabWidget()
        self.tabs.setDocumentMode(True)
        self.tabs.addTab(Curtain(session, self.scores, ("scores", "steps")), "Scores")
        self.tabs.addTab(Curtain(session, self.gaps, ("scores", "steps", "models")), "Score gaps")
        self.drift = DriftView(session)
        self.tabs.addTab(Curtain(session, self.drift, ("scores", "steps")), "Drift")
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(self.terms)
        layout.addWidget(self.tabs)

    @classmethod
    def in_parts(cls, session: Session, registry: ActionRegistry) -> Generator[None, None, ScorePlotPanel]:
        """Make one, giving way after each part that takes long."""
        plot = CurvesView()
        yield
        scores = ScoresView(session, registry, plot)
        yield
        return cls(session, registry, scores)

    def add_tab(self, panel: QWidget, title: str) -> None:
        """Give another panel a tab beside the scores."""
        self.tabs.addTab(panel, title)

    def is_settled(self) -> bool:
        """Whether the curves and the table on screen are up to date."""
        return self.scores.source.settled and self.gaps.settled and self.drift.settled
