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

# Raised whenever a score can change.
_VERSION = 1


@dataclass(frozen=True, slots=True)
class _Native:
    score: Callable[[Luma], float]
    smallest_side: int
    weights: str | None


NATIVE_METRICS = {
    "brisque": _Native(brisque.brisque, brisque.SMALLEST_SIDE, brisque.WEIGHTS),
    "niqe": _Native(niqe.niqe, niqe.SMALLEST_SIDE, niqe.WEIGHTS),
    "piqe": _Native(piqe.piqe, piqe.SMALLEST_SIDE, None),
}


def score(
    pixels: NDArray[np.uint8], metrics: Sequence[str], threads: int = 1
) -> dict[str, float | MetricError]:
    """Score one picture, uint8 (H, W, 3) RGB; a metric with no score on it gives the reason as an error."""
    luma = Luma(pixels, threads)
    return {metric: _score(metric, luma) for metric in metrics}


@cache
def native_version(metric: str) -> str:
    """Name the method behind a native score: implementation, weights and precision."""
    weights = NATIVE_METRICS[metric].weights
    digest = "none" if weights is None else _digest(weights)
    return f"native-{_VERSION};weights={digest};float64"


def _score(metric: str, luma: Luma) -> float | MetricError:
    native = NATIVE_METRICS[metric]
    shorter = min(luma.width, luma.height)
    if shorter < native.smallest_side:
        return MetricError(
            f"{metric} needs at least {native.smallest_side} pixels a side; this picture is "
            f"{luma.width} x {luma.height}."
        )
    try:
        return native.score(luma)
    except MetricError as error:
        return error


def _digest(weights: str) -> str:
    return hashlib.sha256(files("resources").joinpath("weights", weights).read_bytes()).hexdigest()[:8]
