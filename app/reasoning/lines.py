"""Lists of places in the study: a title, a note at its right, and text in which words are marked."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import (
    QAbstractListModel,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    QRect,
    QSize,
    Qt,
    Signal,
)
from PySide6.QtGui import QColor, QFont, QFontMetrics, QPainter
from PySide6.QtWidgets import QFrame, QListView, QStyle, QStyledItemDelegate, QStyleOptionViewItem

from app import theme
from app.elided import shortened
from app.tooltips import plain_tip

if TYPE_CHECKING:
    from collections.abc import Sequence

Index = QModelIndex | QPersistentModelIndex
_HALF = theme.GRID // 2
_SPACES = re.compile(r"\s+")


@dataclass(frozen=True, slots=True)
class Line:
    """A step of a run, and what is to be said of it; `pieces` are text, True where it is marked."""

    run_id: int
    step: int
    title: str
    note: str
    pieces: tuple[tuple[str, bool], ...]

    @property
    def text(self) -> str:
        """The pieces as one text on one line."""
        return " ".join("".join(text for text, _marked in self.pieces).split())


class Lines(QAbstractListModel):
    """The lines of a list."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.lines: list[Line] = []

    def show(self, lines: Sequence[Line]) -> None:
        """Show these lines."""
        if list(lines) != self.lines:
            self.beginResetModel()
            self.lines = list(lines)
            self.endResetModel()

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 - Qt's own signature
        """Give the number of lines."""
        return 0 if parent.isValid() else len(self.lines)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:  # noqa: ANN401 - Qt's own
        """Give a line, and its words for tooltips and screen readers."""
        line = self.lines[index.row()]
        if role == Qt.ItemDataRole.UserRole:
            return line
        if role == Qt.ItemDataRole.DisplayRole:
            return f"{line.title}, {line.note}: {line.text}"
        if role == Qt.ItemDataRole.ToolTipRole:
            return plain_tip(f"{line.title}\n{line.note}\n{line.text}")
        return None


class LineList(QListView):
    """Shows lines; one click, or Enter, goes where a line leads."""

    chosen = Signal(object)  # Line

    def __init__(self, name: str) -> None:
        super().__init__()
        self.lines = Lines(self)
        self.setModel(self.lines)
        self.setItemDelegate(_LineDelegate(self))
        self.setAccessibleName(name)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setUniformItemSizes(True)
        self.setMouseTracking(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.clicked.connect(self._choose)
        self.activated.connect(self._choose)

    def _choose(self, index: QModelIndex) -> None:
        self.chosen.emit(index.data(Qt.ItemDataRole.UserRole))


class _LineDelegate(QStyledItemDelegate):
    def sizeHint(self, option: QStyleOptionViewItem, _index: Index) -> QSize:
        height: int = option.fontMetrics.height()
        return QSize(20 * theme.GRID, 2 * height + theme.GRID)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        line: Line = index.data(Qt.ItemDataRole.UserRole)
        shown = theme.colours()
        painter.save()
        if option.state & (QStyle.StateFlag.State_Selected | QStyle.StateFlag.State_MouseOver):
            selected = option.state & QStyle.StateFlag.State_Selected
            painter.fillRect(option.rect, QColor(shown.selected if selected else shown.hover))
        room: QRect = option.rect.adjusted(theme.GRID, _HALF, -theme.GRID, -_HALF)
        metrics: QFontMetrics = option.fontMetrics
        upper = QRect(room.left(), room.top(), room.width(), metrics.height())
        painter.setPen(QColor(shown.text))
        told = min(metrics.horizontalAdvance(line.note), upper.width() // 3) + 2 * theme.GRID
        title = shortened(metrics, line.title, upper.width() - told)
        painter.drawText(upper, Qt.AlignmentFlag.AlignVCenter, title)
        note = upper.adjusted(metrics.horizontalAdvance(title) + 2 * theme.GRID, 0, 0, 0)
        painter.setPen(QColor(shown.muted))
        words = shortened(metrics, line.note, note.width())
        painter.drawText(note, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight, words)
        lower = upper.translated(0, metrics.height())
        _draw_pieces(painter, lower, line.pieces, option.font)
        painter.restore()


def _draw_pieces(painter: QPainter, room: QRect, pieces: Sequence[tuple[str, bool]], font: QFont) -> None:
    """Draw text on one line, what is marked in the text's own colour and bold."""
    shown = theme.colours()
    left = room.left()
    bold = QFont(font)
    bold.setWeight(QFont.Weight.DemiBold)
    for piece, marked in pieces:
        text = _SPACES.sub(" ", piece)
        painter.setFont(bold if marked else font)
        painter.setPen(QColor(shown.text if marked else shown.muted))
        metrics = painter.fontMetrics()
        width = room.right() - left
        if width <= 0:
            return
        elided = metrics.elidedText(text, Qt.TextElideMode.ElideRight, width)
        painter.drawText(QRect(left, room.top(), width, room.height()), Qt.AlignmentFlag.AlignVCenter, elided)
        left += metrics.horizontalAdvance(text)
