"""Differences between two pictures, computed on arrays that already have the size of the screen."""

from __future__ import annotations

from enum import StrEnum
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

# Points of matplotlib's "inferno" map (CC0): it grows evenly brighter and is safe for colour-blind eyes.
_INFERNO = (
    (0, 0, 4),
    (31, 12, 72),
    (85, 15, 109),
    (136, 34, 106),
    (186, 54, 85),
    (227, 89, 51),
    (249, 140, 10),
    (249, 201, 50),
    (252, 255, 164),
)

_STRIP_ROWS = 64
_LARGEST_WHOLE_GAIN = 100  # 255 times it, and 128, stay within 16 bits


class DifferenceMode(StrEnum):
    """How a difference is shown."""

    SIGNED = "signed"  # around mid-grey, each channel by itself
    ABSOLUTE = "absolute"  # on black, each channel by itself
    FALSE_COLOUR = "false-colour"  # the largest channel's size, from black over red to light yellow


def difference(
    a: NDArray[np.uint8], b: NDArray[np.uint8], mode: DifferenceMode, gain: float = 1.0
) -> NDArray[np.uint8]:
    """Return what changed from `a` to `b`, times `gain`, as uint8 RGB; values beyond 0 to 255 are clipped.

    Both are uint8 RGB of the same shape (height, width, 3); ValueError otherwise. The paper's residual view
    is SIGNED with a gain of 6.
    """
    if a.shape != b.shape:
        raise ValueError(f"pictures of {a.shape[1::-1]} and {b.shape[1::-1]} pixels can't be subtracted")
    table = _false_colours() if mode is DifferenceMode.FALSE_COLOUR else None
    shown = np.empty_like(a)
    # A whole gain needs no fractions, and 16-bit integers are twice as fast.
    whole = float(gain).is_integer() and abs(gain) <= _LARGEST_WHOLE_GAIN
    number = np.int16 if whole else np.float32
    # Strips keep the intermediates in the processor's cache.
    for top in range(0, a.shape[0], _STRIP_ROWS):
        rows = slice(top, top + _STRIP_ROWS)
        change = np.subtract(b[rows], a[rows], dtype=number)
        change *= number(gain)
        if mode is DifferenceMode.SIGNED:
            change += 128
        else:
            np.abs(change, out=change)
        if not whole:
            change += 0.5
        np.clip(change, 0, 255, out=change)
        if table is None:
            shown[rows] = change
        else:
            largest = np.maximum(np.maximum(change[..., 0], change[..., 1]), change[..., 2])
            np.take(table, largest.astype(np.uint8), axis=0, out=shown[rows], mode="clip")
    return shown


@lru_cache(maxsize=1)
def _false_colours() -> NDArray[np.uint8]:
    points = np.linspace(0, 255, len(_INFERNO))
    channels = [np.interp(np.arange(256), points, channel) for channel in zip(*_INFERNO, strict=True)]
    table: NDArray[np.uint8] = np.rint(np.stack(channels, axis=-1)).astype(np.uint8)
    return table
