"""How alike two pictures are: PSNR and SSIM; and how much fine detail one has.

Computed here in strips of rows, so that neither a large picture nor a build without SciPy is in the way.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

_STRIP_ROWS = 128
_SSIM_SIGMA, _SSIM_REACH = 1.5, 5
_DETAIL_SIGMA, _DETAIL_REACH = 2.0, 8


def psnr(one: NDArray[np.uint8], other: NDArray[np.uint8]) -> float | None:
    """The peak signal-to-noise ratio of two pictures of one shape, in dB; None when they are the same."""
    squares = sum(
        int(np.square(a.astype(np.int32) - b).sum(dtype=np.int64))
        for a, b in zip(_strips(one), _strips(other), strict=True)
    )
    return 10 * math.log10(255**2 * one.size / squares) if squares else None


def ssim(one: NDArray[np.uint8], other: NDArray[np.uint8]) -> float | None:
    """The mean structural similarity of two planes of one shape; None when they are smaller than its window.

    Source: Wang et al., "Image quality assessment: from error visibility to structural similarity" (2004):
    a Gaussian window of 1.5, 11 pixels wide, K1 of 0.01 and K2 of 0.03, where the window is inside.
    """
    weights = _weights(_SSIM_SIGMA, _SSIM_REACH)
    if min(one.shape) < len(weights):
        return None
    c1, c2 = (0.01 * 255) ** 2, (0.03 * 255) ** 2
    total, count = 0.0, 0
    strips = zip(_strips(one, _SSIM_REACH), _strips(other, _SSIM_REACH), strict=True)
    for a, b in ((a.astype(np.float64), b.astype(np.float64)) for a, b in strips):
        mean_a, mean_b = _blurred(a, weights), _blurred(b, weights)
        variances = _blurred(a * a, weights) + _blurred(b * b, weights) - mean_a**2 - mean_b**2
        covariance = _blurred(a * b, weights) - mean_a * mean_b
        alike = (2 * mean_a * mean_b + c1) * (2 * covariance + c2)
        alike /= (mean_a**2 + mean_b**2 + c1) * (variances + c2)
        total += float(alike.sum())
        count += alike.size
    return total / count


def detail_of(plane: NDArray[np.uint8]) -> float:
    """The standard deviation of a plane less its blur by a Gaussian of 2 pixels; 0 for tiny planes."""
    weights = _weights(_DETAIL_SIGMA, _DETAIL_REACH)
    if min(plane.shape) < len(weights):
        return 0.0
    total = squares = 0.0
    count, reach = 0, _DETAIL_REACH
    for strip in _strips(plane, reach):
        values = strip.astype(np.float64)
        fine = values[reach:-reach, reach:-reach] - _blurred(values, weights)
        total += float(fine.sum())
        squares += float(np.square(fine).sum())
        count += fine.size
    return math.sqrt(max(squares / count - (total / count) ** 2, 0.0))


def _strips(picture: NDArray[np.uint8], reach: int = 0) -> Iterator[NDArray[np.uint8]]:
    """Rows of a picture in turn, each strip with `reach` rows more above and below than are its own."""
    for top in range(reach, picture.shape[0] - reach, _STRIP_ROWS):
        yield picture[top - reach : min(top + _STRIP_ROWS, picture.shape[0] - reach) + reach]


def _weights(sigma: float, reach: int) -> NDArray[np.float64]:
    offsets = np.arange(-reach, reach + 1, dtype=np.float64)
    weights = np.exp(-(offsets**2) / (2 * sigma**2))
    normalised: NDArray[np.float64] = weights / weights.sum()
    return normalised


def _blurred(values: NDArray[np.float64], weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Blur by a window, first down and then across; smaller by its reach on each side."""
    height, width = (side - len(weights) + 1 for side in values.shape)
    down = np.zeros((height, values.shape[1]))
    for place, weight in enumerate(weights):
        down += weight * values[place : place + height]
    across = np.zeros((height, width))
    for place, weight in enumerate(weights):
        across += weight * down[:, place : place + width]
    return across
