"""The panel of tags: the taxonomy with its keys, and the tags of the run on screen."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, Qt, QTimer
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QScrollArea,
    QSplitter,
    QVBoxLayout,
    QWidget,
)

from app import theme
from app.actions import Context
from app.notifications import plain_label
from app.session import ChosenTag
from app.settings import Settings
from app.suggestions.section import SuggestionSection
from app.tagging import rules
from app.tagging.board import TagBoard
from app.tagging.letters import LetterKeys
from app.tagging.name import NameField
from app.tagging.review_list import ReviewList
from app.tagging.tag_list import TagList
from app.tagging.taxonomy import Taxonomy
from app.tagging.unsaved import UnsavedBar
from app.tagging.wiring import TagActions
from app.tagging.work import Work
from app.tagging.work_bar import WorkBar
from banana100_core.catalog import failure_modes as catalog
from banana100_core.project.failure_modes import failure_modes
from banana100_core.project.records import NewTag

if TYPE_CHECKING:
    from collections.abc import Callable

    from PySide6.QtGui import QShowEvent

    from app.actions import ActionRegistry
    from app.session import Session
    from app.tagging.row import TagRow
    from app.tagging.rows import Row
    from banana100_core.catalog.failure_modes import FailureMode


class TaggingPanel(QWidget):
    """Tag a failure mode where it begins with one key, and see and edit all tags of the run."""

    def __init__(self, session: Session, registry: ActionRegistry, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("tagging_panel")
        self._session = session
        self._modes: dict[str, FailureMode] = {}
        self._chosen: int | None = None
        self._seeks_suggestion = False
        self.board = TagBoard(session, self)
        self.list = TagList(session, self.board)
        self.keys = LetterKeys(self)
        self.work = Work(session, self)
        self.suggestions = SuggestionSection(session, registry, self)  # alone it would be a window
        self.work_bar = WorkBar(session, self.work, registry)
        self.reviews = ReviewList(session, self.work, registry)
        self._build()
        self._connect(registry)
        self._actions = TagActions(self, session, self.work, self.reviews, registry)
        self._project_changed()

    # Tagging

    def begin(self, mode_key: str) -> None:
        """Tag a failure mode from the current step on, or move the onset of its open tag here."""
        self._decide(mode_key, rules.begin)

    def end(self, mode_key: str) -> None:
        """End the tag of a failure mode at the current step."""
        self._decide(mode_key, rules.end)

    def end_here(self) -> None:
        """End the chosen tag at the current step, or else this annotator's open tag that began last."""
        step = self._session.step
        own = [row for row in self.board.rows if self.board.own(row) and row.wanted]
        row = next((row for row in own if row.id == self._chosen), None)
        if row is None:
            begun = [
                row for row in own if row.wanted and row.wanted.end_step is None and row.wanted.onset <= step
            ]
            row = max(begun, key=lambda each: each.wanted.onset if each.wanted else 0, default=None)
        if row is None or row.wanted is None:
            self.say("You have no open tag that begins at this step or before.")
        elif row.wanted.onset > step:
            where = f"at step {row.wanted.onset}, after this one" if self._numbered else "after this step"
            self.say(f"The chosen tag begins {where}.")
        else:
            decision = rules.end(self.name_of(row), [_claim(row)], step, numbered=self._numbered)
            self._apply(row.wanted.failure_mode, decision)

    def delete_chosen(self) -> None:
        """Remove the chosen tag."""
        row = next((row for row in self.board.rows if row.id == self._chosen), None)
        if row is None:
            self.say("Choose a tag first.")
        elif not self.board.own(row):
            self.say(f"This tag is {row.annotator}'s; only its annotator removes it.")
        else:
            self.say(f"Removed: {self.board.describe(row)}. Ctrl+Z brings it back.")
            self.board.remove(row.id)

    def choose(self, row_id: int | None) -> None:
        """Open one tag's editor."""
        self._chosen, self._seeks_suggestion = row_id, False
        self._tell_chosen()
        self.list.open_row(row_id)
        if row_id in self.list.shown:
            # The row has its new height only after the layout has been made.
            QTimer.singleShot(0, self._reveal_chosen)

    def _tell_chosen(self) -> None:
        """Let the session know the chosen tag, as it is now; it may be chosen there too."""
        row = next((row for row in self.board.rows if row.id == self._chosen), None)
        tag = None if row is None else row.wanted
        self._session.choose_tag(
            None
            if row is None or tag is None
            else ChosenTag(row.uuid, tag.failure_mode, row.annotator, tag.onset, tag.end_step)
        )

    def _keep_telling(self) -> None:
        if self._chosen is not None:
            self._tell_chosen()

    def _take_chosen(self) -> None:
        tag = self._session.chosen_tag
        row = None if tag is None else next((row for row in self.board.rows if row.uuid == tag.uuid), None)
        if row is not None and row.id != self._chosen:
            self.choose(row.id)

    def say(self, text: str) -> None:
        """Tell what an edit did, or why it did nothing."""
        self.message.setText(text)

    @property
    def chosen(self) -> int | None:
        """The chosen row's id."""
        return self._chosen

    @property
    def rows(self) -> list[TagRow]:
        """The rows on screen, from top to bottom."""
        shown = self.list.shown
        return [shown[row.id] for row in self.board.rows if row.id in shown]

    def is_settled(self) -> bool:
        """Whether all tags are read and saved."""
        return self.board.settled and self.suggestions.is_settled() and self.work.settled

    def showEvent(self, event: QShowEvent) -> None:
        """Hear the letter keys of the window that the panel is in."""
        super().showEvent(event)
        self.keys.follow_window()

    def changeEvent(self, event: QEvent) -> None:
        """Show a name that was changed in the settings, when the window comes forward again."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.ActivationChange and not self.annotator.hasFocus():
            self._show()

    # Building

    def _build(self) -> None:
        self.annotator = NameField(self._session.annotator)
        self.work_bar.add_name(self.annotator)
        self.taxonomy = Taxonomy()
        self.heading = plain_label("This run", muted=True)
        self.message = plain_label(muted=True, wrap=True)
        self.empty = plain_label(muted=True, wrap=True)
        self.unsaved = UnsavedBar(self.board, self.work)
        tags = QWidget()
        column = QVBoxLayout(tags)
        column.setContentsMargins(theme.GRID, theme.GRID // 2, theme.GRID, theme.GRID)
        column.setSpacing(theme.GRID // 2)
        column.addWidget(self.heading)
        column.addWidget(self.empty)
        column.addWidget(self.list)
        column.addWidget(self.suggestions)
        self.suggestions.changed.connect(self._show_words)
        self.suggestions.current_chosen.connect(lambda: self._seek_suggestion(on=True))
        column.addStretch(1)
        self.list_area = _scrolling(tags)
        bar = self.list_area.verticalScrollBar()
        bar.rangeChanged.connect(lambda *_range: self._seek_suggestion(on=self._seeks_suggestion))
        bar.actionTriggered.connect(lambda _action: self._seek_suggestion(on=False))
        splitter = QSplitter(Qt.Orientation.Vertical)
        splitter.addWidget(_scrolling(self.taxonomy))
        splitter.addWidget(self.list_area)
        splitter.setChildrenCollapsible(False)
        splitter.setStretchFactor(0, 2)
        splitter.setStretchFactor(1, 1)
        splitter.setSizes([50 * theme.GRID, 30 * theme.GRID])
        foot = QHBoxLayout()
        foot.setContentsMargins(theme.GRID, theme.GRID // 2, theme.GRID, theme.GRID)
        foot.addWidget(self.message)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(self.work_bar)
        layout.addWidget(self.reviews)
        layout.addWidget(splitter, 1)
        layout.addWidget(self.unsaved)
        layout.addLayout(foot)

    def _connect(self, registry: ActionRegistry) -> None:
        session = self._session
        session.project_opened.connect(self._project_changed)
        session.project_closed.connect(self._project_changed)
        session.run_changed.connect(self._run_changed)
        session.step_changed.connect(lambda _step: self._show())
        session.steps_updated.connect(self._show)
        session.tag_chosen.connect(self._take_chosen)
        self.board.rows_changed.connect(self._keep_telling)
        self.board.rows_changed.connect(self._show)
        self.board.said.connect(self.say)
        self.work.said.connect(self.say)
        self.work.changed.connect(self._show_words)
        session.modes_updated.connect(self._read_modes)
        session.annotator_changed.connect(self._show)
        session.blinding_changed.connect(self._show)
        self.keys.pressed.connect(self._key_pressed)
        self.taxonomy.begun.connect(self.begin)
        self.taxonomy.ended.connect(self.end)
        self.annotator.editingFinished.connect(self._annotator_changed)
        self.list.chosen.connect(self.choose)
        self.list.removed.connect(self._remove)
        for key, slot in {
            "tag.undo": self.board.undo,
            "tag.redo": self.board.redo,
            "tag.end_here": self.end_here,
            "tag.delete": self.delete_chosen,
        }.items():
            registry.connect(key, slot)
        registry.attach(Context.TAG, self.list_area)
        theme.notifier().theme_changed.connect(self.update)

    def _reveal_chosen(self) -> None:
        chosen = self.list.shown.get(self._chosen or 0)
        if chosen is not None:
            self.list_area.ensureWidgetVisible(chosen)

    def _seek_suggestion(self, *, on: bool) -> None:
        """Keep the suggestion gone on to in sight while tags come above it, until something else is."""
        self._seeks_suggestion = on
        if on:
            # A row has its height only after the layout has been made.
            QTimer.singleShot(0, self._reveal_suggestion)

    def _reveal_suggestion(self) -> None:
        row = self.suggestions.current_row
        if self._seeks_suggestion and row is not None:
            self.list_area.ensureWidgetVisible(row, 0, theme.GRID)

    # The session's changes

    def _project_changed(self) -> None:
        self._read_modes()
        self.say("")

    def _read_modes(self) -> None:
        project = self._session.project
        if project is None:
            self._take_modes(list(catalog.failure_modes().values()))
        else:
            self._session.in_background(lambda: failure_modes(project), self._take_modes)

    def _take_modes(self, modes: list[FailureMode]) -> None:
        self._modes = {mode.key: mode for mode in modes}
        self.board.names = {mode.key: mode.name for mode in modes}
        self.list.show_modes(self._modes)
        self.taxonomy.show_modes([mode for mode in modes if not mode.retired])
        self.keys.set_letters(frozenset(mode.shortcut.upper() for mode in modes if mode.shortcut))
        self._show()

    def _run_changed(self) -> None:
        self._chosen = None
        self.list.open_row(None)
        self.say("")
        self._show()

    def _annotator_changed(self) -> None:
        name = self.annotator.text().strip()
        if name and name != self._session.annotator:
            self._session.annotator = name
            Settings().change({"annotator": name})
            self._show()
        self.annotator.setText(self._session.annotator)

    def _key_pressed(self, letter: str, shift: bool) -> None:
        for mode in self._modes.values():
            if mode.shortcut.upper() == letter:
                (self.end if shift else self.begin)(mode.key)

    # Deciding and showing

    @property
    def _numbered(self) -> bool:
        """Whether numbers of steps may be told."""
        return not self._session.blinding.steps

    def _decide(self, mode_key: str, rule: Callable[..., rules.Decision]) -> None:
        if self._session.run is None:
            self.say("Choose a run first.")
            return
        if self.board.read_only:
            self.say("This project is open for reading only.")
            return
        claims = [_claim(row) for row in self._own_rows(mode_key)]
        name, step = self._modes[mode_key].name, self._session.step
        self._apply(mode_key, rule(name, claims, step, numbered=self._numbered))

    def _apply(self, mode_key: str, decision: rules.Decision) -> None:
        self.say(decision.message)
        run = self._session.run
        if decision.changes is not None and decision.row is not None:
            self.board.change(decision.row, **decision.changes)
        elif decision.changes is not None and run is not None:
            onset, end_step = decision.changes["onset"], decision.changes["end_step"]
            assert onset is not None  # noqa: S101 - a new tag has an onset
            self.choose(self.board.add(NewTag(run.id, mode_key, onset, end_step)))
            return
        if decision.row is not None:
            self.choose(decision.row)

    def _own_rows(self, mode_key: str) -> list[Row]:
        return [
            row
            for row in self.board.rows
            if row.wanted and row.wanted.failure_mode == mode_key and self.board.own(row)
        ]

    def name_of(self, row: Row) -> str:
        """The name of a row's failure mode."""
        key = row.wanted.failure_mode if row.wanted else ""
        return self._modes[key].name if key in self._modes else key

    def _show(self) -> None:
        rows = [row for row in self.board.rows if row.wanted and row.wanted.failure_mode in self._modes]
        self.list.show_rows(rows, self._modes)
        if not self.annotator.hasFocus():
            self.annotator.setText(self._session.annotator)
        self._show_taxonomy(self._session.step)
        self._show_words()

    def _remove(self, row_id: int) -> None:
        self._chosen = row_id
        self.delete_chosen()

    def _show_taxonomy(self, step: int) -> None:
        can_tag = self._session.run is not None and not self.board.read_only
        for key, button in self.taxonomy.buttons.items():
            claims = [_claim(row) for row in self._own_rows(key)]
            first = min(claims, key=lambda claim: claim.onset, default=None)
            where = "" if first is None else f"{first.onset} → {first.end_step or ''}".rstrip()
            if where and not self._numbered:
                where = "tagged"
            button.show_state(where, holds=any(claim.covers(step) for claim in claims))
            button.setEnabled(can_tag)

    def _show_words(self) -> None:
        self.unsaved.show_failures(self.list.shown)
        count = len(self.list.shown)
        run = self._session.run
        reading = run is not None and self.board.read_only
        if reading:
            self.empty.setText("This project is open for reading only: tags can be seen, not made.")
        elif run is None:
            self.empty.setText("Choose a run, go to the step where a failure begins, and press its key.")
        else:
            self.empty.setText("No tags yet. Go to the step where a failure begins and press its key.")
        self.empty.setVisible(count == 0 or reading)
        told = [str(count)] if count else []
        suggested = len(self.suggestions.rows)
        told += [f"{suggested} suggested below"] if count and suggested else []
        self.heading.setText(" · ".join(["This run", *told]))


def _claim(row: Row) -> rules.Claim:
    assert row.wanted is not None  # noqa: S101 - rows on screen have it
    return rules.Claim(row.id, row.wanted.onset, row.wanted.end_step)


def _scrolling(content: QWidget) -> QScrollArea:
    area = QScrollArea()
    area.setWidget(content)
    area.setWidgetResizable(True)
    area.setFrameShape(QFrame.Shape.NoFrame)
    area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
    return area
