"""Differences between two pictures, computed on arrays that already have the size of the screen."""

from __future__ import annotations

from enum import StrEnum
from functools import lru_cache
from typing import TYPE_CHECKING, Any

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

_STRIP_ROWS = 64
_LARGEST_WHOLE_GAIN = 100  # 255 times it, and 128, stay within 16 bits
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

    Both are uint8 of the same shape, RGB (height, width, 3) or one channel (height, width); ValueError
    otherwise. Each channel is taken by itself. The paper's residual view is SIGNED with a gain of 6.
    """
    _check(a, b)
    shown = np.empty_like(a)
    # Strips keep the intermediates in the processor's cache.
    for top in range(0, a.shape[0], _STRIP_ROWS):
        rows = slice(top, top + _STRIP_ROWS)
        shown[rows] = _levels(_change(a[rows], b[rows], mode, gain), mode, gain)
    return shown


def largest_difference(
    a: NDArray[np.uint8], b: NDArray[np.uint8], mode: DifferenceMode, gain: float = 1.0
) -> NDArray[np.uint8]:
    """Return `difference` of the channel that changed most, as (height, width), for grey and false colour."""
    _check(a, b)
    if a.ndim == 2:
        return difference(a, b, mode, gain)
    shown = np.empty(a.shape[:2], np.uint8)
    for top in range(0, a.shape[0], _STRIP_ROWS):
        rows = slice(top, top + _STRIP_ROWS)
        if mode is DifferenceMode.RELATIVE:
            shares = _change(a[rows], b[rows], mode, gain)
            shown[rows] = _levels(_over_channels(np.abs(shares, out=shares)), mode, gain)
            continue
        # In bytes, of which the processor takes dozens at once; the gain is looked up at the end.
        higher = np.maximum(a[rows], b[rows])
        if mode is DifferenceMode.ABSOLUTE:
            size = _over_channels(higher - np.minimum(a[rows], b[rows]))
            shown[rows] = _looked_up(size, mode, gain, 1)
            continue
        up, down = _over_channels(higher - a[rows]), _over_channels(higher - b[rows])
        shown[rows] = np.where(up >= down, _looked_up(up, mode, gain, 1), _looked_up(down, mode, gain, -1))
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


def _change(
    a: NDArray[np.uint8], b: NDArray[np.uint8], mode: DifferenceMode, gain: float
) -> NDArray[np.int16] | NDArray[np.float32]:
    # A whole gain needs no fractions, and 16-bit integers are twice as fast.
    whole = float(gain).is_integer() and abs(gain) <= _LARGEST_WHOLE_GAIN
    if mode is DifferenceMode.RELATIVE:
        share = np.subtract(b, a, dtype=np.float32)
        share *= np.float32(255)
        share /= a + np.float32(RELATIVE_FLOOR)
        return share
    return np.subtract(b, a, dtype=np.int16 if whole else np.float32)


def _levels(
    change: NDArray[np.int16] | NDArray[np.float32], mode: DifferenceMode, gain: float
) -> NDArray[np.int16] | NDArray[np.float32]:
    """Amplify and bring into 0 to 255, in place."""
    change *= change.dtype.type(gain)
    if mode is DifferenceMode.SIGNED:
        change += 128
    else:
        np.abs(change, out=change)
    if change.dtype.kind == "f":
        change += 0.5
    return np.clip(change, 0, 255, out=change)


def _over_channels(values: NDArray[Any]) -> NDArray[Any]:
    """The largest of three channels."""
    largest: NDArray[Any] = np.maximum(np.maximum(values[..., 0], values[..., 1]), values[..., 2])
    return largest


def _looked_up(sizes: NDArray[np.uint8], mode: DifferenceMode, gain: float, sign: int) -> NDArray[np.uint8]:
    # bytes.translate looks up a byte in about a nanosecond; numpy would first widen each to an index.
    levels = sizes.tobytes().translate(_gain_table(mode, gain, sign))
    return np.frombuffer(levels, np.uint8).reshape(sizes.shape)


@lru_cache(maxsize=8)
def _gain_table(mode: DifferenceMode, gain: float, sign: int) -> bytes:
    """The level of a change by each of 0 to 255, up or down."""
    change = np.arange(256, dtype=np.float32) * np.float32(sign)
    return _levels(change, mode, gain).astype(np.uint8).tobytes()
