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

_STRIP_ROWS = 16
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
    shown = np.empty_like(a)
    # Strips keep the intermediates in the processor's cache.
    for top in range(0, a.shape[0], _STRIP_ROWS):
        rows = slice(top, top + _STRIP_ROWS)
        shown[rows] = _difference(a[rows], b[rows], mode, gain)
    return shown


def largest_difference(
    a: NDArray[np.uint8], b: NDArray[np.uint8], mode: DifferenceMode, gain: float = 1.0
) -> NDArray[np.uint8]:
    """Return `difference` of the channel that changed most, as (height, width), for grey and false colour.

    Of four channels the last, which screens leave empty, is left aside.
    """
    _check(a, b)
    if a.ndim == 2:
        return difference(a, b, mode, gain)
    shown = np.empty(a.shape[:2], np.uint8)
    for top in range(0, a.shape[0], _STRIP_ROWS):
        before, after = a[top : top + _STRIP_ROWS], b[top : top + _STRIP_ROWS]
        if mode is DifferenceMode.RELATIVE:
            shown[top : top + _STRIP_ROWS] = _over_channels(_difference(before, after, mode, gain))
            continue
        higher = np.maximum(before, after)
        up, down = _over_channels(higher - before), _over_channels(higher - after)
        # From nothing, by the larger of the two.
        rises = (up >= down).view(np.uint8)
        shown[top : top + _STRIP_ROWS] = _difference(down * (1 - rises), up * rises, mode, gain)
    return shown


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


def _difference(
    a: NDArray[np.uint8], b: NDArray[np.uint8], mode: DifferenceMode, gain: float
) -> NDArray[np.uint8]:
    pairs = a.astype(np.uint16) << np.uint16(8) | b
    return np.take(_pair_table(mode, gain), pairs, mode="clip")


@lru_cache(maxsize=4)
def _pair_table(mode: DifferenceMode, gain: float) -> NDArray[np.uint8]:
    """The level for each pair of values, `a` times 256 plus `b`."""
    value = np.arange(256, dtype=np.float32)
    before, after = value[:, None], value[None, :]
    change = after - before
    if mode is DifferenceMode.RELATIVE:
        change = change * np.float32(255) / (before + np.float32(RELATIVE_FLOOR))
    return _levels(change, mode, gain).astype(np.uint8).ravel()


def _levels(change: NDArray[np.float32], mode: DifferenceMode, gain: float) -> NDArray[np.float32]:
    """Amplify and bring into 0 to 255, in place."""
    change *= np.float32(gain)
    if mode is DifferenceMode.SIGNED:
        change += 128
    else:
        np.abs(change, out=change)
    change += 0.5
    return np.clip(change, 0, 255, out=change)


def _over_channels(values: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """The largest of the first three channels."""
    if values.shape[-1] == 4 and values.flags.c_contiguous:
        # Each byte with the two after it, in one go along the row: faster than every fourth one by itself.
        row = values.reshape(-1)
        two = np.maximum(row[:-2], row[1:-1])
        return np.maximum(two, row[2:], out=two)[::4].reshape(values.shape[:-1])
    return np.maximum(np.maximum(values[..., 0], values[..., 1]), values[..., 2])
