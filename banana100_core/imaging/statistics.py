"""What the values of a rectangle of pixels are like."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

CHANNELS = ("R", "G", "B")


@dataclass(frozen=True, slots=True)
class ChannelStatistics:
    """Of one channel: mean, standard deviation (of all pixels, not of a sample), extremes and median."""

    mean: float
    deviation: float
    low: int
    median: float
    high: int
    histogram: NDArray[np.int64] = field(repr=False, compare=False)
    """How many pixels have each of the values 0 to 255."""


def region_statistics(rgb: NDArray[np.uint8]) -> tuple[ChannelStatistics, ...]:
    """Return the statistics of each channel of pixels (H, W, 3); ValueError when there are none."""
    if rgb.size == 0:
        raise ValueError("a rectangle without pixels has no statistics")
    return tuple(_of_channel(rgb[..., channel]) for channel in range(rgb.shape[2]))


def _of_channel(values: NDArray[np.uint8]) -> ChannelStatistics:
    histogram = np.bincount(values.ravel(), minlength=256)
    # All from the histogram: exact, and the pixels are gone through once.
    value, count = np.arange(256), int(histogram.sum())
    mean = float(histogram @ value) / count
    variance = float(histogram @ (value - mean) ** 2) / count
    there = np.flatnonzero(histogram)
    reached = np.cumsum(histogram)
    lower, upper = np.searchsorted(reached, [(count + 1) // 2, count // 2 + 1])
    return ChannelStatistics(
        mean, variance**0.5, int(there[0]), float(lower + upper) / 2, int(there[-1]), histogram
    )
