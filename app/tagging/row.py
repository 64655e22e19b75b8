"""One tag of the run: its bar, and below it, when chosen, everything of it to edit in place."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QObject, QSignalBlocker, Qt, Signal
from PySide6.QtGui import QColor, QKeyEvent, QMouseEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import (
    QButtonGroup,
    QFrame,
    QGridLayout,
    QHBoxLayout,
    QLineEdit,
    QPushButton,
    QSpinBox,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from app import theme
from app.actions import ACTIONS
from app.notifications import plain_label
from app.tagging.rows import Row, Saved
from app.tagging.timeline import TagBar

if TYPE_CHECKING:
    from banana100_core.catalog.failure_modes import FailureMode
    from banana100_core.project.records import NewTag

SEVERITIES = ((1, "mild"), (2, "clear"), (3, "severe"))


class TagRow(QFrame):
    """A tag; `changed` carries the fields to change."""

    chosen = Signal(int)
    changed = Signal(int, dict)
    removed = Signal(int)
    retry_wanted = Signal()
    step_chosen = Signal(int)

    def __init__(self, row_id: int, mode: FailureMode, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.row_id = row_id
        self.mode = mode
        self._tag: NewTag | None = None
        self._open = False
        self.setObjectName("tag_row")
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAccessibleName(mode.name)
        self.name = plain_label(mode.name)
        self.place = plain_label(muted=True)
        self.bar = TagBar(mode.level)
        self.bar.step_chosen.connect(self.step_chosen)
        self.trouble = plain_label(wrap=True)
        self.trouble.setProperty("error", True)  # noqa: FBT003 - Qt takes the value by place
        self.retry = QPushButton("Retry")
        self.retry.clicked.connect(self.retry_wanted)
        self.editor = self._make_editor()
        head = QHBoxLayout()
        head.setSpacing(theme.GRID)
        head.addWidget(self.name, 1)
        head.addWidget(self.place)
        trouble = QHBoxLayout()
        trouble.setSpacing(theme.GRID)
        trouble.addWidget(self.trouble, 1)
        trouble.addWidget(self.retry, 0, Qt.AlignmentFlag.AlignTop)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(theme.GRID, theme.GRID // 2, theme.GRID, theme.GRID // 2)
        layout.setSpacing(theme.GRID // 2)
        layout.addLayout(head)
        layout.addWidget(self.bar)
        layout.addLayout(trouble)
        layout.addWidget(self.editor)
        self.set_open(on=False)

    def show_row(
        self, row: Row, *, own: bool, read_only: bool, last_step: int, step: int, numbered: bool = True
    ) -> None:
        """Show what the row says now, numbers of steps only if `numbered`; what is being typed stays."""
        tag = row.wanted
        if tag is None:
            return
        until = "→" if tag.end_step is None else f"→ {tag.end_step}"
        saving = " · saving" if row.state is Saved.SAVING else ""
        by = "" if own else f"{row.annotator} · "
        place = f"{tag.onset} {until}" if numbered else _beside(tag, step)
        self.place.setText(f"{by}{place}{saving}")
        for field in self._steps:
            field.setVisible(numbered)
        self.bar.show_tag(tag, last_step, step)
        self.bar.setVisible(numbered)
        failed = row.state is Saved.FAILED
        self.trouble.setText(f"Not saved: {row.reason}" if failed else "")
        self.trouble.setVisible(failed)
        self.retry.setVisible(failed)
        self.editor.setEnabled(own and not read_only)
        self.annotator.setText(f"by {row.annotator}")
        self.annotator.setVisible(not own)
        if tag != self._tag:
            self._tag = tag
            self._fill(tag, last_step)

    def set_open(self, *, on: bool) -> None:
        """Show the editor, or only the bar."""
        self._open = on
        self.editor.setVisible(on)
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Put the chosen row on a surface of its own."""
        super().paintEvent(event)
        if self._open or self.hasFocus():
            shown = theme.colours()
            painter = QPainter(self)
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.setPen(QColor(shown.accent) if self.hasFocus() else Qt.PenStyle.NoPen)
            painter.setBrush(QColor(shown.hover))
            painter.drawRoundedRect(self.rect().adjusted(0, 0, -1, -1), 4, 4)
            painter.end()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Choose this tag."""
        self.chosen.emit(self.row_id)
        self.setFocus()
        super().mousePressEvent(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Return and Space open the editor."""
        if event.key() in {Qt.Key.Key_Return, Qt.Key.Key_Space}:
            self.chosen.emit(self.row_id)
            return
        super().keyPressEvent(event)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Return and Escape leave a field, so that the letter keys work again."""
        if event.type() == QEvent.Type.KeyPress and isinstance(event, QKeyEvent):
            if event.key() == Qt.Key.Key_Escape:
                self._restore(watched)
                self.setFocus()
                return True
            if event.key() in {Qt.Key.Key_Return, Qt.Key.Key_Enter} and not event.modifiers():
                self.setFocus()
                return True
        return super().eventFilter(watched, event)

    def _make_editor(self) -> QWidget:
        self.onset = _number("Onset")
        self.end_step = _number("End step")
        self.end_step.setSpecialValueText("the end")
        self.certainty = _number("Certainty")
        self.certainty.setRange(0, 100)
        self.certainty.setSingleStep(10)
        self.certainty.setSuffix(" %")
        self.note = QLineEdit()
        self.note.setMaxLength(2**24)  # Qt would cut a long note that came from elsewhere
        self.note.setPlaceholderText("Note")
        self.note.setAccessibleName("Note")
        self.annotator = plain_label(muted=True)
        self.remove = QToolButton()
        self.remove.setIcon(theme.icon("trash"))
        self.remove.setAutoRaise(True)
        for field, tip, keys in (
            (self.onset, "First step at which it holds; its letter moves it to this step", ()),
            (self.end_step, "Last step at which it holds; the key ends it at this step", ("tag.end_here",)),
            (self.certainty, "How certain you are", ("tag.less_sure", "tag.surer")),
            (self.note, "What else is to be said", ("tag.note",)),
            (self.remove, "Delete this tag", ("tag.delete",)),
        ):
            field.setToolTip(_with_keys(tip, *keys))
        self.remove.setAccessibleName("Delete tag")
        severities = self._make_severities()
        for field in (self.onset, self.end_step, self.certainty, self.note):
            field.installEventFilter(self)
        self.onset.valueChanged.connect(lambda value: self._tell(onset=value))
        self.end_step.valueChanged.connect(lambda value: self._tell(end_step=self._end_of(value)))
        self.certainty.valueChanged.connect(lambda value: self._tell(certainty=value / 100))
        self.severity.idClicked.connect(lambda value: self._tell(severity=value))
        self.note.editingFinished.connect(lambda: self._tell(note=self.note.text()))
        self.remove.clicked.connect(lambda: self.removed.emit(self.row_id))
        return self._lay_out_editor(severities)

    def _make_severities(self) -> QHBoxLayout:
        self.severity = QButtonGroup(self)
        row = QHBoxLayout()
        row.setSpacing(0)
        for value, word in SEVERITIES:
            button = QToolButton()
            button.setText(str(value))
            button.setToolTip(_with_keys(f"Severity {value}: {word}", f"tag.severity_{value}"))
            button.setCheckable(True)
            self.severity.addButton(button, value)
            row.addWidget(button)
        row.addStretch(1)
        return row

    def _lay_out_editor(self, severities: QHBoxLayout) -> QWidget:
        editor = QWidget()
        grid = QGridLayout(editor)
        grid.setContentsMargins(0, theme.GRID // 2, 0, theme.GRID // 2)
        grid.setHorizontalSpacing(theme.GRID)
        grid.setVerticalSpacing(theme.GRID // 2)
        self._steps = (
            plain_label("Onset", muted=True),
            self.onset,
            plain_label("to", muted=True),
            self.end_step,
        )
        for column, field in enumerate(self._steps):
            grid.addWidget(field, 0, column)
        grid.addWidget(plain_label("Severity", muted=True), 1, 0)
        grid.addLayout(severities, 1, 1)
        grid.addWidget(plain_label("sure", muted=True), 1, 2)
        grid.addWidget(self.certainty, 1, 3)
        last = QHBoxLayout()
        last.addWidget(self.note, 1)
        last.addWidget(self.remove)
        grid.addLayout(last, 2, 0, 1, 4)
        grid.addWidget(self.annotator, 3, 0, 1, 4)
        grid.setColumnStretch(1, 1)
        grid.setColumnStretch(3, 1)
        return editor

    def _fill(self, tag: NewTag, last_step: int) -> None:
        with (
            QSignalBlocker(self.onset),
            QSignalBlocker(self.end_step),
            QSignalBlocker(self.certainty),
        ):
            self.onset.setRange(1, tag.end_step or last_step)
            self.onset.setValue(tag.onset)
            # The lowest value of the box stands for an open end.
            self.end_step.setRange(tag.onset - 1, max(last_step, tag.end_step or 0))
            self.end_step.setValue(tag.end_step if tag.end_step is not None else tag.onset - 1)
            self.certainty.setValue(round(tag.certainty * 100))
        if not self.note.hasFocus():
            self.note.setText(tag.note)
        button = self.severity.button(tag.severity)
        if button is not None:
            button.setChecked(True)

    def _end_of(self, value: int) -> int | None:
        return None if value == self.end_step.minimum() else value

    def _restore(self, field: QObject) -> None:
        if self._tag is not None and field is self.note:
            self.note.setText(self._tag.note)

    def _tell(self, **fields: object) -> None:
        if self._tag is not None and any(getattr(self._tag, name) != value for name, value in fields.items()):
            self.changed.emit(self.row_id, fields)


def _with_keys(tip: str, *keys: str) -> str:
    shown = [action.keys_shown for key in keys for action in ACTIONS if action.key == key]
    return f"{tip} ({' '.join(shown)})" if shown else tip


def _beside(tag: NewTag, step: int) -> str:
    """How the step on screen stands to a tag, where numbers are hidden."""
    if step < tag.onset:
        return "begins later"
    if tag.end_step is not None and step > tag.end_step:
        return "ended before"
    if step == tag.onset:
        return "begins and ends here" if step == tag.end_step else "begins here"
    return "ends here" if step == tag.end_step else "holds here"


def _number(name: str) -> QSpinBox:
    field = QSpinBox()
    field.setAccessibleName(name)
    field.setKeyboardTracking(False)
    field.setMinimumWidth(7 * theme.GRID)  # else a narrow panel would cut the rows
    field.lineEdit().setTextMargins(theme.GRID // 2, 0, 0, 0)
    return field
