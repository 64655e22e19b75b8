"""The 7 x 7 Gaussian window of local statistics, and planes padded for it."""

from __future__ import annotations

from functools import cache
from typing import Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

REACH = 3
_SIGMA = 7 / 6

Padding = Literal["edge", "zero"]
Plane = NDArray[np.uint8] | NDArray[np.float32] | NDArray[np.float64]
Real = TypeVar("Real", np.float32, np.float64)


@cache
def window() -> NDArray[np.float32]:
    """Give the window, (7, 7), in float32 as pyiqa rounds it: it sums to a little more than 1."""
    offsets = np.arange(-REACH, REACH + 1, dtype=np.float64)
    weights = np.exp(-(offsets[:, None] ** 2 + offsets**2) / (2 * _SIGMA**2))
    rounded: NDArray[np.float32] = (weights / weights.sum()).astype(np.float32)
    return rounded


def padded_rows(plane: Plane, top: int, bottom: int, padding: Padding, dtype: type[Real]) -> NDArray[Real]:
    """Give rows `top` to `bottom` with as many rows and columns around them as the window reaches.

    Beyond its edges the plane is repeated, or taken as 0.
    """
    height, width = plane.shape
    first, last = max(top - REACH, 0), min(bottom + REACH, height)
    out: NDArray[Real] = np.empty((bottom - top + 2 * REACH, width + 2 * REACH), dtype=dtype)
    inner = slice(first - top + REACH, last - top + REACH)
    out[inner, REACH:-REACH] = plane[first:last]
    if padding == "zero":
        out[: inner.start] = 0
        out[inner.stop :] = 0
        out[:, :REACH] = 0
        out[:, -REACH:] = 0
    else:
        out[: inner.start] = out[inner.start]
        out[inner.stop :] = out[inner.stop - 1]
        out[:, :REACH] = out[:, REACH : REACH + 1]
        out[:, -REACH:] = out[:, -REACH - 1 : -REACH]
    return out
