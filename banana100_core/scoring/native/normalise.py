"""Local normalisation of luma by a 7 x 7 Gaussian window, to the last digit of pyiqa's.

BRISQUE and PIQE work in float32 and feel how it rounds. pyiqa's convolution adds the 49 products of a window
row by row, each by a fused multiply-add. BLAS multiplies matrices in just that way: here blocks of pixels by
a band matrix, whose zeros beside the weights add nothing.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from collections.abc import Callable

Padding = Literal["edge", "zero"]
Plane = NDArray[np.uint8] | NDArray[np.float32] | NDArray[np.float64]
Values = NDArray[np.floating[Any]]
Precision = type[np.float32] | type[np.float64]

_REACH = 3
_SIDE = 2 * _REACH + 1
_SIGMA = 7 / 6
_BLOCK = 16  # pixels beside each other that are convolved at once
_MATRIX_ROWS = 1024  # at least: small matrices are multiplied in another way, large ones leave the cache


def normalise(plane: Plane, top: int, bottom: int, padding: Padding, dtype: Precision) -> Values:
    """Give rows `top` to `bottom` of (luma - local mean) / (local deviation + 1).

    Beyond its edges the plane is repeated, or taken as 0.
    """
    luma = _padded_rows(plane, top, bottom, padding, dtype)
    convolve = _convolution(dtype)
    mean = convolve(luma)
    deviation = convolve(luma * luma)
    deviation -= mean * mean
    np.abs(deviation, out=deviation)
    deviation += np.finfo(dtype).eps
    np.sqrt(deviation, out=deviation)
    deviation += dtype(1)
    np.subtract(luma[_REACH:-_REACH, _REACH:-_REACH], mean, out=mean)
    mean /= deviation
    return mean


def _padded_rows(plane: Plane, top: int, bottom: int, padding: Padding, dtype: Precision) -> Values:
    """Give rows `top` to `bottom` with as many rows and columns around them as the window reaches."""
    height, width = plane.shape
    first, last = max(top - _REACH, 0), min(bottom + _REACH, height)
    out: Values = np.empty((bottom - top + 2 * _REACH, width + 2 * _REACH), dtype=dtype)
    inner = slice(first - top + _REACH, last - top + _REACH)
    out[inner, _REACH:-_REACH] = plane[first:last]
    if padding == "zero":
        out[: inner.start] = 0
        out[inner.stop :] = 0
        out[:, :_REACH] = 0
        out[:, -_REACH:] = 0
    else:
        out[: inner.start] = out[inner.start]
        out[inner.stop :] = out[inner.stop - 1]
        out[:, :_REACH] = out[:, _REACH : _REACH + 1]
        out[:, -_REACH:] = out[:, -_REACH - 1 : -_REACH]
    return out


def _convolution(dtype: Precision) -> Callable[[Values], Values]:
    """Choose how to convolve; where BLAS rounds in another way than pyiqa, float32 goes step by step."""
    if dtype is np.float64:
        return _convolve_folded
    return _convolve if _blas_rounds_like_pyiqa() else _convolve_step_by_step


@cache
def _blas_rounds_like_pyiqa() -> bool:
    values = np.random.default_rng(0).uniform(0, 255, (40, 1000)).astype(np.float32)
    return np.array_equal(_convolve(values), _convolve_step_by_step(values))


def _convolve(values: Values) -> Values:
    """Convolve by the window; the result is smaller by its reach on each side."""
    height, width = values.shape[0] - 2 * _REACH, values.shape[1] - 2 * _REACH
    across, rows = _layout(width)
    spare = -height % rows
    values = np.pad(values, ((0, spare), (0, across * _BLOCK - width)))
    return _multiply(values, values.strides[0], _SIDE, height + spare, rows)[:height, :width]


def _convolve_folded(values: Values) -> Values:
    """Do the same in four rows of products instead of seven: those above the middle weigh as those below.

    That adds in another order, which float64 hardly feels.
    """
    height, width = values.shape[0] - 2 * _REACH, values.shape[1] - 2 * _REACH
    across, rows = _layout(width)
    spare = -height % rows
    folded = np.zeros((_REACH + 1, height + spare, across * _BLOCK + 2 * _REACH), dtype=values.dtype)
    inner = folded[:, :height, : width + 2 * _REACH]
    for row in range(_REACH):
        np.add(values[row : row + height], values[_SIDE - 1 - row :][:height], out=inner[row])
    inner[_REACH] = values[_REACH : _REACH + height]
    return _multiply(folded[0], folded.strides[0], _REACH + 1, height + spare, rows)[:height, :width]


def _layout(width: int) -> tuple[int, int]:
    """Give how many blocks lie across, and how many rows of the picture go into one matrix."""
    across = -(-width // _BLOCK)
    return across, -(-_MATRIX_ROWS // across)


def _multiply(values: Values, next_row: int, sides: int, height: int, rows: int) -> Values:
    """Multiply blocks, with what surrounds them in `sides` rows `next_row` bytes apart, by the band."""
    across = (values.shape[1] - 2 * _REACH) // _BLOCK
    stride = values.strides
    patches = np.lib.stride_tricks.as_strided(
        values,
        (height, across, sides, _BLOCK + 2 * _REACH),
        (stride[0], _BLOCK * stride[1], next_row, stride[1]),
        writeable=False,
    )
    band = _band(values.dtype)[: sides * (_BLOCK + 2 * _REACH)]
    matrix = np.empty((rows, *patches.shape[1:]), dtype=values.dtype)
    result = np.empty((height, across * _BLOCK), dtype=values.dtype)
    for top in range(0, height, rows):
        matrix[...] = patches[top : top + rows]
        np.matmul(matrix.reshape(-1, len(band)), band, out=result[top : top + rows].reshape(-1, _BLOCK))
    return result


def _convolve_step_by_step(values: Values) -> Values:
    """Do the same without BLAS: products of float32 are exact in float64, so each step rounds once too."""
    height, width = values.shape[0] - 2 * _REACH, values.shape[1] - 2 * _REACH
    exact = values.astype(np.float64)
    total = np.zeros((height, width), dtype=values.dtype)
    for (row, column), weight in np.ndenumerate(_window()):
        step = exact[row : row + height, column : column + width] * np.float64(weight)
        step += total
        total[...] = step
    return total


@cache
def _window() -> NDArray[np.float32]:
    """Give the window, (7, 7), in float32 as pyiqa rounds it even where it goes on in float64."""
    offsets = np.arange(-_REACH, _REACH + 1, dtype=np.float64)
    weights = np.exp(-(offsets[:, None] ** 2 + offsets**2) / (2 * _SIGMA**2))
    rounded: NDArray[np.float32] = (weights / weights.sum()).astype(np.float32)
    return rounded


@cache
def _band(dtype: np.dtype[Any]) -> Values:
    """Give the matrix that convolves a block of pixels; each column holds the window of one pixel."""
    band = np.zeros((_SIDE, _BLOCK + 2 * _REACH, _BLOCK), dtype=dtype)
    for column in range(_BLOCK):
        band[:, column : column + _SIDE, column] = _window()
    return band.reshape(-1, _BLOCK)
