"""PIQE (Venkatanath and others 2015), as pyiqa 0.1.16 computes it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from banana100_core.errors import MetricError
from banana100_core.scoring.native.filters import normalise
from banana100_core.scoring.native.single import EPSILON, REACH, normalise_single
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
        rows = normalise(plane, top, bottom, "edge", EPSILON)
        columns = plane.shape[1] // BLOCK
        blocks = rows[:, : columns * BLOCK].reshape(-1, BLOCK, columns, BLOCK).swapaxes(1, 2)
        found = _measure(blocks.reshape(-1, BLOCK, BLOCK))
        active = found.variance > _ACTIVE_VARIANCE
        delicate = (found.variance > _ACTIVE_VARIANCE - 0.005) & (
            (found.variance < _ACTIVE_VARIANCE + 0.005)
            | (found.flattest < 1.25 * _FLAT_DEVIATION**2)
            | (found.noise > -0.02)
        )
        if delicate.any():
            active[delicate], distortion = _exactly(plane, top, bottom, delicate)
            return distortion, int(np.count_nonzero(active))
        return 0.0, int(np.count_nonzero(active))

    parts = over_strips(measure, height, strip_rows(luma.width, BLOCK), luma.threads)
    distortion, active = (sum(column) for column in zip(*parts, strict=True))
    return float(100 * (distortion + 1) / (active + 1))


def _exactly(
    plane: NDArray[np.uint8], top: int, bottom: int, wanted: NDArray[np.bool_]
) -> tuple[NDArray[np.bool_], float]:
    """Give which of the wanted blocks of a strip are active, and their summed distortion, as float32 has it.

    pyiqa's rounding moves a block's variance by up to a percent, and so its share, and at times a decision.
    Blocks that are neither distorted nor near to it have no share in the distortion.
    """
    rows = plane[np.clip(np.arange(top - REACH, bottom + REACH), 0, plane.shape[0] - 1)]
    rows = np.pad(rows, ((0, 0), (REACH, REACH)), mode="edge")
    side = BLOCK + 2 * REACH
    patches = np.lib.stride_tricks.sliding_window_view(rows, (side, side))[::BLOCK, ::BLOCK]
    patches = patches.reshape(-1, side, side)[wanted]
    found = _measure(normalise_single(patches).astype(np.float64))
    active = found.variance > _ACTIVE_VARIANCE
    impaired = found.flattest < _FLAT_DEVIATION**2
    shares = impaired * (1 - found.variance) + (found.noise > 0) * found.variance
    return active, float((active * shares).sum())


class _Blocks(NamedTuple):
    """What decides on blocks."""

    variance: Values
    flattest: Values  # the smallest variance of six neighbours on an edge: the mark of blocky compression
    noise: Values  # deviation minus twice its relation to that of the block's centre; noisy above 0


def _measure(blocks: Values) -> _Blocks:
    """Measure blocks, (count, 16, 16) of normalised luma."""
    sums = blocks.sum(axis=1)
    squares = np.einsum("bij,bij->bj", blocks, blocks)
    variance = _variance(sums.sum(axis=1), squares.sum(axis=1), BLOCK * BLOCK)
    # As pyiqa: the centre is columns 7 and 8, the surround leaves out 7 and 9.
    centre = _variance(sums[:, 7] + sums[:, 8], squares[:, 7] + squares[:, 8], 2 * BLOCK)
    kept = np.delete(np.arange(BLOCK), [7, 9])
    surround = _variance(sums[:, kept].sum(axis=1), squares[:, kept].sum(axis=1), (BLOCK - 2) * BLOCK)
    deviation = np.sqrt(variance)
    with np.errstate(invalid="ignore", divide="ignore"):
        contrast = np.nan_to_num(np.sqrt(centre) / np.sqrt(surround))
        relation = np.abs(deviation - contrast) / np.maximum(deviation, contrast)
    return _Blocks(variance, _flattest_edge(blocks), deviation - 2 * relation)


def _flattest_edge(blocks: Values) -> Values:
    edges = np.stack([blocks[:, 0], blocks[:, -1], blocks[:, :, 0], blocks[:, :, -1]], axis=1)
    segments = np.lib.stride_tricks.sliding_window_view(edges, _SEGMENT, axis=-1)
    squares = np.einsum("besi,besi->bes", segments, segments)
    return np.asarray(_variance(segments.sum(axis=-1), squares, _SEGMENT).min(axis=(1, 2)))


def _variance(sums: Values, squares: Values, count: int) -> Values:
    """Give the unbiased variance from sums, never below 0 through rounding."""
    return np.maximum((squares - sums * sums / count) / (count - 1), 0.0)
