"""The suggestions of the run on screen, below its tags: accept, reject, look for more."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QProgressBar, QPushButton, QVBoxLayout, QWidget

from app import theme
from app.needs import Need
from app.notifications import plain_label
from app.suggestions.finder import SuggestionFinder
from app.suggestions.row import SuggestionRow
from banana100_core.errors import BananaError
from banana100_core.project import suggestions as stored
from banana100_core.project.failure_modes import failure_modes
from banana100_core.project.records import Suggestion, SuggestionState

if TYPE_CHECKING:
    from collections.abc import Callable

    from app.actions import ActionRegistry, Slot
    from app.session import Session
    from banana100_core.catalog.failure_modes import FailureMode
    from banana100_core.project import Project
    from banana100_core.project.suggestions import Acceptance

_DECIDING = ("tag.accept_suggestion", "tag.reject_suggestion")
_BLIND = "hidden while you tag blind"
_FINDING = ("tag.find_suggestions", "tag.find_all_suggestions")


class SuggestionSection(QWidget):
    """Nothing here counts as a tag before it is accepted; a rejected one can be opened again at once."""

    changed = Signal()
    """There are other rows."""
    current_chosen = Signal()
    """The current one was chosen, and is to be seen."""

    def __init__(self, session: Session, registry: ActionRegistry, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._registry = registry
        self._read = 0
        self._reading = self._deciding = False
        self._open: list[Suggestion] = []
        self._modes: dict[str, FailureMode] = {}
        self._current: str | None = None
        self._looked_for = False  # it was chosen, and its row has not been shown since
        self._rejected: str | None = None
        self.rows: list[SuggestionRow] = []
        self.finder = SuggestionFinder(session, self)
        self._build()
        self._connect()
        self.read_again()

    @property
    def current_row(self) -> SuggestionRow | None:
        """The row that the keys decide on."""
        return next((row for row in self.rows if row.suggestion.uuid == self._current), None)

    # Deciding

    def accept(self, uuid: str | None = None) -> None:
        """Make a suggestion, or else the current one, this annotator's tag."""
        suggestion = self._suggestion(uuid)
        annotator = self._session.annotator
        if suggestion is not None:
            name = self._name(suggestion)

            def accept(project: Project) -> str:
                tag = stored.accept_suggestion(project, annotator, suggestion.uuid)
                already = tag.onset != suggestion.onset
                how = "was tagged already" if already else "tagged"
                return f"{name} {how} from step {tag.onset}. Undo opens the suggestion again."

            self._decide(accept)

    def reject(self, uuid: str | None = None) -> None:
        """Say that a suggestion, or else the current one, is wrong."""
        suggestion = self._suggestion(uuid)
        annotator = self._session.annotator
        if suggestion is not None:
            text = f"{self._name(suggestion)} rejected; it won't be suggested again."

            def reject(project: Project) -> str:
                stored.reject_suggestion(project, annotator, suggestion.uuid)
                return text

            self._decide(reject, rejected=suggestion.uuid)

    def reopen(self) -> None:
        """Take the last rejection back."""
        uuid, self._rejected = self._rejected, None
        if uuid is not None:

            def reopen(project: Project) -> str:
                stored.reopen_suggestion(project, uuid)
                return "Open again."

            self._decide(reopen)

    def choose(self, uuid: str) -> None:
        """Make one the current one, and look at its onset."""
        self._current, self._looked_for = uuid, True
        self._show_current()
        suggestion = self._suggestion(uuid)
        if suggestion is not None:
            self._session.choose_step(suggestion.onset)

    def go_on(self) -> None:
        """Look at the next suggestion that is open, in this run or in one after it."""
        places = [suggestion.uuid for suggestion in self._open]
        place = places.index(self._current) if self._current in places else -1
        step = self._suggestion(None)
        if step is not None and place == 0 and step.onset != self._session.step:
            self.choose(step.uuid)  # nobody has looked at the first one yet
        elif place + 1 < len(places):
            self.choose(places[place + 1])
        else:
            self._next_run()

    # Building

    def _build(self) -> None:
        self.heading = plain_label("Suggestions", muted=True)
        self.rate = plain_label(muted=True)
        self.find_button = QPushButton("Find")
        self.find_button.setToolTip(
            "Look at the pictures of the chosen runs for failures that arithmetic can see"
        )
        self.bar = QProgressBar()
        self.bar.setTextVisible(False)
        self.bar.setFixedHeight(theme.GRID // 2)
        self.stop_button = QPushButton("Stop")
        self.message = plain_label(muted=True, wrap=True)
        self.reopen_button = QPushButton("Open again")
        top = QHBoxLayout()
        top.setSpacing(theme.GRID)
        top.addWidget(self.heading)
        top.addWidget(self.rate, 1)
        top.addWidget(self.find_button)
        work = QHBoxLayout()
        work.setSpacing(theme.GRID)
        work.addWidget(self.bar, 1)
        work.addWidget(self.stop_button)
        told = QHBoxLayout()
        told.setSpacing(theme.GRID)
        told.addWidget(self.message, 1)
        told.addWidget(self.reopen_button)
        self._list = QVBoxLayout()
        self._list.setContentsMargins(0, 0, 0, 0)
        self._list.setSpacing(theme.GRID // 2)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, theme.GRID, 0, 0)
        layout.setSpacing(theme.GRID // 2)
        for row in (top, work, self._list, told):
            layout.addLayout(row)
        self._show_work(running=False)
        self._say("")

    def _connect(self) -> None:
        session, registry = self._session, self._registry
        for changed in (
            session.project_opened,
            session.run_changed,
            session.suggestions_updated,
            session.blinding_changed,
        ):
            changed.connect(self.read_again)
        session.project_closed.connect(self._forget)
        session.run_changed.connect(self._leave_run)
        self.finder.progressed.connect(self._show_progress)
        self.finder.finished.connect(self._finish_search)
        self.find_button.clicked.connect(self._find)
        self.stop_button.clicked.connect(self.finder.stop)
        self.reopen_button.clicked.connect(self.reopen)
        slots: dict[str, Slot] = {
            "tag.accept_suggestion": self.accept,
            "tag.reject_suggestion": self.reject,
            "tag.next_suggestion": self.go_on,
            "tag.find_suggestions": self._find,
            "tag.find_all_suggestions": partial(self.finder.find, None),
        }
        for key, slot in slots.items():
            registry.connect(key, slot)

    # Reading and showing

    def is_settled(self) -> bool:
        """Whether what is on screen is what the project has, and nothing is being looked for."""
        return not (self._reading or self._deciding or self.finder.running)

    def read_again(self) -> None:
        """Read the suggestions of the run on screen."""
        project, run = self._session.project, self._session.run
        hidden = self._session.blinding.suggestions
        self.setVisible(not hidden)
        if project is None or run is None or hidden:
            self._forget()
            return
        self._read += 1
        number, run_id = self._read, run.id
        self._reading = True

        def read() -> tuple[int, list[Suggestion], list[FailureMode], list[Acceptance]]:
            open_ones = stored.suggestions(project, run_id, SuggestionState.OPEN)
            return number, open_ones, failure_modes(project), stored.acceptance(project)

        self._session.in_background(read, self._take, lambda: self._end_reading(number), once=True)

    def _end_reading(self, number: int) -> bool:
        """Whether this was the reading begun last; no other is waited for then."""
        last = number == self._read
        self._reading = self._reading and not last
        return last

    def _take(self, read: tuple[int, list[Suggestion], list[FailureMode], list[Acceptance]]) -> None:
        number, found, modes, decided = read
        if not self._end_reading(number):
            return
        self._modes = {mode.key: mode for mode in modes}
        if found != self._open:
            self._open = found
            self._make_rows()
        self._show_rate(decided)
        self._show_work(running=self.finder.running)

    def _leave_run(self) -> None:
        """What was said of another run's suggestions is of no use here."""
        if not self.finder.running:
            self._rejected = None
            self._say("")

    def _forget(self) -> None:
        self._read += 1
        self._reading = self._deciding = False
        self._open, self._rejected = [], None
        self._make_rows()
        self._say("")
        self.rate.setText("")
        self._show_work(running=False)

    def _make_rows(self) -> None:
        for row in self.rows:
            self._list.removeWidget(row)
            row.hide()
            row.deleteLater()
        steps = self._session.steps
        last = max(
            steps[-1].number if steps else 1, self._session.run.steps_planned if self._session.run else 1
        )
        self.rows = []
        for suggestion in self._open:
            row = SuggestionRow(suggestion, self._modes.get(suggestion.failure_mode), last)
            row.accepted.connect(self.accept)
            row.rejected.connect(self.reject)
            row.chosen.connect(self.choose)
            self.rows.append(row)
            self._list.addWidget(row)
        self.heading.setText(f"Suggestions · {len(self._open)}" if self._open else "Suggestions")
        if self._current not in {suggestion.uuid for suggestion in self._open}:
            self._current = self._open[0].uuid if self._open else None
        self._show_current()
        self.changed.emit()

    def _show_current(self) -> None:
        project = self._session.project
        can_decide = project is not None and not project.read_only
        for row in self.rows:
            row.set_current(on=row.suggestion.uuid == self._current)
            if self._looked_for and row.suggestion.uuid == self._current:
                self._looked_for = False
                self.current_chosen.emit()
            row.accept.setEnabled(can_decide)
            row.reject.setEnabled(can_decide)
        for key in _DECIDING:
            self._registry.set_enabled(
                key,
                enabled=can_decide and bool(self.rows),
                why="this run has no open suggestion" if can_decide else Need.WRITING,
            )

    def _show_rate(self, decided: list[Acceptance]) -> None:
        accepted, rejected = sum(row.accepted for row in decided), sum(row.rejected for row in decided)
        text = f"{accepted:,} of {accepted + rejected:,} accepted" if accepted + rejected else ""
        self.rate.setText(text)
        names = {key: mode.name for key, mode in self._modes.items()}
        self.rate.setToolTip(
            "\n".join(
                f"{names.get(row.failure_mode, row.failure_mode)}: {row.accepted:,} accepted, "
                f"{row.rejected:,} rejected, {row.open:,} open"
                for row in decided
            )
        )

    def _say(self, text: str) -> None:
        self.message.setText(text)
        self.message.setVisible(bool(text))
        self.reopen_button.setVisible(self._rejected is not None)

    # Looking for them

    def _find(self) -> None:
        self.finder.find(self._session.selected_runs)

    def _show_progress(self, done: int, total: int) -> None:
        self._show_work(running=True)
        self.bar.setRange(0, total)
        self.bar.setValue(done)
        self._rejected = None
        self._say(f"Looking at run {min(done + 1, total):,} of {total:,} …" if total else "Looking …")

    def _finish_search(self, text: str) -> None:
        self._show_work(running=False)
        self._say(text)

    def _show_work(self, *, running: bool) -> None:
        project = self._session.project
        hidden = self._session.blinding.suggestions
        can_find = project is not None and not project.read_only and not running and not hidden
        self.bar.setVisible(running)
        self.stop_button.setVisible(running)
        self.find_button.setVisible(not running)
        self.find_button.setEnabled(can_find)
        for key in _FINDING:
            self._registry.set_enabled(
                key,
                enabled=can_find,
                why=_BLIND if hidden else "it is being done" if running else Need.WRITING,
            )
        self._registry.set_enabled(
            "tag.next_suggestion",
            enabled=project is not None and not hidden,
            why=_BLIND if hidden else Need.PROJECT,
        )

    # Small ones

    def _suggestion(self, uuid: str | None) -> Suggestion | None:
        wanted = uuid or self._current
        return next((each for each in self._open if each.uuid == wanted), None)

    def _name(self, suggestion: Suggestion) -> str:
        mode = self._modes.get(suggestion.failure_mode)
        return mode.name if mode else suggestion.failure_mode

    def _decide(self, work: Callable[[Project], str], rejected: str | None = None) -> None:
        """Do what decides and say what it gives; `rejected` is what could be opened again then."""
        project = self._session.project
        if project is None or project.read_only or self._deciding:
            return
        self._deciding = True

        def do() -> tuple[str, str | None]:
            try:
                return work(project), rejected
            except BananaError as error:
                return str(error), None

        self._session.in_background(do, lambda decided: self._decided(*decided), self._end_deciding)

    def _end_deciding(self) -> None:
        self._deciding = False

    def _decided(self, text: str, rejected: str | None) -> None:
        self._end_deciding()
        self._rejected = rejected
        self._say(text)

    def _next_run(self) -> None:
        project, run = self._session.project, self._session.run
        if project is None:
            return
        order = [each.id for each in self._session.runs]
        here = order.index(run.id) if run is not None and run.id in order else -1

        def read() -> Suggestion | None:
            found = stored.suggestions(project, state=SuggestionState.OPEN)
            first = {each.run_id: each for each in reversed(found)}
            later = [*order[here + 1 :], *order[: here + 1]]
            return next((first[run_id] for run_id in later if run_id in first), None)

        self._session.in_background(read, self._go_to)

    def _go_to(self, suggestion: Suggestion | None) -> None:
        if suggestion is None:
            self._say("No suggestion is open.")
            return
        self._current, self._looked_for = suggestion.uuid, True
        self._session.choose_run(suggestion.run_id)
        self._session.choose_step(suggestion.onset)
