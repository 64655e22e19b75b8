"""Halved copies of a picture, so that drawing it small costs little."""

from __future__ import annotations

from bisect import bisect_right
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from math import ceil, log2
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

_SMALLEST_SIDE = 64
_THREADS = 2
_BLOCK_LEVELS = 7
BLOCK_ROWS = 2**_BLOCK_LEVELS
"""Rows of the full picture that are reduced together."""
_SUMS_BYTES = 2**18  # held at once; larger ones leave the processor's cache, and are new memory each time
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
    tops = range(0, rgb.shape[0], BLOCK_ROWS)
    if len(tops) == 1:
        reduce_block(pyramid, 0)
    else:
        with ThreadPoolExecutor(_THREADS, "pyramid") as threads:
            list(threads.map(partial(reduce_block, pyramid), tops))
    return finish(pyramid)


def begin(rgb: NDArray[np.uint8]) -> Pyramid:
    """Return the pyramid of a picture with all other levels still to be filled, by `reduce_block` first."""
    height, width = rgb.shape[:2]
    levels = [rgb]
    while max(height, width) > _SMALLEST_SIDE:
        height, width = ceil(height / 2), ceil(width / 2)
        levels.append(np.empty((height, width, 3), np.uint8))
    return Pyramid(levels, tuple(range(len(levels))))


def reduce_block(pyramid: Pyramid, top: int) -> None:
    """Fill all but the halves of BLOCK_ROWS rows from `top`, a multiple of it; blocks on any threads.

    A block stays in the processor's cache, and is so short that no other thread waits for Python.
    """
    rows = BLOCK_ROWS
    for level in range(2, min(len(pyramid.levels), _BLOCK_LEVELS + 1)):
        _reduce(pyramid, level, top, top + rows)
        shrunk = 4 if level == 2 else 2
        top, rows = top // shrunk, rows // shrunk


def finish(pyramid: Pyramid) -> Pyramid:
    """Return the pyramid as `build` does, once all blocks are reduced."""
    for level in range(_BLOCK_LEVELS + 1, len(pyramid.levels)):  # too coarse for blocks
        _reduce(pyramid, level, 0, pyramid.levels[level - 1].shape[0])
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
        for top in range(0, pyramid.levels[0].shape[0], BLOCK_ROWS):
            _reduce(pyramid, 1, top, top + BLOCK_ROWS)


def _reduce(pyramid: Pyramid, level: int, top: int, bottom: int) -> None:
    """Fill what a level has of the rows of the finer level that it is made from."""
    shrunk = 4 if level == 2 else 2
    finer, coarser = pyramid.levels[0 if level == 2 else level - 1], pyramid.levels[level]
    bottom = min(bottom, len(finer))
    at_once = max(1, _SUMS_BYTES // (6 * finer.shape[1])) * shrunk
    for start in range(top, bottom, at_once):
        reduced = _means(finer[start : min(bottom, start + at_once)], shrunk)
        coarser[start // shrunk : start // shrunk + len(reduced)] = reduced


def _means(pixels: NDArray[np.uint8], side: int) -> NDArray[np.uint8]:
    """The means of blocks of 2x2 or 4x4 pixels; where a last block is not whole, its last pixels count again.

    Sums along whole rows take a third of the time of numpy's mean over an axis, and of Pillow's reduce.
    """
    beyond = [-extent % side for extent in pixels.shape[:2]]
    if any(beyond):
        pixels = np.pad(pixels, ((0, beyond[0]), (0, beyond[1]), (0, 0)), mode="edge")
    height, width = pixels.shape[0] // side, pixels.shape[1] // side
    rows = pixels.reshape(height, side, -1)
    sums = rows[:, 0].astype(np.uint16)
    for row in range(1, side):
        sums += rows[:, row]
    for step in range(1, side, 2):  # a pixel and the next, then two and the next two
        apart = 3 * (step + 1) // 2
        sums = sums[:, :-apart] + sums[:, apart:]
    # Those of each block's first pixel; moved as wholes, which takes a third of the time.
    of_blocks = np.ndarray((height, width), "V6", sums.data, strides=(sums.strides[0], 6 * side))
    means = np.ascontiguousarray(of_blocks).view(np.uint16)
    means += np.uint16(side * side // 2)
    means >>= np.uint16(side.bit_length() * 2 - 2)
    return means.astype(np.uint8).reshape(height, width, 3)
