"""The figures and histograms of a rectangle, of each picture on screen."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil
from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFontDatabase, QFontMetricsF, QPainter, QPolygonF
from PySide6.QtWidgets import QSizePolicy, QWidget

from app import theme
from banana100_core.imaging.statistics import CHANNELS, ChannelStatistics

if TYPE_CHECKING:
    from collections.abc import Sequence

    from PySide6.QtGui import QPaintEvent, QResizeEvent


_COLOURS = ("#e0524a", "#3fae5a", "#4a86e8")
_LINE = 2 * theme.GRID
_HISTOGRAM_HEIGHT = 7 * theme.GRID
_HEADINGS = ("mean", "sd", "min", "median", "max")
_LETTERS = (6, 6, 4, 7, 4)
"""What the longest figure of each column takes, with a space before it."""
_BLOCK = 5 * _LINE + _HISTOGRAM_HEIGHT + 2 * theme.GRID
_MARGINS, _CHANNEL = 2 * theme.GRID, 2 * theme.GRID
_WIDEST = 35 * theme.GRID


@dataclass(frozen=True, slots=True)
class Measured:
    """What a rectangle of one pane's picture is like."""

    name: str
    sides: tuple[int, int]
    channels: tuple[ChannelStatistics, ...]

    @property
    def text(self) -> str:
        """All figures, for copying and for those who hear the screen."""
        lines = [f"{self.name}, {self.sides[0]} × {self.sides[1]} pixels"]
        for name, found in zip(CHANNELS, self.channels, strict=True):
            lines.append(f"{name}  " + "  ".join(_figures(found)))
        return "\n".join(lines)


class RegionView(QWidget):
    """Figures and a histogram for each pane: side by side, or in rows where there is little room."""

    def __init__(self) -> None:
        super().__init__()
        self._measured: list[Measured] = []
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        fixed = QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont)
        fixed.setPointSizeF(max(7.0, self.font().pointSizeF() - 1))
        self._digits = fixed
        self._across = 1
        self._make_room()
        self.setAccessibleName("Statistics of the rectangle")
        theme.notifier().theme_changed.connect(self.update)

    @property
    def text(self) -> str:
        """All that is said."""
        return "\n".join(measured.text for measured in self._measured)

    def show_measured(self, measured: Sequence[Measured]) -> None:
        """Show the figures of each pane, the reference first."""
        self._measured = list(measured)
        self.setAccessibleDescription(self.text)
        self._make_room()
        self.update()

    def sizeHint(self) -> QSize:
        """As wide as there is room for."""
        return QSize(40 * theme.GRID, self.height())

    def resizeEvent(self, _event: QResizeEvent) -> None:
        """Begin a new row where figures would run into each other."""
        self._make_room()

    def _make_room(self) -> None:
        count = max(1, len(self._measured))
        needed = sum(_LETTERS) * QFontMetricsF(self._digits).horizontalAdvance("0") + _MARGINS + _CHANNEL
        rows = ceil(count / max(1, int(self.width() / needed)))
        self._across = ceil(count / rows)
        self.setFixedHeight(rows * _BLOCK)

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Draw the columns."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if not self._measured:
            painter.setPen(QColor(theme.colours().muted))
            text = "Draw a rectangle with the right mouse button to measure it"
            painter.drawText(self.rect(), Qt.AlignmentFlag.AlignCenter, text)
            return
        width = self.width() / self._across
        # One scale for all, so that heights can be compared.
        highest = max(
            float((found.histogram / found.histogram.sum()).max())
            for measured in self._measured
            for found in measured.channels
        )
        for place, measured in enumerate(self._measured):
            row, column = divmod(place, self._across)
            area = QRectF(column * width, row * _BLOCK + theme.GRID / 2, width, _BLOCK - theme.GRID)
            self._draw(painter, measured, area.adjusted(theme.GRID, 0, -theme.GRID, 0), highest)

    def _draw(self, painter: QPainter, measured: Measured, area: QRectF, highest: float) -> None:
        colours = theme.colours()
        left, top = area.left(), area.top()
        painter.setFont(self.font())
        painter.setPen(QColor(colours.text))
        sides = f"{measured.name} · {measured.sides[0]} × {measured.sides[1]} pixels"
        painter.drawText(QRectF(left, top, area.width(), _LINE), Qt.AlignmentFlag.AlignVCenter, sides)
        painter.setFont(self._digits)
        letter = min(_WIDEST, area.width() - _CHANNEL) / sum(_LETTERS)
        for row, words in enumerate([_HEADINGS, *(_figures(found) for found in measured.channels)]):
            line = top + (row + 1) * _LINE
            painter.setPen(QColor(colours.muted if row == 0 else colours.text))
            x = left + _CHANNEL
            for letters, word in zip(_LETTERS, words, strict=True):
                cell = QRectF(x, line, letters * letter, _LINE)
                painter.drawText(cell, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, word)
                x += letters * letter
            if row:
                painter.setPen(QColor(_COLOURS[row - 1]))
                painter.drawText(
                    QRectF(left, line, 2 * theme.GRID, _LINE),
                    Qt.AlignmentFlag.AlignVCenter,
                    CHANNELS[row - 1],
                )
        plot = QRectF(left, top + 5 * _LINE, area.width(), _HISTOGRAM_HEIGHT)
        painter.fillRect(plot, QColor(colours.field))
        for found, colour in zip(measured.channels, _COLOURS, strict=True):
            _draw_histogram(painter, found.histogram / found.histogram.sum() / highest, plot, QColor(colour))


def _draw_histogram(painter: QPainter, heights: np.ndarray, plot: QRectF, colour: QColor) -> None:
    # By the square root, so that rare values are seen beside frequent ones.
    points = [
        QPointF(
            plot.left() + (value + 0.5) * plot.width() / 256, plot.bottom() - height * (plot.height() - 2)
        )
        for value, height in enumerate(np.sqrt(heights))
    ]
    line = QPolygonF(points)
    painter.setPen(colour)
    painter.drawPolyline(line)
    colour = QColor(colour)
    colour.setAlpha(48)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(colour)
    painter.drawPolygon(QPolygonF([QPointF(plot.left(), plot.bottom()), *points, plot.bottomRight()]))


def _figures(found: ChannelStatistics) -> tuple[str, ...]:
    return (
        f"{found.mean:.2f}",
        f"{found.deviation:.2f}",
        str(found.low),
        f"{found.median:g}",
        str(found.high),
    )
