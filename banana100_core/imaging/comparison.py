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
# Blue below, orange above, dark grey where nothing changed: told apart by colour-blind eyes.
_DIVERGING = (
    (86, 180, 233),
    (0, 90, 160),
    (40, 50, 60),
    (44, 44, 44),
    (60, 50, 40),
    (190, 90, 0),
    (255, 190, 80),
)

_STRIP_VALUES = 2**17  # what is computed at once, so that it stays in the processor's cache
RELATIVE_FLOOR = 0.01 * 255
"""Added to the reference before dividing by it, so that noise in black does not count as infinite."""


class DifferenceMode(StrEnum):
    """What is computed of two pictures."""

    SIGNED = "signed"  # around mid-grey; amplified, this is the paper's residual
    ABSOLUTE = "absolute"
    RELATIVE = "relative"  # the change as a part of the reference
    FLIP = "flip"  # perceived, see imaging/flip.py; made for a whole picture, not by `difference`


def difference(
    a: NDArray[np.uint8], b: NDArray[np.uint8], mode: DifferenceMode, gain: float = 1.0
) -> NDArray[np.uint8]:
    """Return what changed from `a` to `b`, times `gain`, as uint8; values beyond 0 to 255 are clipped.

    Both are uint8 of the same shape, (height, width, channels) or one channel (height, width); ValueError
    otherwise. Each channel is taken by itself. The paper's residual view is SIGNED with a gain of 6.
    """
    _check(a, b)
    shown = np.empty(a.shape, np.uint8)
    if not shown.size:
        return shown
    rows = _rows_at_once(a)
    before, change = (np.empty((rows, *a.shape[1:]), np.float32) for _ in range(2))
    # Numpy compares an array with an array many times faster than with a number.
    black, white = np.zeros_like(before), np.full_like(before, 255)
    for top in range(0, a.shape[0], rows):
        strip = slice(top, top + rows)
        if (left := a.shape[0] - top) < rows:
            before, change, black, white = before[:left], change[:left], black[:left], white[:left]
        np.copyto(before, a[strip])
        np.copyto(change, b[strip])
        change -= before
        if mode is DifferenceMode.RELATIVE:
            before += np.float32(RELATIVE_FLOOR)
            change /= before
        change *= np.float32(gain * 255 if mode is DifferenceMode.RELATIVE else gain)
        if mode is DifferenceMode.SIGNED:
            change += np.float32(128)
            np.maximum(change, black, out=change)
        else:
            np.abs(change, out=change)
        change += np.float32(0.5)
        np.minimum(change, white, out=change)
        np.copyto(shown[strip], change, casting="unsafe")
    return shown


def largest_difference(
    a: NDArray[np.uint8], b: NDArray[np.uint8], mode: DifferenceMode, gain: float = 1.0
) -> NDArray[np.uint8]:
    """Return `difference` of the channel that changed most, as (height, width), for grey and false colour."""
    _check(a, b)
    if a.ndim == 2:
        return difference(a, b, mode, gain)
    if mode is DifferenceMode.RELATIVE:
        return _over_channels(difference(a, b, mode, gain))
    fallen, risen = np.empty(a.shape[:2], np.uint8), np.empty(a.shape[:2], np.uint8)
    rows = _rows_at_once(a)
    for top in range(0, a.shape[0], rows):
        strip = slice(top, top + rows)
        higher = np.maximum(a[strip], b[strip])
        up, down = _over_channels(higher - a[strip]), _over_channels(higher - b[strip])
        rises = (up >= down).view(np.uint8)
        np.multiply(up, rises, out=risen[strip])
        np.multiply(down, 1 - rises, out=fallen[strip])
    # From nothing, by the larger of the two.
    return difference(fallen, risen, mode, gain)


@lru_cache(maxsize=4)
def colour_map(mode: DifferenceMode) -> NDArray[np.uint8]:
    """Return the RGB (256, 3) that false colour draws values 0 to 255 in."""
    points = _DIVERGING if mode is DifferenceMode.SIGNED else _INFERNO
    places = np.linspace(0, 255, len(points))
    channels = [np.interp(np.arange(256), places, channel) for channel in zip(*points, strict=True)]
    table: NDArray[np.uint8] = np.rint(np.stack(channels, axis=-1)).astype(np.uint8)
    return table


def _check(a: NDArray[np.uint8], b: NDArray[np.uint8]) -> None:
    if a.shape != b.shape:
        raise ValueError(f"pictures of {a.shape[1::-1]} and {b.shape[1::-1]} pixels can't be subtracted")


def _rows_at_once(pixels: NDArray[np.uint8]) -> int:
    return max(1, _STRIP_VALUES // max(1, int(pixels[0].size)))


def _over_channels(values: NDArray[np.uint8]) -> NDArray[np.uint8]:
    return np.maximum(np.maximum(values[..., 0], values[..., 1]), values[..., 2])
