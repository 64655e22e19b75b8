"""Separable filters of one channel, through libvips: SciPy would double the size of a build."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, TypeVar

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

Channel = TypeVar("Channel", "NDArray[np.float32]", "NDArray[np.float64]")


def correlate(channel: Channel, down: Sequence[float], across: Sequence[float]) -> Channel:
    """Correlate a channel (rows, columns) with a kernel along its columns, then with one along its rows.

    Kernels have odd lengths; the picture's border is repeated. The same as `scipy.ndimage.correlate1d` with
    mode "nearest", once for each axis.
    """
    import pyvips  # takes long to import

    image = pyvips.Image.new_from_array(np.ascontiguousarray(channel))
    for kernel in ([[value] for value in down], [list(across)]):
        image = image.conv(pyvips.Image.new_from_array(kernel), precision="float")
    filtered: Channel = image.numpy().reshape(channel.shape)
    return filtered


def bell(deviation: float, reach: float) -> list[float]:
    """The kernel of a Gaussian blur that ends `reach` standard deviations from its middle; its sum is 1."""
    radius = math.floor(reach * deviation + 0.5)
    heights = [math.exp(-(place**2) / (2 * deviation**2)) for place in range(-radius, radius + 1)]
    return [height / sum(heights) for height in heights]


def blurred(channel: Channel, deviation: float, reach: float = 4.0) -> Channel:
    """A channel after a Gaussian blur; `deviation` in pixels."""
    kernel = bell(deviation, reach)
    return correlate(channel, kernel, kernel)
