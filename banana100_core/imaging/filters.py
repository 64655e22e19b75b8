"""Separable correlation of one channel, through libvips: SciPy would double the size of a build."""

from __future__ import annotations

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
