"""Halved copies of a picture, so that drawing it small costs little."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from math import ceil, floor, log2
from typing import TYPE_CHECKING

import numpy as np
from PIL import Image as Pillow

if TYPE_CHECKING:
    from numpy.typing import NDArray

_SMALLEST_SIDE = 64
_STRIP_ROWS = 64
_THREADS = 2


@dataclass(frozen=True, slots=True)
class Pyramid:
    """A picture and its halves, uint8 BGRX (height, width, 4) each; level 0 is the full picture."""

    levels: list[NDArray[np.uint8]] = field(repr=False)

    @property
    def nbytes(self) -> int:
        """Bytes that all levels hold."""
        return sum(level.nbytes for level in self.levels)

    def level_for(self, scale: float) -> int:
        """Return the coarsest level with at least a pixel for each drawn one; `scale` is drawn over full."""
        if scale >= 1:
            return 0
        return min(floor(log2(1 / max(scale, 1e-9)) + 1e-9), len(self.levels) - 1)


def build(bgrx: NDArray[np.uint8]) -> Pyramid:
    """Return the pyramid of a uint8 picture (height, width, 4), down to a longer side of 64 or less."""
    levels = [np.ascontiguousarray(bgrx)]
    with ThreadPoolExecutor(_THREADS, "halve") as threads:  # begins none for pictures of a strip
        while max(levels[-1].shape[:2]) > _SMALLEST_SIDE:
            levels.append(_halved(levels[-1], threads))
    return Pyramid(levels)


def halve(bgrx: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Return the 2x2 box means of a uint8 picture (height, width, 4), rounded half up.

    An odd last row or column is kept.
    """
    with ThreadPoolExecutor(_THREADS, "halve") as threads:
        return _halved(np.ascontiguousarray(bgrx), threads)


def _halved(bgrx: NDArray[np.uint8], threads: ThreadPoolExecutor) -> NDArray[np.uint8]:
    height, width = bgrx.shape[:2]
    half = np.empty((ceil(height / 2), ceil(width / 2), 4), np.uint8)
    # Pillow's loop over four equal bands, which takes half the time of numpy's; its name is of no matter.
    picture = Pillow.frombuffer("RGBX", (width, height), bgrx, "raw", "RGBX", 0, 1)

    def fill(top: int) -> None:
        rows = 0, 2 * top, width, min(2 * (top + _STRIP_ROWS), height)
        half[top : top + _STRIP_ROWS] = np.asarray(picture.reduce(2, rows))

    # In strips that stay in the processor's cache, and so short that no other thread waits for Python.
    strips = range(0, half.shape[0], _STRIP_ROWS)
    list(map(fill, strips) if len(strips) == 1 else threads.map(fill, strips))
    return half
