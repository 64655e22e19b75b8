"""Halved copies of a picture, so that drawing it small costs little."""

from __future__ import annotations

from bisect import bisect_right
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from math import ceil, log2
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

_SMALLEST_SIDE = 64
_SUMS_BYTES = 2**19  # held twice; more leave the processor's cache, less are many more calls of numpy
_MANY_PIXELS = 2_000_000  # from here on, the level of halves is made only when it is asked for


@dataclass(frozen=True, slots=True, eq=False)
class Pyramid:
    """A picture and its halves, uint8 RGB (height, width, 3) each; level 0 is the full picture.

    `halvings` tells how often each level was halved: 0, 1, 2 ..., in large pictures without the 1, which
    takes a quarter as much memory as the picture and is seen only at scales that need it: see `with_halves`.
    """

    levels: list[NDArray[np.uint8]] = field(repr=False)
    halvings: tuple[int, ...]

    @property
    def nbytes(self) -> int:
        """Bytes that all levels hold."""
        return sum(level.nbytes for level in self.levels)

    @property
    def lacks_halves(self) -> bool:
        """Whether the level of halves is left out."""
        return 1 not in self.halvings[:2] and len(self.levels) > 1

    def level_for(self, scale: float) -> int:
        """Return the coarsest level with at least a pixel for each drawn one; `scale` is drawn over full.

        The next coarser one stands in for halves that are left out.
        """
        halvings = max(0.0, log2(1 / max(scale, 1e-9))) + 1e-9
        level = bisect_right(self.halvings, halvings) - 1
        return 1 if level == 0 and halvings >= 1 and self.lacks_halves else level


def build(rgb: NDArray[np.uint8]) -> Pyramid:
    """Return the pyramid of a uint8 picture (height, width, 3), down to a longer side of 64 or less.

    The first two halvings are means of 2x2 and 4x4 pixels, the others of 2x2 of the level before, rounded
    half up.
    """
    pyramid = begin(np.ascontiguousarray(rgb))
    height, width = rgb.shape[:2]
    if height * width < _MANY_PIXELS:
        reduce_rows(pyramid, 0, height, Sums())
    else:
        middle = height // 8 * 4
        with ThreadPoolExecutor(1, "pyramid") as thread:
            below = thread.submit(reduce_rows, pyramid, middle, height, Sums())
            reduce_rows(pyramid, 0, middle, Sums())
            below.result()
    return finish(pyramid)


def begin(rgb: NDArray[np.uint8]) -> Pyramid:
    """Return the pyramid of a picture with all other levels still to be filled, by `reduce_rows` first."""
    height, width = rgb.shape[:2]
    levels = [rgb]
    while max(height, width) > _SMALLEST_SIDE:
        height, width = ceil(height / 2), ceil(width / 2)
        levels.append(np.empty((height, width, 3), np.uint8))
    return Pyramid(levels, tuple(range(len(levels))))


class Sums:
    """Memory for the sums of one thread: new memory each time would take longer than adding up."""

    def __init__(self) -> None:
        self._pair = np.empty((2, 0), np.uint16)

    def of(self, height: int, width: int) -> tuple[NDArray[np.uint16], NDArray[np.uint16]]:
        """Return two arrays (height, width), as they were left."""
        size = height * width
        if self._pair.shape[1] < size:
            self._pair = np.empty((2, size), np.uint16)
        one, other = (memory[:size].reshape(height, width) for memory in self._pair)
        return one, other


def reduce_rows(pyramid: Pyramid, top: int, bottom: int, sums: Sums) -> None:
    """Fill what the quarters have of some rows of the picture; `top` and those between are multiples of 4.

    Parts may be reduced on any threads, each with sums of its own.
    """
    if len(pyramid.levels) > 2:
        _reduce(pyramid, 2, top, bottom, sums)


def finish(pyramid: Pyramid) -> Pyramid:
    """Return the pyramid as `build` does, once all rows are reduced."""
    sums = Sums()
    for level in range(3, len(pyramid.levels)):
        _reduce(pyramid, level, 0, len(pyramid.levels[level - 1]), sums)
    height, width = pyramid.levels[0].shape[:2]
    if height * width >= _MANY_PIXELS:
        return Pyramid([pyramid.levels[0], *pyramid.levels[2:]], (0, *pyramid.halvings[2:]))
    _fill_halves(pyramid)
    return pyramid


def with_halves(pyramid: Pyramid) -> Pyramid:
    """Return a pyramid with no level left out, which shares the others with the one given."""
    if not pyramid.lacks_halves:
        return pyramid
    height, width = pyramid.levels[0].shape[:2]
    halves = np.empty((ceil(height / 2), ceil(width / 2), 3), np.uint8)
    whole = Pyramid([pyramid.levels[0], halves, *pyramid.levels[1:]], (0, 1, *pyramid.halvings[1:]))
    _fill_halves(whole)
    return whole


def _fill_halves(pyramid: Pyramid) -> None:
    if len(pyramid.levels) > 1:
        _reduce(pyramid, 1, 0, len(pyramid.levels[0]), Sums())


def _reduce(pyramid: Pyramid, level: int, top: int, bottom: int, sums: Sums) -> None:
    """Fill what a level has of the rows of the finer level that it is made from."""
    side = 4 if level == 2 else 2
    finer, coarser = pyramid.levels[0 if level == 2 else level - 1], pyramid.levels[level]
    at_once = max(1, _SUMS_BYTES // (2 * finer[0].size)) * side
    for start in range(top, bottom, at_once):
        pixels = finer[start : min(bottom, start + at_once)]
        beyond = [-extent % side for extent in pixels.shape[:2]]
        if any(beyond):
            pixels = np.pad(pixels, ((0, beyond[0]), (0, beyond[1]), (0, 0)), mode="edge")
        _put_means(coarser[start // side : (start + len(pixels)) // side], pixels, side, sums)


def _put_means(means: NDArray[np.uint8], pixels: NDArray[np.uint8], side: int, sums: Sums) -> None:
    """Fill an array with the means of blocks of 2x2 or 4x4 pixels.

    Sums along whole rows take a third of the time of numpy's mean over an axis, and of Pillow's reduce.
    """
    height, width = means.shape[:2]
    rows = pixels.reshape(height, side, -1)
    added, other = sums.of(height, rows.shape[2])
    np.add(rows[:, 0], rows[:, 1], out=added, dtype=np.uint16)
    for row in range(2, side):
        added += rows[:, row]
    for step in range(1, side, 2):  # a pixel and the next, then two and the next two
        apart = 3 * (step + 1) // 2
        np.add(added[:, :-apart], added[:, apart:], out=other[:, :-apart])
        added, other = other, added
    # Those of each block's first pixel; moved as wholes, which takes a third of the time.
    firsts = np.ndarray((height, width), "V6", added.data, strides=(added.strides[0], 6 * side))
    totals = other.reshape(-1)[: means.size]
    totals.view("V6").reshape(height, width)[:] = firsts
    totals += np.uint16(side * side // 2)
    totals >>= np.uint16(side.bit_length() * 2 - 2)
    means[:] = totals.reshape(means.shape)
