"""Runs whose evaluation claims success while a tag or the scores say failure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QTimer, Signal
from PySide6.QtWidgets import QVBoxLayout, QWidget

from app import theme
from app.notifications import plain_label
from app.reasoning.lines import Line, LineList
from banana100_core.analysis.contradictions import FALL, Contradiction, contradictions
from banana100_core.catalog.metrics import metric
from banana100_core.catalog.models import model_title
from banana100_core.project.failure_modes import failure_modes

if TYPE_CHECKING:
    from PySide6.QtGui import QShowEvent

    from app.admissions import Admissions
    from app.session import Session

_WAIT_MS = 1000
WHAT = (
    "Runs whose evaluation claims success (by the judge's verdict, or where there is none by its words) "
    f"while a tag holds or a normalised score lies {FALL:g} or more below step 1."
)


class ContradictionsView(QWidget):
    """Lists them; looks again, while it is seen, when tags, scores, verdicts or steps came."""

    chosen = Signal(object)  # Line

    def __init__(self, session: Session, admissions: Admissions) -> None:
        super().__init__()
        self._session, self._admissions = session, admissions
        self._busy = False
        self._stale = True
        self.list = LineList("Contradictions")
        self.list.chosen.connect(self.chosen)
        self.state = plain_label(WHAT, muted=True, wrap=True)
        self.state.setContentsMargins(theme.GRID, theme.GRID // 2, theme.GRID, theme.GRID // 2)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(self.state)
        layout.addWidget(self.list, 1)
        self._wait = QTimer(self)
        self._wait.setSingleShot(True)
        self._wait.setInterval(_WAIT_MS)
        self._wait.timeout.connect(self._look)
        for changed in (
            session.project_opened,
            session.runs_updated,
            session.scores_updated,
            session.tags_updated,
            admissions.changed,
        ):
            changed.connect(self._age)
        session.project_closed.connect(self._forget)

    @property
    def settled(self) -> bool:
        """Whether the list is up to date, or not seen."""
        return not self._busy and not (self._stale and self.isVisible())

    def showEvent(self, event: QShowEvent) -> None:
        """Look, if anything has changed since."""
        super().showEvent(event)
        self._look()

    def _age(self) -> None:
        self._stale = True
        if self.isVisible() and not self._wait.isActive():
            self._wait.start()

    def _look(self) -> None:
        project = self._session.project
        if project is None or self._busy or not self._stale or not self.isVisible():
            return
        verdicts = list(self._admissions.found.verdicts.values())
        self._busy, self._stale = True, False

        def read() -> list[Line]:
            names = {mode.key: mode.name for mode in failure_modes(project)}
            return [_line(each, names) for each in contradictions(project, verdicts=verdicts)]

        self._session.in_background(read, self._take, self._end_reading, once=True)

    def _take(self, lines: list[Line]) -> None:
        self._end_reading()
        self.list.lines.show(lines)
        found = "None found. " if not lines else "1 run. " if len(lines) == 1 else f"{len(lines):,} runs. "
        self.state.setText(found + WHAT)

    def _end_reading(self) -> None:
        self._busy = False
        if self._stale:
            self._wait.start()

    def _forget(self) -> None:
        self._busy, self._stale = False, True
        self._wait.stop()
        self.list.lines.show([])
        self.state.setText(WHAT)


def _line(each: Contradiction, names: dict[str, str]) -> Line:
    run = each.run
    against = [names.get(tag.failure_mode, tag.failure_mode) for tag in each.tags]
    against += [f"{metric(fall.metric).title} −{fall.by:.0f}" for fall in each.falls]
    steps = f"step {each.step}" if len(each.steps) == 1 else f"{len(each.steps)} steps from {each.step}"
    by = "judge" if each.judged else "words"
    pieces = ((", ".join(dict.fromkeys(against)), True), (f"  ·  claims: {each.claim}", False))
    return Line(
        run.id,
        each.step,
        f"{run.initial_image} · r{run.repeat} · {steps}",
        f"{model_title(run.provider, run.model)} · by {by}",
        pieces,
    )
