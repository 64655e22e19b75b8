"""Normalised luma in float32, to the last bit of pyiqa's: for the few places where rounding decides.

Its 7 x 7 convolution adds the products row by row, each by a fused multiply-add. A product of float32 is
exact in float64, so that multiplying and adding there and rounding to float32 after each step does the same.
"""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray

REACH = 3  # the window is 7 x 7
EPSILON = float(np.finfo(np.float32).eps)  # what pyiqa adds to a float32 variance
_SIGMA = 7 / 6
_CHUNK = 64  # patches at a time, so that they stay in the processor's cache

Single = NDArray[np.float32]


@cache
def window() -> NDArray[np.float64]:
    """Give the 7 x 7 Gaussian window, rounded to float32 as pyiqa's is: it sums to a little more than 1."""
    offsets = np.arange(-REACH, REACH + 1, dtype=np.float64)
    weights = np.exp(-(offsets[:, None] ** 2 + offsets**2) / (2 * _SIGMA**2))
    rounded: NDArray[np.float32] = (weights / weights.sum()).astype(np.float32)
    return rounded.astype(np.float64)


def normalise_single(patches: NDArray[np.uint8]) -> Single:
    """Normalise patches (count, height, width), which have 3 pixels more on each side than the result."""
    chunks = [patches[start : start + _CHUNK] for start in range(0, len(patches), _CHUNK)]
    return np.concatenate([_normalise_chunk(chunk) for chunk in chunks])


@cache
def flat_values() -> NDArray[np.float64]:
    """Normalised luma in an area all of one level, for each of the 256 levels: a trace of rounding."""
    levels = np.arange(256, dtype=np.uint8)
    patches = np.broadcast_to(levels[:, None, None], (256, 2 * REACH + 1, 2 * REACH + 1))
    return normalise_single(patches).ravel().astype(np.float64)


def _normalise_chunk(patches: NDArray[np.uint8]) -> Single:
    # Patches along the last axis, so that the loops below run over long rows.
    luma = np.moveaxis(patches, 0, -1).astype(np.float64)
    centre = luma[REACH:-REACH, REACH:-REACH].astype(np.float32)
    mean = _convolve(luma)
    luma *= luma
    deviation: Single = np.sqrt(np.abs(_convolve(luma) - mean * mean) + np.float32(EPSILON))
    normalised: Single = (centre - mean) / (deviation + np.float32(1))
    return np.moveaxis(normalised, -1, 0)


def _convolve(values: NDArray[np.float64]) -> Single:
    height, width = values.shape[0] - 2 * REACH, values.shape[1] - 2 * REACH
    total = np.zeros((height, width, values.shape[2]), dtype=np.float32)
    step = np.empty(total.shape)
    for (row, column), weight in np.ndenumerate(window()):
        np.multiply(values[row : row + height, column : column + width], weight, out=step)
        step += total
        total[...] = step
    return total
