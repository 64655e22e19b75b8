"""BRISQUE (Mittal, Moorthy, Bovik 2012), as pyiqa 0.1.16 computes it."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

import numpy as np

from banana100_core.errors import MetricError
from banana100_core.scoring.native.distributions import (
    Moments,
    fit_asymmetric,
    fit_symmetric,
    moments,
    tables,
    total,
)
from banana100_core.scoring.native.halve import halve
from banana100_core.scoring.native.normalise import normalise
from banana100_core.scoring.native.strips import over_strips, strip_rows

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from banana100_core.scoring.native.luma import Luma
    from banana100_core.scoring.native.normalise import Plane

WEIGHTS = "brisque_svm.npz"
SMALLEST_SIDE = 7

# The ranges that the release scales its 36 features by, low and high.
_FEATURE_RANGES = np.array(
    [
        [0.338, 10], [0.017204, 0.806612],
        [0.236, 1.642], [-0.123884, 0.20293], [0.000155, 0.712298], [0.001122, 0.470257],
        [0.244, 1.641], [-0.123586, 0.179083], [0.000152, 0.710456], [0.000975, 0.470984],
        [0.249, 1.555], [-0.135687, 0.100858], [0.000174, 0.684173], [0.000913, 0.534174],
        [0.258, 1.561], [-0.143408, 0.100486], [0.000179, 0.685696], [0.000888, 0.536508],
        [0.471, 3.264], [0.012809, 0.703171],
        [0.218, 1.046], [-0.094876, 0.187459], [0.000015, 0.442057], [0.001272, 0.40803],
        [0.222, 1.042], [-0.115772, 0.162604], [0.000016, 0.444362], [0.001374, 0.40243],
        [0.227, 0.996], [-0.117188, 0.098323], [0.00003, 0.531903], [0.001122, 0.369589],
        [0.228, 0.99], [-0.12243, 0.098658], [0.000028, 0.530092], [0.001118, 0.370399],
    ]
)  # fmt: skip


def brisque(luma: Luma) -> float:
    """Score a picture; MetricError where there is nothing to fit."""
    half = halve(luma.rounded, 255.0, luma.threads)
    features = np.concatenate([_features(plane, luma.threads) for plane in (luma.rounded, half)])
    if not np.isfinite(features).all():
        raise MetricError("BRISQUE is undefined here: the picture has no texture to measure.")
    low, high = _FEATURE_RANGES.T
    scaled = -1 + 2 * (features - low) / (high - low)
    coefficients, vectors, gamma, rho = _support_vectors()
    distances = ((scaled - vectors) ** 2).sum(axis=1)
    return float(np.exp(-gamma * distances) @ coefficients - rho)


@cache
def _support_vectors() -> tuple[NDArray[np.float64], NDArray[np.float64], float, float]:
    with files("resources").joinpath("weights", WEIGHTS).open("rb") as file, np.load(file) as data:
        return (
            data["sv_coef"].astype(np.float64),
            data["sv"].astype(np.float64),
            float(data["gamma"]),
            float(data["rho"]),
        )


def _features(plane: Plane, threads: int) -> NDArray[np.float64]:
    """Give the 18 features of one scale: of normalised luma, and of its products with four neighbours."""
    height = plane.shape[0]

    def measure(top: int, bottom: int) -> list[Moments]:
        # The products need the row above; above the first row lies the last.
        if top:
            rows = normalise(plane, top - 1, bottom, "zero", np.float32)
        else:
            above = normalise(plane, height - 1, height, "zero", np.float32)
            rows = np.concatenate([above, normalise(plane, top, bottom, "zero", np.float32)])
        return [moments(values.reshape(1, -1)) for values in (rows[1:], *_products(rows))]

    parts = over_strips(measure, height, strip_rows(plane.shape[1]), threads)
    luma, *products = (total(list(column)) for column in zip(*parts, strict=True))
    shape, variance = fit_symmetric(luma)
    if np.sqrt(variance[0]) <= 1e-8:
        raise MetricError("BRISQUE is undefined here: the picture is all black.")
    features = [shape, variance]
    for product in products:
        fit = fit_asymmetric(product)
        mean = (fit.right - fit.left) * tables().mean_by_deviation[fit.index]
        features += [fit.shape, mean, fit.left**2, fit.right**2]
    return np.concatenate(features)


def _products(rows: NDArray[np.float32]) -> list[NDArray[np.float32]]:
    """Multiply rows, but the first, by their neighbours: left, above, above left, above right, all around."""
    here, above = rows[1:], rows[:-1]
    return [
        here * np.roll(here, 1, axis=1),
        here * above,
        here * np.roll(above, 1, axis=1),
        here * np.roll(above, -1, axis=1),
    ]
