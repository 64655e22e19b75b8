"""From sRGB to CIE L*a*b* (D65), and the colour difference CIEDE2000."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

# IEC 61966-2-1: linear sRGB to XYZ of the D65 white, whose Y is 1.
RGB_TO_XYZ = np.array(
    [[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.0721750], [0.0193339, 0.1191920, 0.9503041]]
)
WHITE = RGB_TO_XYZ.sum(axis=1)


@lru_cache(maxsize=1)
def linear_values() -> NDArray[np.float32]:
    """Linear light [0, 1] for each of the 256 values of an sRGB channel."""
    value = np.arange(256) / 255
    return np.where(value <= 0.04045, value / 12.92, ((value + 0.055) / 1.055) ** 2.4).astype(np.float32)


def to_lab(rgb: NDArray[np.uint8]) -> NDArray[np.float32]:
    """Return L* [0, 100], a* and b* of sRGB pixels (..., 3)."""
    linear = linear_values()[rgb]
    xyz = linear @ (RGB_TO_XYZ / WHITE[:, None]).T.astype(np.float32)
    return from_relative_xyz(xyz)


def from_relative_xyz(xyz: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return L*, a*, b* of XYZ values (..., 3) divided by those of the white."""
    curved = np.where(xyz > (6 / 29) ** 3, np.cbrt(xyz), xyz * ((29 / 6) ** 2 / 3) + 4 / 29)
    x, y, z = curved[..., 0], curved[..., 1], curved[..., 2]
    return np.stack([116 * y - 16, 500 * (x - y), 200 * (y - z)], axis=-1).astype(np.float32)


def delta_e_2000(one: ArrayLike, other: ArrayLike) -> NDArray[np.float64]:
    """Return the CIEDE2000 difference of L*a*b* colours (..., 3).

    Source: Sharma, Wu, Dalal, "The CIEDE2000 color-difference formula" (2005), with all weights 1.
    """
    l1, a1, b1 = np.moveaxis(np.asarray(one, np.float64), -1, 0)
    l2, a2, b2 = np.moveaxis(np.asarray(other, np.float64), -1, 0)
    chroma7 = ((np.hypot(a1, b1) + np.hypot(a2, b2)) / 2) ** 7
    stretch = 1.5 - 0.5 * np.sqrt(chroma7 / (chroma7 + 25.0**7))
    c1, c2 = np.hypot(stretch * a1, b1), np.hypot(stretch * a2, b2)
    h1 = np.degrees(np.arctan2(b1, stretch * a1)) % 360
    h2 = np.degrees(np.arctan2(b2, stretch * a2)) % 360
    coloured = c1 * c2 > 0
    turn = np.where(coloured, (h2 - h1 + 180) % 360 - 180, 0.0)
    change_l, change_c = l2 - l1, c2 - c1
    change_h = 2 * np.sqrt(c1 * c2) * np.sin(np.radians(turn / 2))
    light, c = (l1 + l2) / 2, (c1 + c2) / 2
    middle = np.where(np.abs(h1 - h2) > 180, (h1 + h2 + 360) / 2 % 360, (h1 + h2) / 2)
    h = np.where(coloured, middle, h1 + h2)
    weight = (
        1
        - 0.17 * np.cos(np.radians(h - 30))
        + 0.24 * np.cos(np.radians(2 * h))
        + 0.32 * np.cos(np.radians(3 * h + 6))
        - 0.20 * np.cos(np.radians(4 * h - 63))
    )
    scale_l = 1 + 0.015 * (light - 50) ** 2 / np.sqrt(20 + (light - 50) ** 2)
    scale_c, scale_h = 1 + 0.045 * c, 1 + 0.015 * c * weight
    turned = np.radians(60 * np.exp(-(((h - 275) / 25) ** 2)))
    crossing = -2 * np.sqrt(c**7 / (c**7 + 25.0**7)) * np.sin(turned)
    parts = change_l / scale_l, change_c / scale_c, change_h / scale_h
    total = parts[0] ** 2 + parts[1] ** 2 + parts[2] ** 2 + crossing * parts[1] * parts[2]
    return np.asarray(np.sqrt(np.maximum(total, 0.0)))
