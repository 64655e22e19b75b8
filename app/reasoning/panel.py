"""The panel of reasoning: the current step's summary beside search, contradictions and the judge."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QSplitter, QTabWidget, QVBoxLayout, QWidget

from app import theme
from app.admissions import Admissions
from app.curtain import Curtain
from app.reasoning.contradictions import ContradictionsView
from app.reasoning.judging import JudgeView
from app.reasoning.search import SearchView
from app.reasoning.summary import SummaryView

if TYPE_CHECKING:
    from app.actions import ActionRegistry
    from app.reasoning.lines import Line
    from app.session import Session


class ReasoningPanel(QWidget):
    """What models said of their own pictures."""

    def __init__(self, session: Session, registry: ActionRegistry, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("reasoning_panel")
        self._session = session
        admissions = Admissions.of(session)
        self.summary = SummaryView(session, admissions)
        self.search = SearchView(session)
        self.contradictions = ContradictionsView(session, admissions)
        self.judge = JudgeView(session, admissions)
        self._views: tuple[QWidget, ...] = (self.search, self.contradictions, self.judge)
        self.tabs = QTabWidget()
        self.tabs.setDocumentMode(True)
        for view, title in (
            (self.search, "Find"),
            (self.contradictions, "Contradictions"),
            (self.judge, "Judge"),
        ):
            # All of them tell of runs and steps, and what a judge said would lead like a tag.
            self.tabs.addTab(Curtain(session, view, ("tags", "models", "steps")), title)
        splitter = QSplitter(Qt.Orientation.Horizontal)
        splitter.addWidget(self.summary)
        splitter.addWidget(self.tabs)
        splitter.setChildrenCollapsible(False)
        splitter.setSizes([60 * theme.GRID, 100 * theme.GRID])
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(splitter)
        for view in (self.search, self.contradictions):
            view.chosen.connect(self._go_to)
        self.judge.chosen.connect(self._look_at)
        for key, slot in {
            "reasoning.find": self._find,
            "reasoning.contradictions": lambda: self._show(self.contradictions),
            "reasoning.judge": lambda: self._show(self.judge),
        }.items():
            registry.connect(key, slot)

    def is_settled(self) -> bool:
        """Whether what is seen is up to date."""
        return self.search.settled and self.contradictions.settled and self.judge.settled

    def _find(self) -> None:
        self._show(self.search)
        self.search.field.setFocus()
        self.search.field.selectAll()

    def _show(self, view: QWidget) -> None:
        """Bring a view forward through all tabs and docks that it is in."""
        self.tabs.setCurrentIndex(self._views.index(view))
        widget: QWidget | None = self
        while widget is not None:
            above = widget.parentWidget()
            holder = above.parentWidget() if above is not None else None
            if isinstance(holder, QTabWidget):
                holder.setCurrentWidget(widget)
            if widget.inherits("QDockWidget"):
                widget.show()
                widget.raise_()
                return
            widget = above

    def _go_to(self, line: Line) -> None:
        self._look_at(line.run_id, line.step)

    def _look_at(self, run_id: int, step: int) -> None:
        self._session.choose_run(run_id)
        self._session.choose_step(step)
