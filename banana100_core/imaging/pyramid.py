"""Halved copies of a picture, so that drawing it small costs little."""

from __future__ import annotations

from bisect import bisect_right
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from math import ceil, log2
from typing import TYPE_CHECKING

import numpy as np
from PIL import Image as Pillow

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

_SMALLEST_SIDE = 64
_THREADS = 2
_BLOCK_LEVELS = 7
BLOCK_ROWS = 2**_BLOCK_LEVELS
"""Rows of the full picture that are reduced together."""
_MANY_PIXELS = 2_000_000  # from here on, the level of halves is worth leaving for later


@dataclass(frozen=True, slots=True, eq=False)
class Pyramid:
    """A picture and its halves, uint8 BGRX (height, width, 4) each; level 0 is the full picture.

    `halvings` tells how often each level was halved: 0, 1, 2 ..., without the 1 while that is not made yet.
    """

    levels: list[NDArray[np.uint8]] = field(repr=False)
    halvings: tuple[int, ...]

    @property
    def nbytes(self) -> int:
        """Bytes that all levels hold."""
        return sum(level.nbytes for level in self.levels)

    def level_for(self, scale: float) -> int:
        """Return the coarsest level with at least a pixel for each drawn one; `scale` is drawn over full."""
        if scale >= 1:
            return 0
        return bisect_right(self.halvings, log2(1 / max(scale, 1e-9)) + 1e-9) - 1


def build(bgrx: NDArray[np.uint8]) -> Pyramid:
    """Return the pyramid of a uint8 picture (height, width, 4), down to a longer side of 64 or less.

    The first two halvings are means of 2x2 and 4x4 pixels, the others of 2x2 of the level before, rounded
    half up; in an odd last row or column of those that there are.
    """
    *_first, whole = build_in_stages(bgrx)
    return whole


def build_in_stages(bgrx: NDArray[np.uint8]) -> Iterator[Pyramid]:
    """Yield the pyramid of a large picture without its level of halves first, then every pyramid whole."""
    pyramid = begin(np.ascontiguousarray(bgrx))
    tops = range(0, bgrx.shape[0], BLOCK_ROWS)
    if len(tops) == 1:
        reduce_block(pyramid, 0)
    else:
        with ThreadPoolExecutor(_THREADS, "pyramid") as threads:
            list(threads.map(partial(reduce_block, pyramid), tops))
    yield from finish(pyramid)


def begin(bgrx: NDArray[np.uint8]) -> Pyramid:
    """Return the pyramid of a picture with all other levels still to be filled, by `reduce_block` first."""
    levels = [bgrx]
    while max(levels[-1].shape[:2]) > _SMALLEST_SIDE:
        height, width = levels[-1].shape[:2]
        levels.append(np.empty((ceil(height / 2), ceil(width / 2), 4), np.uint8))
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


def finish(pyramid: Pyramid) -> Iterator[Pyramid]:
    """Yield as `build_in_stages` does, once all blocks are reduced."""
    for level in range(_BLOCK_LEVELS + 1, len(pyramid.levels)):  # too coarse for blocks
        _reduce(pyramid, level, 0, pyramid.levels[level - 1].shape[0])
    levels = pyramid.levels
    if len(levels) > 2 and levels[0].shape[0] * levels[0].shape[1] >= _MANY_PIXELS:
        yield Pyramid([levels[0], *levels[2:]], (0, *pyramid.halvings[2:]))
    if len(levels) > 1:  # on this thread alone: it is not urgent
        for top in range(0, levels[0].shape[0], BLOCK_ROWS):
            _reduce(pyramid, 1, top, top + BLOCK_ROWS)
    yield pyramid


def _reduce(pyramid: Pyramid, level: int, top: int, bottom: int) -> None:
    """Fill what a level has of the rows of the finer level that it is made from."""
    shrunk = 4 if level == 2 else 2
    finer, coarser = pyramid.levels[0 if level == 2 else level - 1], pyramid.levels[level]
    height, width = finer.shape[:2]
    bottom = min(bottom, height)
    # Pillow's loop over four equal bands takes half the time of numpy's; the mode's name is of no matter.
    picture = Pillow.frombuffer("RGBX", (width, height), finer, "raw", "RGBX", 0, 1)
    reduced = np.asarray(picture.reduce(shrunk, (0, top, width, bottom)))
    coarser[top // shrunk : ceil(bottom / shrunk)] = reduced
