"""The sheet of keys, made from the table of actions and the taxonomy."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QKeySequence
from PySide6.QtWidgets import (
    QDialog,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from app import theme
from app.actions import ACTIONS, Context
from app.notifications import plain_label
from banana100_core.catalog.failure_modes import FailureMode, failure_modes

if TYPE_CHECKING:
    from collections.abc import Iterable

Row = tuple[str, list[str]]
Section = tuple[str, list[Row]]

TAGS = "Tag a failure mode from this step on"
_COLUMN = 44 * theme.GRID
"""Room that a column takes; there are as many as fit beside each other."""


def sections(modes: Iterable[FailureMode] | None = None) -> list[Section]:
    """What the sheet shows: a menu or one within it, then what is done and the keys that do it.

    `modes` are the failure modes of a project; without one, those of the catalog.
    """
    known = failure_modes().values() if modes is None else modes
    tags = [(mode.name, [mode.shortcut.upper()]) for mode in known if mode.shortcut]
    found: dict[str, list[Row]] = {TAGS: tags}
    native = QKeySequence.SequenceFormat.NativeText
    for action in ACTIONS:
        if action.shortcut:
            where = "" if action.context is Context.WINDOW else f" ({action.context})"
            keys = [sequence.toString(native) for sequence in action.sequences]
            found.setdefault(action.menu.replace("/", " · "), []).append((f"{action.title}{where}", keys))
    return list(found.items())


class KeysSheet(QDialog):
    """Shows what each key does; words or keys written narrow it down, Escape leaves."""

    def __init__(self, parent: QWidget | None = None, modes: Iterable[FailureMode] | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle("Keys")
        self.field = QLineEdit()
        self.field.setPlaceholderText("Find by words, or by keys such as Ctrl+D")
        self.field.setClearButtonEnabled(True)
        self.field.textChanged.connect(self._narrow)
        self._nothing = plain_label("No key does anything of that name.", muted=True)
        self._nothing.hide()
        self._parts = [_Part(title, rows) for title, rows in sections(modes)]
        content = QWidget()
        columns = QHBoxLayout(content)
        columns.setContentsMargins(2 * theme.GRID, theme.GRID, 2 * theme.GRID, 2 * theme.GRID)
        columns.setSpacing(4 * theme.GRID)
        room = parent.window().width() if parent is not None else 3 * _COLUMN
        for parts in _columns(self._parts, max(room // _COLUMN, 1)):
            column = QVBoxLayout()
            column.setSpacing(0)
            for part in parts:
                column.addWidget(part.widget)
            column.addStretch(1)
            columns.addLayout(column, 1)
        area = QScrollArea()
        area.setWidget(content)
        area.setWidgetResizable(True)
        area.setFrameShape(QScrollArea.Shape.NoFrame)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 2 * theme.GRID, 0, 0)
        layout.setSpacing(theme.GRID)
        head = QVBoxLayout()
        head.setContentsMargins(2 * theme.GRID, 0, 2 * theme.GRID, 0)
        head.addWidget(self.field)
        head.addWidget(self._nothing)
        layout.addLayout(head)
        layout.addWidget(area, 1)
        wanted = content.sizeHint() + QSize(3 * theme.GRID, 8 * theme.GRID)
        if parent is not None:
            wanted = wanted.boundedTo(parent.window().size() - QSize(4 * theme.GRID, 8 * theme.GRID))
        self.resize(wanted)

    def shown(self) -> list[str]:
        """What the rows say that are shown now."""
        return [line.text for part in self._parts for line in part.lines if not line.hidden]

    def _narrow(self, words: str) -> None:
        for part in self._parts:
            part.narrow(words)
        self._nothing.setVisible(not self.shown())


@dataclass(eq=False, slots=True)
class _Line:
    text: str
    findable: str
    widgets: list[QWidget] = field(default_factory=list)
    hidden: bool = False


class _Part:
    """A section: its heading and its rows."""

    def __init__(self, title: str, rows: list[Row]) -> None:
        self.widget = QWidget()
        self.lines: list[_Line] = []
        grid = QGridLayout(self.widget)
        grid.setContentsMargins(0, theme.GRID, 0, theme.GRID)
        grid.setHorizontalSpacing(2 * theme.GRID)
        grid.setVerticalSpacing(theme.GRID // 2)
        heading = plain_label(title)
        heading.setProperty("strong", True)  # noqa: FBT003 - Qt takes the value by place
        grid.addWidget(heading, 0, 0, 1, 2)
        for row, (text, keys) in enumerate(rows, start=1):
            name, caps = plain_label(text, muted=True), _caps(keys)
            grid.addWidget(name, row, 0)
            grid.addWidget(caps, row, 1)
            findable = " ".join((title, text, *keys)).casefold()
            self.lines.append(_Line(text, findable, [name, caps]))
        grid.setColumnStretch(0, 1)

    @property
    def height(self) -> int:
        """In rows."""
        return len(self.lines) + 2

    def narrow(self, words: str) -> None:
        """Show the rows in which each of the words occurs; nothing of the section without any."""
        wanted = words.casefold().split()
        for line in self.lines:
            line.hidden = not all(word in line.findable for word in wanted)
            for widget in line.widgets:
                widget.setVisible(not line.hidden)
        self.widget.setVisible(not all(line.hidden for line in self.lines))


def _columns(parts: list[_Part], count: int) -> list[list[_Part]]:
    """In the order of the menus, about as many rows in each."""
    most = sum(part.height for part in parts) / count
    columns: list[list[_Part]] = [[]]
    height = 0.0
    for part in parts:
        # A part stands where its middle falls.
        if columns[-1] and height + part.height / 2 > most * len(columns) and len(columns) < count:
            columns.append([])
        columns[-1].append(part)
        height += part.height
    return columns


def _caps(keys: list[str]) -> QWidget:
    box = QWidget()
    row = QHBoxLayout(box)
    row.setContentsMargins(0, 0, 0, 0)
    row.setSpacing(theme.GRID // 2)
    row.addStretch(1)
    for key in keys:
        cap: QLabel = plain_label(key)
        cap.setProperty("key", True)  # noqa: FBT003 - Qt takes the value by place
        cap.setAlignment(Qt.AlignmentFlag.AlignCenter)
        row.addWidget(cap)
    return box
