"""PIQE (Venkatanath and others 2015), as pyiqa 0.1.16 computes it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from banana100_core.errors import MetricError
from banana100_core.scoring.native.normalise import normalise
from banana100_core.scoring.native.strips import over_strips, strip_rows

if TYPE_CHECKING:
    from banana100_core.scoring.native.luma import Luma

BLOCK = 16
SMALLEST_SIDE = 8  # mirrored, it makes one block
_ACTIVE_VARIANCE = 0.1
_FLAT_DEVIATION = 0.1
_SEGMENT = 6

Values = NDArray[np.float64]


def piqe(luma: Luma) -> float:
    """Score a picture; one without an active block scores 100, a black one has no score."""
    plane = luma.stretched
    if not plane.any():
        raise MetricError("PIQE is undefined here: the picture is all black.")
    # As pyiqa: padded by the remainder, and not to the next whole block.
    padding = (luma.height % BLOCK, luma.width % BLOCK)
    if any(padding):
        plane = np.pad(plane, ((0, padding[0]), (0, padding[1])), mode="symmetric")
    height = plane.shape[0] // BLOCK * BLOCK

    def measure(top: int, bottom: int) -> tuple[float, int]:
        rows = normalise(plane, top, bottom, "edge", np.float32).astype(np.float64)
        columns = plane.shape[1] // BLOCK
        blocks = rows[:, : columns * BLOCK].reshape(-1, BLOCK, columns, BLOCK).swapaxes(1, 2)
        return _distortion(blocks.reshape(-1, BLOCK, BLOCK))

    parts = over_strips(measure, height, strip_rows(luma.width, BLOCK), luma.threads)
    distortion, active = (sum(column) for column in zip(*parts, strict=True))
    return float(100 * (distortion + 1) / (active + 1))


def _distortion(blocks: Values) -> tuple[float, int]:
    """Give the summed distortion of active blocks and their number, of (count, 16, 16) normalised luma."""
    sums = blocks.sum(axis=1)
    squares = np.einsum("bij,bij->bj", blocks, blocks)
    variance = _variance(sums.sum(axis=1), squares.sum(axis=1), BLOCK * BLOCK)
    active = variance > _ACTIVE_VARIANCE

    impaired = _flattest_edge(blocks) < _FLAT_DEVIATION**2
    # As pyiqa: the centre is columns 7 and 8, the surround leaves out 7 and 9.
    centre = _variance(sums[:, 7] + sums[:, 8], squares[:, 7] + squares[:, 8], 2 * BLOCK)
    kept = np.delete(np.arange(BLOCK), [7, 9])
    surround = _variance(sums[:, kept].sum(axis=1), squares[:, kept].sum(axis=1), (BLOCK - 2) * BLOCK)
    deviation = np.sqrt(variance)
    with np.errstate(invalid="ignore", divide="ignore"):
        contrast = np.nan_to_num(np.sqrt(centre) / np.sqrt(surround))
        relation = np.abs(deviation - contrast) / np.maximum(deviation, contrast)
    noisy = deviation > 2 * relation

    shares = (active & impaired) * (1 - variance) + (active & noisy) * variance
    return float(shares.sum()), int(np.count_nonzero(active))


def _flattest_edge(blocks: Values) -> Values:
    """Give the smallest variance of six neighbours on an edge: blocky compression leaves it near 0."""
    edges = np.stack([blocks[:, 0], blocks[:, -1], blocks[:, :, 0], blocks[:, :, -1]], axis=1)
    segments = np.lib.stride_tricks.sliding_window_view(edges, _SEGMENT, axis=-1)
    squares = np.einsum("besi,besi->bes", segments, segments)
    return np.asarray(_variance(segments.sum(axis=-1), squares, _SEGMENT).min(axis=(1, 2)))


def _variance(sums: Values, squares: Values, count: int) -> Values:
    """Give the unbiased variance from sums, never below 0 through rounding."""
    return np.maximum((squares - sums * sums / count) / (count - 1), 0.0)
