"""NIQE (Mittal, Soundararajan, Bovik 2013), as pyiqa 0.1.16 computes it."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

import numpy as np

from banana100_core.errors import MetricError
from banana100_core.scoring.native.distributions import fit_asymmetric, moments, tables
from banana100_core.scoring.native.halve import halve
from banana100_core.scoring.native.normalise import normalise
from banana100_core.scoring.native.strips import over_strips

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from banana100_core.scoring.native.luma import Luma
    from banana100_core.scoring.native.normalise import Plane, Values

WEIGHTS = "niqe_pristine.npz"
BLOCK = 96
SMALLEST_SIDE = BLOCK
_SHIFTS = ((0, 1), (1, 0), (1, 1), (1, -1))


def niqe(luma: Luma) -> float:
    """Score a picture of at least 96 x 96 pixels; MetricError where no block has texture."""
    height, width = luma.height // BLOCK * BLOCK, luma.width // BLOCK * BLOCK
    whole = luma.rounded[:height, :width]
    half = halve(whole, 1.0, luma.threads) * np.float64(255)
    features = np.hstack([_features(whole, BLOCK, luma.threads), _features(half, BLOCK // 2, luma.threads)])

    known = ~np.isnan(features)
    complete = features[known.all(axis=1)]
    if not len(complete):
        raise MetricError("NIQE is undefined here: no block of the picture has texture to measure.")
    mean = np.where(known, features, 0.0).sum(axis=0) / known.sum(axis=0)
    covariance = np.cov(complete, rowvar=False, ddof=1 if len(complete) > 1 else 0)
    pristine_mean, pristine_covariance = _pristine_model()
    inverse = np.linalg.pinv(
        (pristine_covariance + covariance) / 2, rtol=len(mean) * np.finfo(np.float64).eps
    )
    difference = pristine_mean - mean
    return float(np.sqrt(difference @ inverse @ difference))


@cache
def _pristine_model() -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    with files("resources").joinpath("weights", WEIGHTS).open("rb") as file, np.load(file) as data:
        return data["mu_prisparam"].ravel(), data["cov_prisparam"]


def _features(plane: Plane, block: int, threads: int) -> NDArray[np.float64]:
    """Give 18 features for each block, (blocks, 18); NaN where a side of a distribution is empty."""
    height, width = plane.shape

    def measure(top: int, bottom: int) -> NDArray[np.float64]:
        rows = normalise(plane, top, bottom, "edge", np.float64)
        blocks = rows.reshape(block, width // block, block).swapaxes(0, 1).copy()
        return _block_features(blocks)

    return np.concatenate(over_strips(measure, height, block, threads))


def _block_features(blocks: Values) -> NDArray[np.float64]:
    table = tables()
    count = len(blocks)
    fit = fit_asymmetric(moments(blocks.reshape(count, -1)))
    features = [fit.shape, (fit.left + fit.right) * table.scale[fit.index] / 2]
    for shift in _SHIFTS:
        product = np.roll(blocks, shift, axis=(1, 2))  # within each block
        product *= blocks
        fit = fit_asymmetric(moments(product.reshape(count, -1)))
        left, right = fit.left * table.scale[fit.index], fit.right * table.scale[fit.index]
        features += [fit.shape, (right - left) * table.mean[fit.index], left, right]
    return np.stack(features, axis=1)
