"""Where a picture lies in a pane: plain arithmetic in device pixels, shared by all linked panes."""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from dataclasses import dataclass, replace
from typing import NamedTuple

# Whole numbers above 1:1, so that every picture pixel covers equally many device pixels.
_ENLARGED = (1.0, 1.5, 2.0, 3.0, 4.0, 6.0, 8.0, 12.0, 16.0, 24.0, 32.0, 48.0, 64.0, 96.0, 128.0)
_REDUCED = tuple(2.0 ** (-half / 2) for half in range(20, 0, -1))
ZOOM_STOPS = _REDUCED + _ENLARGED
MAX_ZOOM = ZOOM_STOPS[-1]
MIN_SIDE = 16.0  # device pixels that the longer side of a picture keeps when zoomed out


class Size(NamedTuple):
    """Width and height: of a picture in its pixels, or of a pane in device pixels."""

    width: int
    height: int


_NO_FRAME = Size(1, 1)


class Bounds(NamedTuple):
    """A half-open rectangle of pixels."""

    left: int
    top: int
    right: int
    bottom: int

    @property
    def empty(self) -> bool:
        """Whether no pixel lies inside."""
        return self.right <= self.left or self.bottom <= self.top


class Region(NamedTuple):
    """A rectangle of a picture, in parts [0, 1] of its sides."""

    left: float
    top: float
    right: float
    bottom: float

    @property
    def width(self) -> float:
        """Its width, as a part of the picture's."""
        return self.right - self.left

    @property
    def height(self) -> float:
        """Its height, as a part of the picture's."""
        return self.bottom - self.top

    @classmethod
    def between(cls, one: tuple[float, float], other: tuple[float, float]) -> Region:
        """The part of the picture between two corners."""
        (left, right), (top, bottom) = (sorted(map(_within, pair)) for pair in zip(one, other, strict=True))
        return cls(left, top, right, bottom)

    def moved(self, right: float, down: float) -> Region:
        """The same rectangle further right and down; it may reach beyond the picture."""
        return Region(self.left + right, self.top + down, self.right + right, self.bottom + down)

    def pixels(self, size: Size) -> Bounds:
        """The pixels of a picture that it touches, one at least."""
        left = min(max(0, math.floor(self.left * size.width + 1e-6)), size.width - 1)
        top = min(max(0, math.floor(self.top * size.height + 1e-6)), size.height - 1)
        right = min(max(left + 1, math.ceil(self.right * size.width - 1e-6)), size.width)
        bottom = min(max(top + 1, math.ceil(self.bottom * size.height - 1e-6)), size.height)
        return Bounds(left, top, right, bottom)


@dataclass(frozen=True, slots=True)
class Placement:
    """A picture laid into a pane: `left`, `top` in whole device pixels, scales in device pixels per pixel."""

    left: int
    top: int
    scale_x: float
    scale_y: float

    def to_picture(self, x: float, y: float) -> tuple[float, float]:
        """The point of the picture, in its pixels, under a point of the pane."""
        return (x - self.left) / self.scale_x, (y - self.top) / self.scale_y

    def to_pane(self, x: float, y: float) -> tuple[float, float]:
        """The point of the pane, in device pixels, where a point of the picture lies."""
        return self.left + x * self.scale_x, self.top + y * self.scale_y

    def covered(self, size: Size) -> Bounds:
        """The device pixels that a picture of this size covers, on screen or off."""
        right, bottom = self.to_pane(size.width, size.height)
        return Bounds(self.left, self.top, round(right), round(bottom))

    def visible(self, size: Size, clip: Bounds) -> Bounds:
        """The pixels of the picture that lie, in whole or in part, within `clip` of the pane."""
        left, top = self.to_picture(clip.left, clip.top)
        right, bottom = self.to_picture(clip.right, clip.bottom)
        return Bounds(
            max(0, math.floor(left)),
            max(0, math.floor(top)),
            min(size.width, math.ceil(right)),
            min(size.height, math.ceil(bottom)),
        )


@dataclass(frozen=True, slots=True)
class View:
    """What all linked panes look at.

    `x`, `y` is the point in the middle of the pane, as a part [0, 1] of the picture's width and height.
    `zoom` is in device pixels per pixel of a picture as large as `frame`; a picture of another size is scaled
    to lie within the same frame, so that equal places of both pictures stay at equal places of their panes.
    No zoom means that each picture is fitted to its pane.
    """

    x: float = 0.5
    y: float = 0.5
    zoom: float | None = None
    frame: Size = _NO_FRAME

    def scale(self, picture: Size, pane: Size) -> float:
        """Device pixels per pixel of this picture."""
        if self.zoom is None:
            return fit_scale(picture, pane)
        return self.zoom * min(self.frame.width / picture.width, self.frame.height / picture.height)

    def place(self, picture: Size, pane: Size) -> Placement:
        """Lay a picture into a pane; its corner lies on a whole device pixel, so that 1:1 is exact."""
        scale = self.scale(picture, pane)
        return Placement(
            round(pane.width / 2 - self.x * picture.width * scale),
            round(pane.height / 2 - self.y * picture.height * scale),
            scale,
            scale,
        )

    def zoomed_to(self, scale: float, at: tuple[float, float], picture: Size, pane: Size) -> View:
        """Zoom to `scale` for this picture; what lies under the point `at` of the pane stays under it."""
        scale = min(max(scale, min(1.0, MIN_SIDE / max(picture))), MAX_ZOOM)
        old = self.scale(picture, pane)
        from_middle = at[0] - pane.width / 2, at[1] - pane.height / 2
        change = 1 / old - 1 / scale
        return View(
            _within(self.x + from_middle[0] * change / picture.width),
            _within(self.y + from_middle[1] * change / picture.height),
            scale,
            picture,
        )

    def zoomed_in(self, at: tuple[float, float], picture: Size, pane: Size) -> View:
        """Zoom to the next larger stop."""
        scale = self.scale(picture, pane)
        stop = bisect_right(ZOOM_STOPS, scale * 1.001)
        return self.zoomed_to(ZOOM_STOPS[min(stop, len(ZOOM_STOPS) - 1)], at, picture, pane)

    def zoomed_out(self, at: tuple[float, float], picture: Size, pane: Size) -> View:
        """Zoom to the next smaller stop."""
        scale = self.scale(picture, pane)
        stop = bisect_left(ZOOM_STOPS, scale * 0.999) - 1
        return self.zoomed_to(ZOOM_STOPS[max(stop, 0)], at, picture, pane)

    def panned(self, dx: float, dy: float, picture: Size, pane: Size) -> View:
        """Move the picture by device pixels."""
        scale = self.scale(picture, pane)
        return replace(
            self,
            x=_within(self.x - dx / (picture.width * scale)),
            y=_within(self.y - dy / (picture.height * scale)),
            zoom=scale,
            frame=picture,
        )

    def fitted(self) -> View:
        """Show the whole of each picture."""
        return View()

    def filled(self, picture: Size, pane: Size) -> View:
        """Show the middle of the picture, as large as leaves nothing of the pane uncovered."""
        return View().zoomed_to(
            filling_scale(picture, pane), (pane.width / 2, pane.height / 2), picture, pane
        )

    def to_region(self, region: Region, picture: Size, pane: Size) -> View:
        """Show a rectangle of the picture as large as fits."""
        sides = Size(
            max(1, round(region.width * picture.width)), max(1, round(region.height * picture.height))
        )
        scale = min(fit_scale(sides, pane), MAX_ZOOM)
        return View(
            _within(region.left + region.width / 2), _within(region.top + region.height / 2), scale, picture
        )

    def moved(self, right: float, down: float) -> View:
        """Look further right and down, by parts of the picture's sides."""
        return self if right == down == 0 else replace(self, x=self.x + right, y=self.y + down)

    def actual(self, at: tuple[float, float], picture: Size, pane: Size) -> View:
        """One pixel of this picture on one device pixel."""
        return self.zoomed_to(1.0, at, picture, pane)


def filling_scale(picture: Size, pane: Size) -> float:
    """The scale at which the picture just leaves nothing of the pane uncovered."""
    return max(pane.width / picture.width, pane.height / picture.height)


def fit_scale(picture: Size, pane: Size) -> float:
    """The scale at which the whole picture just fits the pane."""
    return max(min(pane.width / picture.width, pane.height / picture.height), 1e-6)


def stretched(placement: Placement, shown: Size, other: Size) -> Placement:
    """Lay a picture of `other` size over exactly the place that one of `shown` size has."""
    return Placement(
        placement.left,
        placement.top,
        placement.scale_x * shown.width / other.width,
        placement.scale_y * shown.height / other.height,
    )


def pixel_under(x: float, y: float, picture: Size) -> tuple[int, int] | None:
    """The pixel at a place given as parts of width and height, or None outside the picture."""
    column, row = math.floor(x * picture.width), math.floor(y * picture.height)
    inside = 0 <= column < picture.width and 0 <= row < picture.height
    return (column, row) if inside else None


def zoom_text(scale: float) -> str:
    """A scale in words: `1:1`, `6×`, `37 %`."""
    if math.isclose(scale, 1.0, rel_tol=1e-6):
        return "1:1"
    if scale > 1.0:
        return f"{scale:.3g}×"
    return f"{scale * 100:.0f} %" if scale >= 0.1 else f"{scale * 100:.1f} %"


def _within(value: float) -> float:
    return min(max(value, 0.0), 1.0)
