"""What a canvas shows: one picture, a wipe between two, or their difference."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from PySide6.QtCore import QPointF, QRect, QRectF
from PySide6.QtGui import QColor, QPainter, QPen, QPixmap

from app.compare.painting import (
    cropped,
    draw_picture,
    draw_pixel_grid,
    draw_pixel_values,
    on_screen,
    screen_pixels,
)
from app.compare.viewport import Bounds, Placement, Size, View, stretched
from banana100_core.imaging.comparison import DifferenceMode, difference

if TYPE_CHECKING:
    from banana100_core.imaging.pyramid import Pyramid

_PLACEHOLDER = QColor(128, 128, 128, 60)
_DIVIDER_LIGHT = QColor(255, 255, 255)
_DIVIDER_DARK = QColor(0, 0, 0, 120)


@dataclass(frozen=True, slots=True, eq=False)
class PaneImage:
    """One step's picture as far as it is known: its size first, then a preview, then its pixels.

    `message` stands in place of a picture that there is none of.
    """

    size: Size | None = None
    pyramid: Pyramid | None = None
    preview: QPixmap | None = None
    message: str = ""

    @property
    def busy(self) -> bool:
        """Whether its pixels are on their way."""
        return self.size is not None and self.pyramid is None

    def draw(self, painter: QPainter, placement: Placement, clip: Bounds, display_scale: float) -> None:
        """Draw what there is of it within `clip`."""
        if self.size is None:
            return
        if self.pyramid is not None:
            draw_picture(painter, self.pyramid, placement, clip)
            draw_pixel_grid(painter, self.size, placement, clip, display_scale)
            draw_pixel_values(painter, self.pyramid, placement, clip, display_scale)
            return
        area = _rect(placement.covered(self.size))
        painter.save()
        painter.setClipRect(_rect(clip))
        if self.preview is None:
            painter.fillRect(area, _PLACEHOLDER)
        else:
            painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
            painter.drawPixmap(QRectF(area), self.preview, QRectF(self.preview.rect()))
        painter.restore()


class Content(Protocol):
    """Something that a canvas can show."""

    @property
    def image(self) -> PaneImage:
        """The picture that zoom and position refer to."""

    @property
    def message(self) -> str:
        """Plain text to show in place of a picture, if any."""

    def paint(self, painter: QPainter, view: View, pane: Size, display_scale: float) -> None:
        """Paint onto a pane; the painter's unit is a device pixel."""


@dataclass(frozen=True, slots=True, eq=False)
class One:
    """A single picture."""

    image: PaneImage

    @property
    def message(self) -> str:
        """What the picture has to say for itself."""
        return self.image.message

    def paint(self, painter: QPainter, view: View, pane: Size, display_scale: float) -> None:
        """Paint the picture."""
        if self.image.size is not None:
            placement = view.place(self.image.size, pane)
            self.image.draw(painter, placement, whole(pane), display_scale)


@dataclass(frozen=True, slots=True, eq=False)
class Wipe:
    """The reference left of a divider, the current picture right of it; `divider` is a part of the pane."""

    reference: PaneImage
    image: PaneImage
    divider: float = 0.5

    @property
    def message(self) -> str:
        """What either picture has to say."""
        return self.image.message or self.reference.message

    def divider_at(self, pane: Size) -> int:
        """Where the divider is, in device pixels."""
        return round(self.divider * pane.width)

    def paint(self, painter: QPainter, view: View, pane: Size, display_scale: float) -> None:
        """Paint both halves; the reference is stretched to the current picture's place."""
        if self.image.size is None or self.reference.size is None:
            return
        placement = view.place(self.image.size, pane)
        under = stretched(placement, self.image.size, self.reference.size)
        middle = self.divider_at(pane)
        self.reference.draw(painter, under, Bounds(0, 0, middle, pane.height), display_scale)
        self.image.draw(painter, placement, Bounds(middle, 0, pane.width, pane.height), display_scale)
        _draw_divider(painter, middle, pane, display_scale)


@dataclass(frozen=True, slots=True, eq=False)
class Difference:
    """What changed from the reference to the current picture, computed from the pixels on screen."""

    reference: PaneImage
    image: PaneImage
    mode: DifferenceMode = DifferenceMode.SIGNED
    gain: float = 1.0

    @property
    def message(self) -> str:
        """What either picture has to say."""
        return self.image.message or self.reference.message

    def paint(self, painter: QPainter, view: View, pane: Size, display_scale: float) -> None:
        """Paint the difference; the reference is resized to the current picture's place."""
        size, other = self.image.size, self.reference.size
        if size is None or other is None:
            return
        placement = view.place(size, pane)
        area = on_screen(size, placement, whole(pane))
        if self.image.pyramid is None or self.reference.pyramid is None:
            painter.fillRect(_rect(area), _PLACEHOLDER)
            return
        if area.empty:
            return
        shown = difference(
            screen_pixels(self.reference.pyramid, stretched(placement, size, other), area),
            screen_pixels(self.image.pyramid, placement, area),
            self.mode,
            self.gain,
        )
        image = cropped(shown, Bounds(0, 0, area.right - area.left, area.bottom - area.top))
        painter.drawImage(area.left, area.top, image)
        draw_pixel_grid(painter, size, placement, area, display_scale)


def whole(pane: Size) -> Bounds:
    """All pixels of a pane."""
    return Bounds(0, 0, pane.width, pane.height)


def _rect(bounds: Bounds) -> QRect:
    return QRect(bounds.left, bounds.top, bounds.right - bounds.left, bounds.bottom - bounds.top)


def _draw_divider(painter: QPainter, x: int, pane: Size, display_scale: float) -> None:
    """A line with a grip in its middle, told from light and from dark pictures."""
    line = max(1, round(display_scale))
    painter.fillRect(x - 2 * line, 0, 3 * line, pane.height, _DIVIDER_DARK)
    painter.fillRect(x - line, 0, line, pane.height, _DIVIDER_LIGHT)
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(QPen(_DIVIDER_DARK, line))
    painter.setBrush(_DIVIDER_LIGHT)
    middle, radius = QPointF(x - line / 2, pane.height / 2), 11 * display_scale
    painter.drawEllipse(middle, radius, radius)
    painter.setPen(QPen(QColor("#404040"), 1.5 * display_scale))
    for side in (-1, 1):
        tip = middle + QPointF(side * 6.5 * display_scale, 0)
        for up in (-1, 1):
            painter.drawLine(tip, tip + QPointF(-side * 3 * display_scale, up * 3 * display_scale))
    painter.restore()
