"""The panel of reasoning: the current step's summary beside search, contradictions and the judge."""

from __future__ import annotations

from collections import deque
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
    from collections.abc import Callable, Iterator

    from app.actions import ActionRegistry
    from app.reasoning.lines import Line
    from app.session import Session


class ReasoningPanel(QWidget):
    """What models said of their own pictures."""

    def __init__(self, session: Session, registry: ActionRegistry, *, whole: bool = True) -> None:
        """With `whole` off there is nothing in it before `fill`."""
        super().__init__()
        self.setObjectName("reasoning_panel")
        self._session = session
        self._registry = registry
        self.tabs = QTabWidget()
        self.tabs.setDocumentMode(True)
        self._splitter = QSplitter(Qt.Orientation.Horizontal)
        self._splitter.addWidget(self.tabs)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(self._splitter)
        if whole:
            deque(self.fill(), maxlen=0)

    def fill(self) -> Iterator[None]:
        """Make what is in it, giving way after each part that takes long."""
        session, admissions = self._session, Admissions.of(self._session)
        # All of them tell of runs and steps, and what a judge said would lead like a tag.
        curtains = [Curtain(session, ("tags", "models", "steps")) for _view in range(3)]
        for curtain, title in zip(curtains, ("Find", "Contradictions", "Judge"), strict=True):
            self.tabs.addTab(curtain, title)
        self.summary = SummaryView(session, admissions)
        self._splitter.insertWidget(0, self.summary)
        self._splitter.setChildrenCollapsible(False)
        self._splitter.setSizes([60 * theme.GRID, 100 * theme.GRID])
        yield
        self.search = SearchView(session)
        self.contradictions = ContradictionsView(session, admissions)
        yield
        self.judge = JudgeView(session, admissions)
        yield
        self._views: tuple[QWidget, ...] = (self.search, self.contradictions, self.judge)
        for curtain, view in zip(curtains, self._views, strict=True):
            curtain.set_panel(view)
        self._connect()

    def _connect(self) -> None:
        for view in (self.search, self.contradictions):
            view.chosen.connect(self._go_to)
        self.judge.chosen.connect(self._look_at)
        slots: dict[str, Callable[[], None]] = {
            "reasoning.find": self._find,
            "reasoning.contradictions": lambda: self._show(self.contradictions),
            "reasoning.judge": lambda: self._show(self.judge),
        }
        for key, slot in slots.items():
            self._registry.connect(key, slot)

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
