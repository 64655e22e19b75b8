"""Local normalisation of luma in float64, and halving."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from banana100_core.scoring.native.strips import over_strips, strip_rows
from banana100_core.scoring.native.window import REACH, Plane, padded_rows, window

Values = NDArray[np.float64]

_EPSILON = np.finfo(np.float64).eps


def _axis_weights() -> tuple[float, ...]:
    """Give the centre and the three outer weights of the window along one axis.

    pyiqa's window sums to a little more than 1. In flat areas the sign of the normalised luma hangs on that
    sum, so the weights along an axis are scaled to the same.
    """
    square = window().astype(np.float64)
    weights = square.sum(axis=0) / np.sqrt(square.sum())
    return tuple(weights[REACH:].tolist())


_WEIGHTS = _axis_weights()


def normalise(plane: Plane, top: int, bottom: int) -> Values:
    """Give rows `top` to `bottom` of (luma - local mean) / (local deviation + 1), edges repeated."""
    luma = padded_rows(plane, top, bottom, "edge", np.float64)
    mean = _blur(luma)
    deviation = _blur(luma * luma)
    deviation -= mean * mean
    np.abs(deviation, out=deviation)
    deviation += _EPSILON
    np.sqrt(deviation, out=deviation)
    deviation += 1.0
    np.subtract(luma[REACH:-REACH, REACH:-REACH], mean, out=mean)
    mean /= deviation
    return mean


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


def _blur(values: Values) -> Values:
    """Apply the window along both axes; the result is smaller by its reach on each side."""
    height, width = values.shape[0] - 2 * REACH, values.shape[1] - 2 * REACH
    down = values[REACH : REACH + height] * _WEIGHTS[0]
    pair = np.empty_like(down)
    for offset, weight in enumerate(_WEIGHTS[1:], start=1):
        above, below = REACH - offset, REACH + offset
        np.add(values[above : above + height], values[below : below + height], out=pair)
        pair *= weight
        down += pair
    across = down[:, REACH : REACH + width] * _WEIGHTS[0]
    pair = pair[:, :width]
    for offset, weight in enumerate(_WEIGHTS[1:], start=1):
        left, right = REACH - offset, REACH + offset
        np.add(down[:, left : left + width], down[:, right : right + width], out=pair)
        pair *= weight
        across += pair
    return across


# The cubic kernel at +-1.75, +-1.25, +-0.75 and +-0.25 target pixels, over its sum: exact in binary.
_BICUBIC = tuple(weight / 256 for weight in (-3, -9, 29, 111, 111, 29, -9, -3))


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
