"""What is written over a pane: the scale of a difference, the name of what blinks, the mark of a look."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QImage, QPainter

from app import theme

if TYPE_CHECKING:
    from app.compare.viewport import Size
    from banana100_core.imaging.look import Look

_PLATE = QColor(20, 20, 20, 205)
_INK = QColor(240, 240, 240)
_TEXT_HEIGHT = 12
_BAR_WIDTH, _BAR_HEIGHT = 24 * theme.GRID, theme.GRID


def draw_badge(painter: QPainter, text: str, display_scale: float) -> None:
    """Name what is shown, in the upper left corner."""
    with _Plates(painter, display_scale) as plates:
        plates.text(text, theme.GRID, theme.GRID, QColor(theme.ACCENT))


def draw_look_mark(painter: QPainter, look: Look, pane: Size, display_scale: float) -> None:
    """Say in the lower right corner that the picture isn't shown as it is."""
    if look.neutral:
        return
    with _Plates(painter, display_scale) as plates:
        width, height = plates.size(look.text)
        right, bottom = pane.width / display_scale, pane.height / display_scale
        plates.text(look.text, right - width - theme.GRID, bottom - height - theme.GRID, _PLATE)


def draw_legend(
    painter: QPainter, colours: list[int], marks: tuple[str, str, str], pane: Size, display_scale: float
) -> None:
    """Draw the scale of a difference in the lower left corner, with what its ends and its middle mean."""
    with _Plates(painter, display_scale) as plates:
        grid = theme.GRID
        width, height = _BAR_WIDTH + 2 * grid, _BAR_HEIGHT + _TEXT_HEIGHT + 2 * grid + grid // 2
        top = pane.height / display_scale - height - grid
        plates.plate(QRectF(grid, top, width, height), _PLATE)
        bar = QImage(256, 1, QImage.Format.Format_RGB32)
        for value, colour in enumerate(colours):
            bar.setPixel(value, 0, colour)
        painter.drawImage(QRectF(2 * grid, top + grid, _BAR_WIDTH, _BAR_HEIGHT), bar)
        painter.setPen(_INK)
        row = QRectF(2 * grid, top + grid + _BAR_HEIGHT + grid // 2, _BAR_WIDTH, _TEXT_HEIGHT)
        sides = (Qt.AlignmentFlag.AlignLeft, Qt.AlignmentFlag.AlignHCenter, Qt.AlignmentFlag.AlignRight)
        for side, text in zip(sides, marks, strict=True):
            painter.drawText(row, side | Qt.AlignmentFlag.AlignVCenter, text)


class _Plates:
    """Draws in device-independent pixels while it is entered."""

    def __init__(self, painter: QPainter, display_scale: float) -> None:
        self._painter = painter
        self._scale = display_scale
        self._font = QFont(theme.base_font())
        self._font.setPixelSize(_TEXT_HEIGHT)

    def __enter__(self) -> Self:
        self._painter.save()
        self._painter.scale(self._scale, self._scale)
        self._painter.setFont(self._font)
        self._painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        return self

    def __exit__(self, *_error: object) -> None:
        self._painter.restore()

    def size(self, text: str) -> tuple[float, float]:
        """Width and height of a plate with this text."""
        width = QFontMetricsF(self._font).horizontalAdvance(text)
        return width + 2 * theme.GRID, _TEXT_HEIGHT + 1.5 * theme.GRID

    def text(self, text: str, left: float, top: float, colour: QColor) -> None:
        """Draw a plate with text."""
        rect = QRectF(left, top, *self.size(text))
        self.plate(rect, colour)
        self._painter.setPen(_INK)
        self._painter.drawText(rect, Qt.AlignmentFlag.AlignCenter, text)

    def plate(self, rect: QRectF, colour: QColor) -> None:
        """Draw a plate."""
        self._painter.setPen(Qt.PenStyle.NoPen)
        self._painter.setBrush(colour)
        self._painter.drawRoundedRect(rect, theme.GRID / 2, theme.GRID / 2)
