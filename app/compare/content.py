"""What a canvas shows: one picture, a wipe between two, or their difference."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import partial
from typing import TYPE_CHECKING, Protocol

import numpy as np
from PySide6.QtCore import QPointF
from PySide6.QtGui import QColor, QPainter, QPen, QPixmap

from app.compare.developed import Developed
from app.compare.legend import draw_badge, draw_legend, draw_look_mark
from app.compare.painting import (
    draw_picture,
    draw_pixel_grid,
    draw_pixel_values,
    draw_preview,
    on_screen,
    part_of,
    picture_size,
    rect_of,
    screen_pixels,
)
from app.compare.viewport import Bounds, Placement, Size, View, stretched
from banana100_core.imaging.comparison import DifferenceMode, colour_map, difference, largest_difference
from banana100_core.imaging.look import NEUTRAL, Channel, Look, channel_values, seen_through

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from app.compare.outlines.frame import Frame
    from app.compare.turns import Turn
    from banana100_core.imaging.pyramid import Pyramid

_PLACEHOLDER = QColor(128, 128, 128, 60)
_DIVIDER_LIGHT = QColor(255, 255, 255)
_DIVIDER_DARK = QColor(0, 0, 0, 120)


class Shades(StrEnum):
    """How a difference is drawn."""

    CHANNELS = "channels"  # each channel by itself
    GREY = "grey"  # the channel that changed most
    FALSE_COLOUR = "false-colour"  # the same, by a map that colour-blind eyes can read


@dataclass(frozen=True, slots=True)
class PaneImage:
    """One step's picture as far as it is known: its size first, then a preview, then its pixels.

    `message` stands in place of a picture that there is none of; `key` tells its pixels from others. `frame`
    tells of which step of the current run it is, whose regions are drawn over it.
    """

    size: Size | None = None
    pyramid: Pyramid | None = None
    preview: QPixmap | None = None
    message: str = ""
    key: str = ""
    frame: Frame | None = None

    @property
    def busy(self) -> bool:
        """Whether its pixels are on their way."""
        return self.size is not None and self.pyramid is None

    def turned(self, turn: Turn) -> PaneImage:
        """The same picture, mirrored or turned."""
        if turn.neutral or self.size is None:
            return self
        return replace(
            self,
            size=turn.size(self.size),
            pyramid=None if self.pyramid is None else turn.pyramid(self.pyramid),
            preview=None if self.preview is None else turn.pixmap(self.preview),
            key=f"{self.key} {turn.text}",
        )

    def draw(
        self,
        painter: QPainter,
        placement: Placement,
        clip: Bounds,
        display_scale: float,
        look: Look = NEUTRAL,
        developed: Developed | None = None,
    ) -> None:
        """Draw what there is of it within `clip`; what a look makes of its pixels is kept in `developed`."""
        if self.size is None:
            return
        if self.pyramid is not None:
            _draw_seen(painter, self.pyramid, placement, clip, look, developed or Developed())
            draw_pixel_grid(painter, self.size, placement, clip, display_scale)
            draw_pixel_values(painter, self.pyramid, placement, clip, display_scale)
            return
        if self.preview is None:
            painter.fillRect(rect_of(on_screen(self.size, placement, clip)), _PLACEHOLDER)
        else:
            draw_preview(painter, self.preview, self.size, placement, clip)


def _draw_seen(
    painter: QPainter,
    pyramid: Pyramid,
    placement: Placement,
    clip: Bounds,
    look: Look,
    developed: Developed,
) -> None:
    """Draw a picture as a look shows it."""

    def develop(level: int, bounds: Bounds) -> NDArray[np.uint8]:
        return seen_through(look, part_of(pyramid.levels[level], bounds))

    draw_picture(painter, pyramid, placement, clip, developed.of(pyramid, develop))


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

    def annotate(self, painter: QPainter, pane: Size, display_scale: float) -> None:
        """Write over the pane what must be known to read it."""


@dataclass(frozen=True, slots=True)
class One:
    """A single picture; a badge names it where it takes turns with another."""

    image: PaneImage
    look: Look = NEUTRAL
    badge: str = ""
    developed: Developed = field(default_factory=Developed, compare=False, repr=False)

    @property
    def message(self) -> str:
        """What the picture has to say for itself."""
        return self.image.message

    def paint(self, painter: QPainter, view: View, pane: Size, display_scale: float) -> None:
        """Paint the picture."""
        if self.image.size is not None:
            placement = view.place(self.image.size, pane)
            self.image.draw(painter, placement, whole(pane), display_scale, self.look, self.developed)

    def annotate(self, painter: QPainter, pane: Size, display_scale: float) -> None:
        """Write the badge and the mark of the look."""
        if self.badge:
            draw_badge(painter, self.badge, display_scale)
        draw_look_mark(painter, self.look, pane, display_scale)


@dataclass(frozen=True, slots=True)
class Wipe:
    """The reference left of a divider, the current picture right of it; `divider` is a part of the pane."""

    reference: PaneImage
    image: PaneImage
    divider: float = 0.5
    look: Look = NEUTRAL
    developed: tuple[Developed, Developed] = field(
        default_factory=lambda: (Developed(), Developed()), compare=False, repr=False
    )

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
        left, right = Bounds(0, 0, middle, pane.height), Bounds(middle, 0, pane.width, pane.height)
        self.reference.draw(painter, under, left, display_scale, self.look, self.developed[0])
        self.image.draw(painter, placement, right, display_scale, self.look, self.developed[1])
        _draw_divider(painter, middle, pane, display_scale)

    def annotate(self, painter: QPainter, pane: Size, display_scale: float) -> None:
        """Write the mark of the look."""
        draw_look_mark(painter, self.look, pane, display_scale)


@dataclass(frozen=True, slots=True)
class Difference:
    """What changed from the reference to the current picture, computed from the part of them on screen.

    The reference is resized to the current picture. FLIP alone is computed for whole pictures beforehand:
    `flip` holds its errors as grey levels.
    """

    reference: PaneImage
    image: PaneImage
    mode: DifferenceMode = DifferenceMode.SIGNED
    gain: float = 1.0
    shades: Shades = Shades.CHANNELS
    channel: Channel = Channel.COLOUR
    flip: PaneImage | None = None
    developed: Developed = field(default_factory=Developed, compare=False, repr=False)

    @property
    def message(self) -> str:
        """What either picture has to say."""
        return self.image.message or self.reference.message

    def paint(self, painter: QPainter, view: View, pane: Size, display_scale: float) -> None:
        """Paint the difference."""
        size = self.image.size
        if size is None or self.reference.size is None:
            return
        placement = view.place(size, pane)
        flipped = self.mode is DifferenceMode.FLIP
        shown = self.flip if flipped else self.image
        if shown is None or shown.pyramid is None or self.reference.pyramid is None:
            painter.fillRect(rect_of(on_screen(size, placement, whole(pane))), _PLACEHOLDER)
            return
        over = stretched(placement, size, picture_size(shown.pyramid))
        develop = (
            partial(_grey_levels, shown.pyramid)
            if flipped
            else partial(self._changes, self.reference.pyramid, shown.pyramid)
        )
        part = self.developed.of(shown.pyramid, develop, self._colour_table())
        draw_picture(painter, shown.pyramid, over, whole(pane), part)
        draw_pixel_grid(painter, size, placement, whole(pane), display_scale)

    def annotate(self, painter: QPainter, pane: Size, display_scale: float) -> None:
        """Draw the scale."""
        if self.image.size is None or self.reference.size is None or self.message:
            return
        if self.mode is DifferenceMode.FLIP and self.flip is None:
            draw_badge(painter, "Computing FLIP…", display_scale)
        low, middle, high = self.ends()
        draw_legend(painter, self._colour_table(), (low, middle, high), pane, display_scale)

    def ends(self) -> tuple[str, str, str]:
        """What the darkest, the middle and the brightest value of the scale mean."""
        match self.mode:
            case DifferenceMode.SIGNED:
                return f"−{128 / self.gain:.3g}", "0", f"+{127 / self.gain:.3g}"
            case DifferenceMode.ABSOLUTE:
                return "0", "", f"{255 / self.gain:.3g}"
            case DifferenceMode.RELATIVE:
                return "0", "", f"{100 / self.gain:.3g} %"
            case DifferenceMode.FLIP:
                return "0", "FLIP", "1"

    def _changes(self, reference: Pyramid, pyramid: Pyramid, level: int, bounds: Bounds) -> NDArray[np.uint8]:
        """What changed in a part of a level."""
        after = part_of(pyramid.levels[level], bounds)
        before = _resized(reference, pyramid, level, bounds)
        if self.channel is not Channel.COLOUR:
            before, after = channel_values(self.channel, before), channel_values(self.channel, after)
        how = difference if self.shades is Shades.CHANNELS else largest_difference
        return how(before, after, self.mode, self.gain)

    def _colour_table(self) -> list[int]:
        coloured = self.shades is Shades.FALSE_COLOUR
        table = colour_map(self.mode) if coloured else np.repeat(np.arange(256)[:, None], 3, axis=1)
        red, green, blue = table.astype(np.uint32).T
        colours: list[int] = (np.uint32(0xFF000000) | red << 16 | green << 8 | blue).tolist()
        return colours


def _resized(pyramid: Pyramid, other: Pyramid, level: int, bounds: Bounds) -> NDArray[np.uint8]:
    """The part of a picture that lies over `bounds` of a level of another one."""
    halvings = other.halvings[level]
    if pyramid.levels[0].shape == other.levels[0].shape and halvings in pyramid.halvings:
        return part_of(pyramid.levels[pyramid.halvings.index(halvings)], bounds)
    own, to = picture_size(pyramid), picture_size(other)
    over = Placement(0, 0, to.width / 2**halvings / own.width, to.height / 2**halvings / own.height)
    return screen_pixels(pyramid, over, bounds)


def _grey_levels(pyramid: Pyramid, level: int, bounds: Bounds) -> NDArray[np.uint8]:
    return np.ascontiguousarray(part_of(pyramid.levels[level], bounds)[..., 0])


def whole(pane: Size) -> Bounds:
    """All pixels of a pane."""
    return Bounds(0, 0, pane.width, pane.height)


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
