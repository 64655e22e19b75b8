"""The sheet of keys, made from the table of actions and the taxonomy."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QKeySequence
from PySide6.QtWidgets import QDialog, QGridLayout, QHBoxLayout, QLabel, QScrollArea, QVBoxLayout, QWidget

from app import theme
from app.actions import ACTIONS, Context
from app.notifications import plain_label
from banana100_core.catalog.failure_modes import FailureMode, failure_modes

if TYPE_CHECKING:
    from collections.abc import Iterable

Row = tuple[str, list[str]]

COLUMNS = 3


def sections(modes: Iterable[FailureMode] | None = None) -> list[tuple[str, list[Row]]]:
    """What the sheet shows: a title, then what is done and the keys that do it.

    `modes` are the failure modes of a project; without one, those of the catalog.
    """
    found: list[tuple[str, list[Row]]] = []
    with_keys = [action for action in ACTIONS if action.shortcut]
    for menu, members in groupby(with_keys, key=lambda action: action.menu.partition("/")[0]):
        rows: list[Row] = []
        for action in members:
            title = " · ".join((*action.menu.split("/")[1:], action.title))
            if action.context is not Context.WINDOW:
                title = f"{title} ({action.context})"
            native = QKeySequence.SequenceFormat.NativeText
            rows.append((title, [sequence.toString(native) for sequence in action.sequences]))
        found.append((menu, rows))
    known = failure_modes().values() if modes is None else modes
    tags = [(mode.name, [mode.shortcut.upper()]) for mode in known if mode.shortcut]
    found.append(("Tag a failure mode from this step on", tags))
    return _joined(found)


def _joined(found: list[tuple[str, list[Row]]]) -> list[tuple[str, list[Row]]]:
    joined: dict[str, list[Row]] = {}
    for title, rows in found:
        joined.setdefault(title, []).extend(rows)
    return list(joined.items())


class KeysSheet(QDialog):
    """Shows what each key does; Escape leaves."""

    def __init__(self, parent: QWidget | None = None, modes: Iterable[FailureMode] | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle("Keys")
        content = QWidget()
        columns = QHBoxLayout(content)
        columns.setContentsMargins(3 * theme.GRID, 3 * theme.GRID, 3 * theme.GRID, 3 * theme.GRID)
        columns.setSpacing(5 * theme.GRID)
        for part in _balanced(sections(modes)):
            column = QVBoxLayout()
            column.setSpacing(3 * theme.GRID)
            for title, rows in part:
                column.addLayout(_section(title, rows))
            column.addStretch(1)
            columns.addLayout(column, 1)
        area = QScrollArea()
        area.setWidget(content)
        area.setWidgetResizable(True)
        area.setFrameShape(QScrollArea.Shape.NoFrame)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(area)
        wanted = content.sizeHint() + QSize(3 * theme.GRID, theme.GRID)
        self.resize(wanted if parent is None else wanted.boundedTo(parent.window().size()))


def _balanced(parts: list[tuple[str, list[Row]]]) -> list[list[tuple[str, list[Row]]]]:
    columns: list[list[tuple[str, list[Row]]]] = [[] for _column in range(COLUMNS)]
    heights = [0] * COLUMNS
    for part in sorted(parts, key=lambda each: -len(each[1])):
        shortest = heights.index(min(heights))
        columns[shortest].append(part)
        heights[shortest] += len(part[1]) + 2
    return columns


def _section(title: str, rows: list[Row]) -> QGridLayout:
    grid = QGridLayout()
    grid.setHorizontalSpacing(2 * theme.GRID)
    grid.setVerticalSpacing(theme.GRID // 2)
    heading = plain_label(title)
    heading.setProperty("strong", True)  # noqa: FBT003 - Qt takes the value by place
    grid.addWidget(heading, 0, 0, 1, 2)
    for row, (text, keys) in enumerate(rows, start=1):
        grid.addWidget(plain_label(text, muted=True), row, 0)
        caps = QHBoxLayout()
        caps.setSpacing(theme.GRID // 2)
        caps.addStretch(1)
        for key in keys:
            caps.addWidget(_cap(key))
        grid.addLayout(caps, row, 1)
    grid.setColumnStretch(0, 1)
    return grid


def _cap(key: str) -> QLabel:
    cap = plain_label(key)
    cap.setProperty("key", True)  # noqa: FBT003 - Qt takes the value by place
    cap.setAlignment(Qt.AlignmentFlag.AlignCenter)
    return cap
