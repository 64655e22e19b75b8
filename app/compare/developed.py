"""What a look or a comparison makes of a picture: computed for the part on screen, and kept for panning."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtCore import QRect
from PySide6.QtGui import QImage, QPainter

from app.compare.painting import image_of, level_size
from app.compare.viewport import Bounds, Size

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from banana100_core.imaging.pyramid import Pyramid

    Develop = Callable[[int, Bounds], NDArray[np.uint8]]
    Part = Callable[[int, Bounds], tuple[QImage, QRect]]

GREYS = [0xFF000000 | 0x010101 * level for level in range(256)]
_LEVELS_KEPT = 2


@dataclass
class _Sheet:
    """A part of a level; `done` is what of it has been developed."""

    frame: Bounds
    image: QImage
    done: Bounds


class Developed:
    """The pixels of one content that have been computed, in the picture's own levels.

    Panning computes only what comes into view; zooming only where the level changes. Each level keeps one
    part, half a screen larger all round than what was looked at when it was begun.
    """

    def __init__(self) -> None:
        self._sheets: OrderedDict[int, _Sheet] = OrderedDict()

    def of(self, pyramid: Pyramid, develop: Develop, colours: Sequence[int] = GREYS) -> Part:
        """Return what gives an image with a part of a level, and where in it the part lies.

        `develop` computes a part of a level, as RGB (H, W, 3) or as levels (H, W) that stand for `colours`;
        both are always the same.
        """
        return lambda level, bounds: self._part(level, bounds, pyramid, develop, colours)

    def _part(
        self, level: int, bounds: Bounds, pyramid: Pyramid, develop: Develop, colours: Sequence[int]
    ) -> tuple[QImage, QRect]:
        sheet = self._sheets.get(level)
        if sheet is None or not _contains(sheet.frame, bounds):
            sheet = self._sheets[level] = _begun(_widened(bounds, level_size(pyramid, level)), bounds, sheet)
        self._sheets.move_to_end(level)
        while len(self._sheets) > _LEVELS_KEPT:
            self._sheets.popitem(last=False)
        if _common(sheet.done, bounds).empty:
            sheet.done = _nothing_of(bounds)
        painter = QPainter(sheet.image)
        for missing in _missing(sheet.done, bounds):
            pixels = develop(level, missing)
            image = image_of(pixels)
            if pixels.ndim == 2:
                image.setColorTable(colours)
            painter.drawImage(_within(sheet.frame, missing).topLeft(), image)
            sheet.done = _around(sheet.done, missing)
        painter.end()
        return sheet.image, _within(sheet.frame, bounds)


def _begun(frame: Bounds, bounds: Bounds, old: _Sheet | None) -> _Sheet:
    """A sheet for a frame, with what an old one has of it where that reaches the part asked for."""
    image = QImage(frame.right - frame.left, frame.bottom - frame.top, QImage.Format.Format_RGB32)
    sheet = _Sheet(frame, image, _nothing_of(bounds))
    if old is not None:
        kept = _common(old.done, frame)
        if not _common(kept, bounds).empty:
            painter = QPainter(image)
            painter.drawImage(_within(frame, kept).topLeft(), old.image, _within(old.frame, kept))
            painter.end()
            sheet.done = kept
    return sheet


def _missing(done: Bounds, wanted: Bounds) -> Iterator[Bounds]:
    """What must be added to one rectangle so that a rectangle comes of it which contains another."""
    if done.empty:
        yield wanted
        return
    whole = _around(done, wanted)
    for strip in (
        Bounds(whole.left, done.top, done.left, done.bottom),
        Bounds(done.right, done.top, whole.right, done.bottom),
        Bounds(whole.left, whole.top, whole.right, done.top),
        Bounds(whole.left, done.bottom, whole.right, whole.bottom),
    ):
        if not strip.empty:
            yield strip


def _nothing_of(bounds: Bounds) -> Bounds:
    return Bounds(bounds.left, bounds.top, bounds.left, bounds.top)


def _widened(bounds: Bounds, size: Size) -> Bounds:
    across, down = (bounds.right - bounds.left) // 4, (bounds.bottom - bounds.top) // 4
    return Bounds(
        max(0, bounds.left - across),
        max(0, bounds.top - down),
        min(size.width, bounds.right + across),
        min(size.height, bounds.bottom + down),
    )


def _common(one: Bounds, other: Bounds) -> Bounds:
    return Bounds(
        max(one.left, other.left),
        max(one.top, other.top),
        min(one.right, other.right),
        min(one.bottom, other.bottom),
    )


def _around(one: Bounds, other: Bounds) -> Bounds:
    """The smallest rectangle that contains both."""
    if one.empty:
        return other
    return Bounds(
        min(one.left, other.left),
        min(one.top, other.top),
        max(one.right, other.right),
        max(one.bottom, other.bottom),
    )


def _contains(outer: Bounds, inner: Bounds) -> bool:
    return _common(outer, inner) == inner


def _within(frame: Bounds, part: Bounds) -> QRect:
    return QRect(part.left - frame.left, part.top - frame.top, part.right - part.left, part.bottom - part.top)
