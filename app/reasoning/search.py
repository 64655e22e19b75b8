"""Find words in the reasoning summaries of the whole study."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtWidgets import QCheckBox, QHBoxLayout, QLineEdit, QVBoxLayout, QWidget

from app import theme
from app.notifications import plain_label
from app.reasoning.lines import Line, LineList
from banana100_core.catalog.models import model_title
from banana100_core.project.reasoning import Match, Matches, search

if TYPE_CHECKING:
    from app.session import Session

Pieces = tuple[tuple[str, bool], ...]

_WAIT_MS = 150
_BEFORE = 60
HINT = 'Words that all are to be there, "in a row" in quotes, or the beginning of one with *'


class SearchView(QWidget):
    """A field, and the steps whose summaries have what is written in it."""

    chosen = Signal(object)  # Line

    def __init__(self, session: Session) -> None:
        super().__init__()
        self._session = session
        self._busy = self._stale = False
        self.field = QLineEdit()
        self.field.setPlaceholderText("Find in all reasoning summaries")
        self.field.setToolTip(HINT)
        self.field.setAccessibleName("Find in reasoning summaries")
        self.field.setClearButtonEnabled(True)
        self.selected_only = QCheckBox("Selected runs only")
        self.count = plain_label(muted=True)
        self.list = LineList("Found summaries")
        self.list.chosen.connect(self.chosen)
        bar = QHBoxLayout()
        bar.setContentsMargins(theme.GRID, theme.GRID // 2, theme.GRID, theme.GRID // 2)
        bar.setSpacing(theme.GRID)
        bar.addWidget(self.field, 1)
        bar.addWidget(self.selected_only)
        bar.addWidget(self.count)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addLayout(bar)
        layout.addWidget(self.list, 1)
        self._wait = QTimer(self)
        self._wait.setSingleShot(True)
        self._wait.setInterval(_WAIT_MS)
        self._wait.timeout.connect(self._ask)
        self.field.textChanged.connect(lambda _text: self._wait.start())
        self.field.returnPressed.connect(self._go_to_first)
        self.selected_only.toggled.connect(lambda _on: self._ask())
        session.selection_changed.connect(self._selection_changed)
        session.project_closed.connect(self._forget)

    @property
    def settled(self) -> bool:
        """Whether what is written was searched for."""
        return not self._busy and not self._wait.isActive()

    def _selection_changed(self) -> None:
        if self.selected_only.isChecked():
            self._ask()

    def _ask(self) -> None:
        project, words = self._session.project, self.field.text()
        if project is None or not words.strip():
            self._take(("", None))
            return
        if self._busy:
            self._stale = True
            return
        run_ids = self._session.selected_runs if self.selected_only.isChecked() else None
        self._busy, self._stale = True, False
        self._session.in_background(
            lambda: (words, search(project, words, run_ids=run_ids)), self._answer, self._give_up, once=True
        )

    def _answer(self, read: tuple[str, Matches]) -> None:
        self._busy = False
        if self._stale or read[0] != self.field.text():
            self._ask()
        else:
            self._take(read)

    def _give_up(self) -> None:
        self._busy = False
        if self._stale:
            self._ask()

    def _take(self, read: tuple[str, Matches | None]) -> None:
        _words, matches = read
        providers = {run.id: run.provider for run in self._session.runs}
        found = () if matches is None else matches.found
        self.list.lines.show([_line(match, providers.get(match.run_id, "")) for match in found])
        self.count.setText("" if matches is None else _count(matches))

    def _go_to_first(self) -> None:
        if self.settled and self.list.lines.lines:
            self.list.setFocus(Qt.FocusReason.TabFocusReason)
            self.list.setCurrentIndex(self.list.lines.index(0))
            self.chosen.emit(self.list.lines.lines[0])

    def _forget(self) -> None:
        self._busy = self._stale = False
        self._wait.stop()
        self._take(("", None))


def _line(match: Match, provider: str) -> Line:
    return Line(
        match.run_id,
        match.step,
        f"{match.initial_image} · r{match.repeat} · step {match.step}",
        f"{model_title(provider, match.model)} · {match.protocol}",
        around_the_first(match.pieces),
    )


def around_the_first(pieces: Pieces) -> Pieces:
    """Leave out marks of titles, and most of what comes before the first word that was found."""
    plain = [(text.replace("**\n", ": ").replace("**", ""), marked) for text, marked in pieces]
    before, marked = plain[0] if plain else ("", True)
    if not marked and len(before) > _BEFORE:
        plain[0] = ("…" + before[-_BEFORE:].partition(" ")[2], False)
    return tuple(plain)


def _count(matches: Matches) -> str:
    if not matches.total:
        return "Nothing found"
    steps = "1 step" if matches.total == 1 else f"{matches.total:,} steps"
    return steps if len(matches.found) == matches.total else f"{len(matches.found):,} of {steps}"
