"""Text that gives way, with an ellipsis, where there is no room for all of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QColor, QFont, QFontMetrics, QPainter
from PySide6.QtWidgets import QSizePolicy, QWidget

from app import theme
from app.tooltips import plain_tip

if TYPE_CHECKING:
    from PySide6.QtGui import QPaintEvent, QResizeEvent

MIDDLE, RIGHT = Qt.TextElideMode.ElideMiddle, Qt.TextElideMode.ElideRight


_BETWEEN = " · "
_LEAST, _ENOUGH = 5, 10
"""A part of a name is cut to no fewer letters than these, about; with so many, none needs to leave."""


def shortened(metrics: QFontMetrics, name: str, width: int, *, may_drop: bool = False) -> str:
    """As much of a name as a width holds.

    Its longest parts are cut first, in their middle: what tells names apart is at either end of each part.
    Where that would leave hardly a letter, the whole is cut as one. With `may_drop` the last parts, while
    they are short or not the longest, leave before others are cut to little.
    """
    name = name.replace("\n", " ")
    if metrics.horizontalAdvance(name) <= width:
        return name
    parts = name.split(_BETWEEN)
    while len(parts) > 1:
        room = width - (len(parts) - 1) * metrics.horizontalAdvance(_BETWEEN)
        widths = [metrics.horizontalAdvance(part) for part in parts]
        letter = metrics.averageCharWidth()
        share = _share(widths, room)
        leaves = may_drop and (widths[-1] < max(widths) or len(parts[-1]) <= _ENOUGH)
        if share >= (_ENOUGH if leaves else _LEAST) * letter:
            return _BETWEEN.join(metrics.elidedText(part, MIDDLE, share) for part in parts)
        if not leaves:
            break
        parts.pop()
    return metrics.elidedText(_BETWEEN.join(parts), MIDDLE, width)


def _share(widths: list[int], room: int) -> int:
    """How wide a part may be at most, so that all of them fit."""
    left = room
    for count, width in zip(range(len(widths), 0, -1), sorted(widths), strict=True):
        if width * count > left:
            return left // count
        left -= width
    return max(widths)


class ElidedText(QWidget):
    """One line of plain text; where it is cut, a tooltip tells it whole."""

    def __init__(self, role: str, *, is_name: bool = False, strong: bool = False) -> None:
        super().__init__()
        self._role = role
        self._is_name = is_name
        self._text = ""
        if strong:
            font = QFont(self.font())
            font.setWeight(QFont.Weight.DemiBold)
            self.setFont(font)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Preferred)
        theme.notifier().theme_changed.connect(self.update)

    @property
    def text(self) -> str:
        """The whole text."""
        return self._text

    def set_text(self, text: str) -> None:
        """Show another text."""
        if text != self._text:
            self._text = text
            self.setAccessibleName(text)
            self.setVisible(bool(text))
            self._tell_whole()
            self.updateGeometry()
            self.update()

    def sizeHint(self) -> QSize:
        """As wide as the text."""
        metrics = self.fontMetrics()
        return QSize(metrics.horizontalAdvance(self._text) + 2, metrics.height())

    def minimumSizeHint(self) -> QSize:
        """A few letters."""
        return QSize(min(3 * theme.GRID, self.sizeHint().width()), self.fontMetrics().height())

    def resizeEvent(self, _event: QResizeEvent) -> None:
        """Qt's: more or less is told."""
        self._tell_whole()

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Draw as much of the text as fits."""
        painter = QPainter(self)
        painter.setPen(QColor(getattr(theme.colours(), self._role)))
        painter.drawText(
            self.rect(), Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, self._shown_text()
        )

    def _shown_text(self) -> str:
        if self._is_name:
            return shortened(self.fontMetrics(), self._text, self.width())
        return self.fontMetrics().elidedText(self._text, RIGHT, self.width())

    def _tell_whole(self) -> None:
        self.setToolTip("" if self._shown_text() == self._text else plain_tip(self._text))
