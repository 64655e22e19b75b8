"""A tag as a bar over the steps of its run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QMouseEvent, QPainter, QPaintEvent, QPolygonF
from PySide6.QtWidgets import QSizePolicy, QWidget

from app import theme

if TYPE_CHECKING:
    from banana100_core.catalog.failure_modes import Level
    from banana100_core.project.records import NewTag

HEIGHT = 16


class TagBar(QWidget):
    """From onset to end over all steps; an open end is an arrow. A click goes to a step."""

    step_chosen = Signal(int)

    def __init__(self, level: Level, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._level = level
        self._tag: NewTag | None = None
        self._last_step = 1
        self._step = 0
        self.setFixedHeight(HEIGHT)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setCursor(Qt.CursorShape.PointingHandCursor)

    def show_tag(self, tag: NewTag, last_step: int, step: int) -> None:
        """Show a tag of a run that has steps up to `last_step`, and where the current step is."""
        if (tag, last_step, step) != (self._tag, self._last_step, self._step):
            self._tag, self._last_step, self._step = tag, max(1, last_step), step
            self.update()

    def step_at(self, x: float) -> int:
        """The step under a place of the bar."""
        share = x / max(1, self.width())
        return min(self._last_step, max(1, 1 + int(share * self._last_step)))

    def sizeHint(self) -> QSize:
        """As wide as there is room."""
        return QSize(20 * theme.GRID, HEIGHT)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Go to the step under the pointer."""
        self.step_chosen.emit(self.step_at(event.position().x()))

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Paint track, bar and current step."""
        if self._tag is None:
            return
        shown = theme.colours()
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        middle = self.height() / 2
        painter.setBrush(QColor(shown.line))
        painter.drawRoundedRect(QRectF(0, middle - 2, self.width(), 4), 2, 2)
        left = self._x(self._tag.onset - 1)
        right = self._x(self._tag.end_step if self._tag.end_step is not None else self._last_step)
        painter.setBrush(theme.level_colour(self._level))
        if self._tag.end_step is None:
            tip = min(6.0, right - left)
            painter.drawRect(QRectF(left, middle - 4, right - left - tip, 8))
            painter.drawPolygon(
                QPolygonF(
                    [
                        QPointF(right - tip, middle - 6),
                        QPointF(right, middle),
                        QPointF(right - tip, middle + 6),
                    ]
                )
            )
        else:
            painter.drawRoundedRect(QRectF(left, middle - 4, max(3.0, right - left), 8), 2, 2)
        if self._step >= 1:
            painter.setBrush(QColor(shown.accent))
            centre = self._x(self._step - 0.5)
            painter.drawRect(QRectF(centre - 1, 0, 2, self.height()))
        painter.end()

    def _x(self, steps: float) -> float:
        return self.width() * min(steps, self._last_step) / self._last_step
