"""Score a picture by the native metrics, sharing what they share."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

from banana100_core.errors import MetricError
from banana100_core.scoring.native import brisque, niqe, piqe
from banana100_core.scoring.native.luma import Luma

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class _Native:
    score: Callable[[Luma], float]
    smallest_side: int
    weights: str | None
    precision: str  # of normalised luma; sums are in float64
    version: int = 1  # raised whenever a score can change


NATIVE_METRICS = {
    "brisque": _Native(brisque.brisque, brisque.SMALLEST_SIDE, brisque.WEIGHTS, "float32"),
    "niqe": _Native(niqe.niqe, niqe.SMALLEST_SIDE, niqe.WEIGHTS, "float64", version=2),
    "piqe": _Native(piqe.piqe, piqe.SMALLEST_SIDE, None, "float32"),
}


class NativeScorer:
    """Scores one picture, uint8 (H, W, 3) RGB; what the metrics share is computed once."""

    def __init__(self, pixels: NDArray[np.uint8], threads: int = 1) -> None:
        self._luma = Luma(pixels, threads)

    def score(self, metric: str) -> float:
        """Score by one metric; MetricError where the picture has no score by it."""
        native, luma = NATIVE_METRICS[metric], self._luma
        if min(luma.width, luma.height) < native.smallest_side:
            raise too_small(metric, native.smallest_side, luma.width, luma.height)
        return native.score(luma)


def score(
    pixels: NDArray[np.uint8], metrics: Sequence[str], threads: int = 1
) -> dict[str, float | MetricError]:
    """Score one picture by some metrics; one with no score on it gives the reason as an error."""
    scorer = NativeScorer(pixels, threads)
    scores: dict[str, float | MetricError] = {}
    for metric in metrics:
        try:
            scores[metric] = scorer.score(metric)
        except MetricError as error:
            scores[metric] = error
    return scores


def too_small(metric: str, smallest_side: int, width: int, height: int) -> MetricError:
    """Say that a picture is too small for a metric."""
    return MetricError(
        f"{metric} needs at least {smallest_side} pixels a side; this picture is {width} x {height}."
    )


@cache
def native_version(metric: str) -> str:
    """Name the method behind a native score: implementation, weights and precision."""
    native = NATIVE_METRICS[metric]
    return f"native-{native.version};weights={shipped_digest(metric)};{native.precision}"


@cache
def shipped_digest(metric: str) -> str:
    """Give the first digits of the SHA-256 of the weights that ship for a metric, "none" without any."""
    weights = NATIVE_METRICS[metric].weights
    if weights is None:
        return "none"
    return hashlib.sha256(files("resources").joinpath("weights", weights).read_bytes()).hexdigest()[:8]
