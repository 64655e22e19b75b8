"""Halved copies of a picture, so that drawing it small costs little."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import ceil, floor, log2
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

_SMALLEST_SIDE = 64
_STRIP_ROWS = 64


@dataclass(frozen=True, slots=True)
class Pyramid:
    """A picture and its halves, uint8 RGB each; level 0 is the full picture."""

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


def build(pixels: NDArray[np.uint8]) -> Pyramid:
    """Return the pyramid of a uint8 RGB picture, down to a longer side of 64 or less."""
    levels = [pixels]
    while max(levels[-1].shape[:2]) > _SMALLEST_SIDE:
        levels.append(halve(levels[-1]))
    return Pyramid(levels)


def halve(pixels: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Return the 2x2 box means of a uint8 RGB picture, rounded half up; an odd last row or column is kept."""
    height, width = pixels.shape[:2]
    half = np.empty((ceil(height / 2), ceil(width / 2), 3), np.uint8)
    # Strips keep the 16-bit sums in the processor's cache.
    for top in range(0, half.shape[0], _STRIP_ROWS):
        strip = pixels[2 * top : 2 * (top + _STRIP_ROWS)]
        _halve_strip(strip, half[top : top + _STRIP_ROWS])
    return half


def _halve_strip(strip: NDArray[np.uint8], half: NDArray[np.uint8]) -> None:
    columns = strip.shape[1] // 2
    upper, lower = strip[0::2], strip[1::2]
    if strip.shape[0] % 2:
        lower = np.concatenate([lower, strip[-1:]])
    sums = np.add(upper, lower, dtype=np.uint16)
    # One channel at a time: numpy's inner loop then runs along a row and not over three channels.
    for channel in range(3):
        means = sums[:, 0 : 2 * columns : 2, channel] + sums[:, 1::2, channel]
        means += 2
        means >>= 2
        half[:, :columns, channel] = means
    if strip.shape[1] % 2:
        half[:, -1] = (sums[:, -1] + 1) >> 1
