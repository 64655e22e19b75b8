"""How a curve looks: colour, dash and marker, so that no two of 23 look alike even without colour."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QPointF, QSize, Qt
from PySide6.QtGui import QColor, QIcon, QPainter, QPainterPath, QPen, QPixmap

from app import theme

DASHES: tuple[tuple[float, ...], ...] = ((), (6.0, 3.0), (1.5, 2.5), (7.0, 2.5, 1.5, 2.5))
MARKERS = ("o", "s", "t", "d", "t1", "p", "h", "star")
SWATCH = QSize(32, 16)
_LEAST_CONTRAST = 2.4


@dataclass(frozen=True, slots=True)
class Look:
    """A curve's appearance; `dash` in pen widths, empty for a solid line; `marker` a symbol of pyqtgraph."""

    colour: str
    dash: tuple[float, ...]
    marker: str

    def pen(self, width: float = 1.5, *, dashes_of: float | None = None) -> QPen:
        """A cosmetic pen for the line; its dashes may be those of a line of another width."""
        pen = QPen(QColor(self.colour), width)
        pen.setCosmetic(True)
        pen.setCapStyle(Qt.PenCapStyle.FlatCap)
        pen.setJoinStyle(Qt.PenJoinStyle.BevelJoin)
        if self.dash:
            scale = (dashes_of or width) / width
            pen.setDashPattern([scale * length for length in self.dash])
        return pen


def look(index: int) -> Look:
    """Give the look of the curve at a place: a metric's in the catalog, a run's in the list."""
    round_, place = divmod(index, len(theme.CURVE_COLOURS))
    return Look(
        readable(theme.CURVE_COLOURS[place], theme.colours().field),
        DASHES[round_ % len(DASHES)],
        MARKERS[(place + 3 * round_) % len(MARKERS)],
    )


def readable(colour: str, surface: str) -> str:
    """Move a colour away from the surface until it can be seen on it, keeping its hue."""
    shade, ground = QColor(colour), QColor(surface)
    dark = luminance(ground) < 0.2
    for _ in range(12):
        if contrast(shade, ground) >= _LEAST_CONTRAST:
            break
        shade = shade.lighter(112) if dark else shade.darker(112)
    return shade.name()


def contrast(one: QColor, other: QColor) -> float:
    """WCAG's contrast ratio of two colours, 1 to 21."""
    high, low = sorted((luminance(one), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def luminance(colour: QColor) -> float:
    """WCAG's relative luminance, 0 to 1."""

    def linear(part: float) -> float:
        return part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4

    return 0.2126 * linear(colour.redF()) + 0.7152 * linear(colour.greenF()) + 0.0722 * linear(colour.blueF())


def swatch(shown: Look) -> QIcon:
    """A piece of the line with its marker, for legends."""
    from pyqtgraph.graphicsItems.ScatterPlotItem import (
        Symbols,
    )  # not at the top: the legend comes after the plot

    pixmap = QPixmap(SWATCH * 2)
    pixmap.setDevicePixelRatio(2.0)
    pixmap.fill(Qt.GlobalColor.transparent)
    painter = QPainter(pixmap)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(shown.pen(2.0))
    middle = SWATCH.height() / 2
    painter.drawLine(QPointF(0, middle), QPointF(SWATCH.width(), middle))
    symbol: QPainterPath = Symbols[shown.marker]
    painter.translate(SWATCH.width() / 2, middle)
    painter.scale(8.0, 8.0)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.fillPath(symbol, QColor(shown.colour))
    painter.end()
    return QIcon(pixmap)
