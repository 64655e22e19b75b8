"""FLIP, the difference that a person sees when two pictures alternate in the same place."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from banana100_core.imaging.colour_spaces import from_relative_xyz, linear_values
from banana100_core.imaging.filters import correlate

if TYPE_CHECKING:
    from numpy.typing import NDArray

PIXELS_PER_DEGREE = 67.0
"""A 0.7 m wide screen of 3840 pixels seen from 0.7 m: the authors' own default."""

_QC, _QF, _PC, _PT = 0.7, 0.5, 0.4, 0.95  # section 4 of the paper
_EDGE_WIDTH = 0.082  # degrees of the eye's feature detection
# Contrast sensitivity: pairs of weight and spread for each channel, Table 1 of the paper.
_ACHROMATIC = ((1.0, 0.0047),)
_RED_GREEN = ((1.0, 0.0053),)
_BLUE_YELLOW = ((34.1, 0.04), (13.5, 0.025))
# Linear sRGB to XYZ as in the authors' code, in fractions.
_TO_XYZ = np.array(
    [
        [10135552 / 24577794, 8788810 / 24577794, 4435075 / 24577794],
        [2613072 / 12288897, 8788810 / 12288897, 887015 / 12288897],
        [1425312 / 73733382, 8788810 / 73733382, 70074185 / 73733382],
    ]
)
_TO_RELATIVE = (_TO_XYZ / _TO_XYZ.sum(axis=1, keepdims=True)).astype(np.float32)
_FROM_RELATIVE = np.linalg.inv(_TO_XYZ / _TO_XYZ.sum(axis=1, keepdims=True)).astype(np.float32)


def flip(
    reference: NDArray[np.uint8], test: NDArray[np.uint8], pixels_per_degree: float = PIXELS_PER_DEGREE
) -> NDArray[np.float32]:
    """Return the perceived difference [0, 1] (H, W) of two sRGB pictures (H, W, 3) of the same shape.

    Source: Andersson, Nilsson, Akenine-Möller and others, "FLIP: A Difference Evaluator for Alternating
    Images" (2020), LDR-FLIP, after the authors' code; all filters are separable here.
    """
    if reference.shape != test.shape:
        raise ValueError("FLIP needs two pictures of the same size")
    one, other = _opponent(reference), _opponent(test)
    colour = _colour_difference(one, other, pixels_per_degree)
    feature = _feature_difference(one[..., 0], other[..., 0], pixels_per_degree)
    return np.asarray(colour ** (1 - feature), np.float32)


def _opponent(rgb: NDArray[np.uint8]) -> NDArray[np.float32]:
    """sRGB to YCxCz."""
    xyz = linear_values()[rgb] @ _TO_RELATIVE.T
    x, y, z = xyz[..., 0], xyz[..., 1], xyz[..., 2]
    return np.stack([116 * y - 16, 500 * (x - y), 200 * (y - z)], axis=-1).astype(np.float32)


def _colour_difference(
    one: NDArray[np.float32], other: NDArray[np.float32], ppd: float
) -> NDArray[np.float32]:
    distance = _hyab(_hunt(_seen(one, ppd)), _hunt(_seen(other, ppd))) ** _QC
    green, blue = (
        _hunt(from_relative_xyz(np.array([primary], np.float32) @ _TO_RELATIVE.T))
        for primary in ((0, 1, 0), (0, 0, 1))
    )
    most = float(_hyab(green, blue)[0]) ** _QC
    bend = _PC * most
    low = distance * (_PT / bend)
    high = _PT + (distance - bend) / (most - bend) * (1 - _PT)
    return np.asarray(np.where(distance < bend, low, high), np.float32)


def _seen(opponent: NDArray[np.float32], ppd: float) -> NDArray[np.float32]:
    """What the eye resolves at this distance, as L*a*b*."""
    spread = max(b for channel in (_ACHROMATIC, _RED_GREEN, _BLUE_YELLOW) for _a, b in channel)
    radius = math.ceil(3 * math.sqrt(spread / (2 * math.pi**2)) * ppd)
    filtered = [
        _blurred(opponent[..., place], gaussians, radius, ppd)
        for place, gaussians in enumerate((_ACHROMATIC, _RED_GREEN, _BLUE_YELLOW))
    ]
    y = (filtered[0] + 16) / 116
    xyz = np.stack([filtered[1] / 500 + y, y, y - filtered[2] / 200], axis=-1)
    linear = np.clip(xyz @ _FROM_RELATIVE.T, 0, 1)
    return from_relative_xyz(linear @ _TO_RELATIVE.T)


def _blurred(
    channel: NDArray[np.float32], gaussians: tuple[tuple[float, float], ...], radius: int, ppd: float
) -> NDArray[np.float32]:
    place = np.arange(-radius, radius + 1) / ppd
    parts = [
        (weight * math.sqrt(math.pi / spread), np.exp(-(math.pi**2) * place**2 / spread))
        for weight, spread in gaussians
    ]
    total = sum(height * curve.sum() ** 2 for height, curve in parts)
    blurred = sum(_convolved(channel, curve, curve) * np.float32(height / total) for height, curve in parts)
    return np.asarray(blurred, np.float32)


def _feature_difference(
    one: NDArray[np.float32], other: NDArray[np.float32], ppd: float
) -> NDArray[np.float32]:
    one, other = (channel / np.float32(116) + np.float32(16 / 116) for channel in (one, other))
    changes = [
        np.abs(_features(one, ppd, points=points) - _features(other, ppd, points=points))
        for points in (False, True)
    ]
    strongest = np.maximum(*changes) / math.sqrt(2)
    return np.asarray(np.clip(strongest**_QF, 0, 1), np.float32)


def _features(luminance: NDArray[np.float32], ppd: float, *, points: bool) -> NDArray[np.float32]:
    """How strongly an edge, or a point, stands out at each pixel."""
    deviation = 0.5 * _EDGE_WIDTH * ppd
    radius = math.ceil(3 * deviation)
    place = np.arange(-radius, radius + 1)
    bell = np.exp(-(place**2) / (2 * deviation**2))
    curve = bell * (place**2 / deviation**2 - 1) if points else bell * -place
    bell = bell / bell.sum()
    curve = np.where(curve < 0, curve / -curve[curve < 0].sum(), curve / curve[curve > 0].sum())
    return np.hypot(_convolved(luminance, bell, curve), _convolved(luminance, curve, bell))


def _convolved(
    channel: NDArray[np.float32], down: NDArray[np.float64], across: NDArray[np.float64]
) -> NDArray[np.float32]:
    return correlate(channel, down.tolist(), across.tolist())


def _hunt(lab: NDArray[np.float32]) -> NDArray[np.float32]:
    """Colours look less colourful in the dark (Hunt's effect)."""
    light = lab[..., :1]
    return np.asarray(np.concatenate([light, 0.01 * light * lab[..., 1:]], axis=-1), np.float32)


def _hyab(one: NDArray[np.float32], other: NDArray[np.float32]) -> NDArray[np.float32]:
    change = one - other
    return np.asarray(np.abs(change[..., 0]) + np.hypot(change[..., 1], change[..., 2]), np.float32)
