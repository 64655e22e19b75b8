"""Halving of luma planes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from banana100_core.scoring.native.strips import over_strips, strip_rows

if TYPE_CHECKING:
    from numpy.typing import NDArray

# The cubic kernel at +-1.75, +-1.25, +-0.75 and +-0.25 target pixels, over its sum: exact in binary.
_BICUBIC = tuple(weight / 256 for weight in (-3, -9, 29, 111, 111, 29, -9, -3))


def halve(plane: NDArray[np.uint8], white: float, threads: int = 1) -> NDArray[np.float32]:
    """Halve a plane with MATLAB's antialiased bicubic filter, on [0, `white`]; an odd side is rounded up.

    In float32 and in pyiqa's order of summing, since NIQE's features feel the last digit.
    """
    levels = (np.arange(256) * (white / 255.0)).astype(np.float32)
    height, width = (plane.shape[0] + 1) // 2, (plane.shape[1] + 1) // 2
    out = np.empty((height, width), dtype=np.float32)
    columns = _mirrored(np.arange(-3, 2 * width + 3), plane.shape[1])

    def fill(top: int, bottom: int) -> None:
        rows = levels[plane[_mirrored(np.arange(2 * top - 3, 2 * bottom + 3), plane.shape[0])]]
        rows = _every_second(rows, bottom - top)
        # Transposed, so that the second pass also adds whole contiguous rows.
        out[top:bottom] = _every_second(np.ascontiguousarray(rows.T)[columns], width).T

    over_strips(fill, height, strip_rows(width), threads)
    return out


def _every_second(rows: NDArray[np.float32], count: int) -> NDArray[np.float32]:
    """Filter every second row: result row i is centred between rows 2i + 3 and 2i + 4."""
    out = rows[: 2 * count - 1 : 2] * np.float32(_BICUBIC[0])
    for offset, weight in enumerate(_BICUBIC[1:], start=1):
        out += rows[offset : offset + 2 * count - 1 : 2] * np.float32(weight)
    return out


def _mirrored(index: NDArray[np.int_], size: int) -> NDArray[np.int_]:
    """Reflect indices at the edges, edge pixels repeated."""
    index = np.where(index < 0, -1 - index, index)
    return np.where(index >= size, 2 * size - 1 - index, index)
