"""Everything of one failure mode, to edit in place or to add."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QObject, QSignalBlocker, Qt, Signal
from PySide6.QtWidgets import (
    QFormLayout,
    QHBoxLayout,
    QLineEdit,
    QPlainTextEdit,
    QPushButton,
    QWidget,
)

from app import theme
from app.notifications import plain_label
from app.parts import Choices
from app.tagging.letters import letter_of
from banana100_core.catalog.failure_modes import FailureMode, Level
from banana100_core.project.failure_modes import NewMode

if TYPE_CHECKING:
    from collections.abc import Mapping

    from PySide6.QtGui import QKeyEvent

_ON_ITS_OWN = "nothing: it stands on its own"


class ModeForm(QWidget):
    """Tells what changed when a field is left; a new mode only when asked to add it."""

    changed = Signal(str, dict)  # key of the failure mode, its new values
    added = Signal(object)
    cancelled = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._mode: FailureMode | None = None
        self.adding = False
        self.name = QLineEdit()
        self.level = Choices([(f"{level.value.capitalize()} level", level.value) for level in Level])
        self.parent_mode = Choices()
        self.letter = KeyField()
        self.definition = _text_field("What is seen, in a sentence")
        self.example = _text_field("Where it was seen, in words")
        self.add = QPushButton("Add this failure mode")
        self.add.setProperty("primary", True)  # noqa: FBT003 - Qt takes the value by place
        self.cancel = QPushButton("Cancel")
        self._lay_out()
        self._connect()

    def show_mode(self, mode: FailureMode, modes: Mapping[str, FailureMode], *, enabled: bool) -> None:
        """Show what a failure mode is."""
        self._mode, self.adding = mode, False
        self._fill(mode, modes)
        for field in self._fields:
            field.setEnabled(enabled)
        self._show_buttons()

    def begin_new(self, level: Level, modes: Mapping[str, FailureMode]) -> None:
        """Take what a new failure mode shall be."""
        self._mode, self.adding = None, True
        self._fill(FailureMode("", "", level, "", "", ""), modes)
        for field in self._fields:
            field.setEnabled(True)
        self._show_buttons()
        self.name.setFocus()

    def end_new(self) -> None:
        """Give up adding, or end it."""
        self.adding = False
        self._show_buttons()

    def finish(self) -> None:
        """Tell what was changed and not told yet."""
        mode = self._mode
        if mode is None or self.adding:
            return
        shown = {
            "name": self.name.text(),
            "level": self._level,
            "parent": self.parent_mode.currentData(),
            "shortcut": self.letter.text(),
            "definition": self.definition.toPlainText(),
            "example": self.example.toPlainText(),
        }
        changes = {
            name: value for name, value in shown.items() if (value or "") != (getattr(mode, name) or "")
        }
        if changes:
            self._mode = None  # told once; what it has become is shown next
            self.changed.emit(mode.key, changes)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """A text is finished when it is left; Tab leaves it."""
        if event.type() == QEvent.Type.FocusOut:
            self.finish()
        return super().eventFilter(watched, event)

    @property
    def _level(self) -> Level:
        return Level(self.level.currentData())  # Qt gives back a string

    @property
    def _fields(self) -> tuple[QWidget, ...]:
        return (self.name, self.level, self.parent_mode, self.letter, self.definition, self.example)

    def _fill(self, mode: FailureMode, modes: Mapping[str, FailureMode]) -> None:
        self._modes = modes
        with QSignalBlocker(self.level), QSignalBlocker(self.parent_mode):
            self.name.setText(mode.name)
            self.level.setCurrentIndex(self.level.findData(mode.level.value))
            self.letter.setText(mode.shortcut)
            self.definition.setPlainText(mode.definition)
            self.example.setPlainText(mode.example)
            self._fill_parents(mode.parent)

    def _fill_parents(self, chosen: str | None) -> None:
        level, own = self._level, self._mode.key if self._mode else ""
        self.parent_mode.clear()
        self.parent_mode.addItem(_ON_ITS_OWN, None)
        for mode in self._modes.values():
            if mode.level is level and mode.parent is None and not mode.retired and mode.key != own:
                self.parent_mode.addItem(mode.name, mode.key)
        self.parent_mode.setCurrentIndex(max(0, self.parent_mode.findData(chosen)))

    def _show_buttons(self) -> None:
        self.add.setVisible(self.adding)
        self.cancel.setVisible(self.adding)

    def _level_chosen(self) -> None:
        with QSignalBlocker(self.parent_mode):
            self._fill_parents(None)
        self.finish()

    def _add(self) -> None:
        self.added.emit(
            NewMode(
                self.name.text(),
                self._level,
                self.definition.toPlainText(),
                self.example.toPlainText(),
                self.letter.text(),
                self.parent_mode.currentData(),
            )
        )

    def _cancel(self) -> None:
        self.end_new()
        self.cancelled.emit()

    def _lay_out(self) -> None:
        form = QFormLayout(self)
        form.setContentsMargins(0, 0, 0, 0)
        form.setHorizontalSpacing(2 * theme.GRID)
        form.setVerticalSpacing(theme.GRID)
        form.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.AllNonFixedFieldsGrow)
        key = QHBoxLayout()
        key.setSpacing(theme.GRID)
        key.addWidget(self.letter)
        key.addWidget(plain_label("tags it from this step on; with Shift it ends there", muted=True), 1)
        for label, field in (
            ("Name", self.name),
            ("Level", self.level),
            ("A kind of", self.parent_mode),
            ("Key", key),
            ("Definition", self.definition),
            ("Example", self.example),
        ):
            form.addRow(plain_label(label, muted=True), field)
        buttons = QHBoxLayout()
        buttons.setSpacing(theme.GRID)
        buttons.addStretch(1)
        buttons.addWidget(self.cancel)
        buttons.addWidget(self.add)
        form.addRow(buttons)
        for button in (self.add, self.cancel):
            button.setAutoDefault(False)
        names = ("Name", "Level", "A kind of", "Key", "Definition", "Example")
        for name, widget in zip(names, self._fields, strict=True):
            widget.setAccessibleName(name)

    def _connect(self) -> None:
        self.name.editingFinished.connect(self.finish)
        self.letter.chosen.connect(self.finish)
        self.level.activated.connect(lambda _row: self._level_chosen())
        self.parent_mode.activated.connect(lambda _row: self.finish())
        for field in (self.definition, self.example):
            field.installEventFilter(self)
        self.add.clicked.connect(self._add)
        self.cancel.clicked.connect(self._cancel)


class KeyField(QLineEdit):
    """Takes one letter key, under any keyboard layout; Backspace takes it away."""

    chosen = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.setFixedWidth(6 * theme.GRID)
        self.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.setPlaceholderText("none")
        self.setToolTip("Press a letter; Backspace for none")

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Take the letter in place of the one before."""
        letter = letter_of(event)
        plain = not event.modifiers() & ~Qt.KeyboardModifier.ShiftModifier
        if letter is not None and plain:
            self.setText(letter)
            self.chosen.emit()
        elif event.key() in {Qt.Key.Key_Backspace, Qt.Key.Key_Delete}:
            self.clear()
            self.chosen.emit()
        elif not event.text() or event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            super().keyPressEvent(event)


def _text_field(hint: str) -> QPlainTextEdit:
    field = QPlainTextEdit()
    field.setPlaceholderText(hint)
    field.setTabChangesFocus(True)
    field.setMinimumHeight(8 * theme.GRID)
    return field
