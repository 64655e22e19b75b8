"""Normalised luma in float32, to the last bit of pyiqa's, whose rounding BRISQUE and PIQE can feel.

pyiqa's convolution adds the 49 products of a window row by row, each by a fused multiply-add. BLAS multiplies
matrices in just that way: here blocks of pixels by a band matrix, whose zeros beside the weights add nothing.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from banana100_core.scoring.native.window import REACH, padded_rows, window

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from banana100_core.scoring.native.window import Padding, Plane

_EPSILON = np.finfo(np.float32).eps
_BLOCK = 16  # pixels beside each other that are convolved at once
_SIDE = 2 * REACH + 1
_MATRIX_ROWS = 2048  # at least: small matrices are multiplied in another way, large ones leave the cache


def normalise_single(plane: Plane, top: int, bottom: int, padding: Padding) -> NDArray[np.float32]:
    """Give rows `top` to `bottom` of (luma - local mean) / (local deviation + 1)."""
    luma = padded_rows(plane, top, bottom, padding, np.float32)
    convolve = _convolve if _blas_rounds_like_pyiqa() else _convolve_step_by_step
    mean = convolve(luma)
    deviation = convolve(luma * luma)
    deviation -= mean * mean
    np.abs(deviation, out=deviation)
    deviation += _EPSILON
    np.sqrt(deviation, out=deviation)
    deviation += np.float32(1)
    np.subtract(luma[REACH:-REACH, REACH:-REACH], mean, out=mean)
    mean /= deviation
    return mean


def _convolve(values: NDArray[np.float32]) -> NDArray[np.float32]:
    height, width = values.shape[0] - 2 * REACH, values.shape[1] - 2 * REACH
    across = -(-width // _BLOCK)
    rows = -(-_MATRIX_ROWS // across)  # of the picture, in one matrix
    spare = -height % rows
    values = np.pad(values, ((0, spare), (0, across * _BLOCK - width)))
    stride = values.strides
    patches = np.lib.stride_tricks.as_strided(
        values,
        (height + spare, across, _SIDE, _BLOCK + 2 * REACH),
        (stride[0], _BLOCK * stride[1], stride[0], stride[1]),
        writeable=False,
    )
    band = _band()
    matrix = np.empty((rows, *patches.shape[1:]), dtype=np.float32)
    result = np.empty((height + spare, across * _BLOCK), dtype=np.float32)
    for top in range(0, height, rows):
        matrix[...] = patches[top : top + rows]
        out = result[top : top + rows].reshape(-1, _BLOCK)
        np.matmul(matrix.reshape(-1, len(band)), band, out=out)
    return result[:height, :width]


def _convolve_step_by_step(values: NDArray[np.float32]) -> NDArray[np.float32]:
    """Do the same without BLAS: a product is exact in float64, so that each step rounds once too."""
    height, width = values.shape[0] - 2 * REACH, values.shape[1] - 2 * REACH
    exact = values.astype(np.float64)
    total = np.zeros((height, width), dtype=np.float32)
    for (row, column), weight in np.ndenumerate(window()):
        step = exact[row : row + height, column : column + width] * np.float64(weight)
        step += total
        total[...] = step
    return total


@cache
def _band() -> NDArray[np.float32]:
    """Give the matrix that convolves a block of pixels; each column holds the window of one pixel."""
    band = np.zeros((_SIDE, _BLOCK + 2 * REACH, _BLOCK), dtype=np.float32)
    for column in range(_BLOCK):
        band[:, column : column + _SIDE, column] = window()
    return band.reshape(-1, _BLOCK)


@cache
def _blas_rounds_like_pyiqa() -> bool:
    """Whether this machine's BLAS adds in order and by fused multiply-adds; elsewhere we go step by step."""
    values = np.random.default_rng(0).uniform(0, 255, (40, 1000)).astype(np.float32)
    return np.array_equal(_convolve(values), _convolve_step_by_step(values))
