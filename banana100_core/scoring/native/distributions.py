"""Fits of generalised Gaussian distributions by moment matching, from tables over the shape parameter."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Values = NDArray[np.float64]


class Moments(NamedTuple):
    """What the fits need of samples: how many values, and sums over the negative and the positive ones."""

    size: Values
    negative: Values
    positive: Values
    negative_squares: Values
    positive_squares: Values
    absolute: Values


@dataclass(frozen=True, slots=True)
class AsymmetricFit:
    """An asymmetric generalised Gaussian: its shape, where that is in the tables, deviation on each side."""

    shape: Values
    left: Values
    right: Values
    index: NDArray[np.intp]


class Tables(NamedTuple):
    """Functions of the shape parameter, which runs from 0.2 to 10 in steps of 0.001."""

    shape: Values
    symmetric_ratio: Values  # variance over squared mean of absolutes; falls
    asymmetric_ratio: Values  # its inverse; rises
    scale: Values  # scale parameter over deviation
    mean: Values  # mean over the difference of scale parameters
    mean_by_deviation: Values  # mean over the difference of deviations


@cache
def tables() -> Tables:
    """Tables on pyiqa's grid, whose steps are rounded to float32."""
    shape = np.arange(0.2, 10 + 0.001, 0.001).astype(np.float32).astype(np.float64)
    one, two, three = (
        np.array([math.lgamma(order / each) for each in shape.tolist()]) for order in (1.0, 2.0, 3.0)
    )
    return Tables(
        shape=shape,
        symmetric_ratio=np.exp(one + three - 2 * two),
        asymmetric_ratio=np.exp(2 * two - (one + three)),
        scale=np.sqrt(np.exp(one - three)),
        mean=np.exp(two - one),
        mean_by_deviation=np.exp(two - (one + three) / 2),
    )


def moments(samples: NDArray[np.float32] | Values) -> Moments:
    """Sum over the last axis of (samples, size)."""
    values = samples.astype(np.float64, copy=False)
    negative = np.minimum(values, 0.0)
    positive = np.maximum(values, 0.0)
    below, above = negative.sum(axis=-1), positive.sum(axis=-1)
    return Moments(
        size=np.full(values.shape[:-1], float(values.shape[-1])),
        negative=_count(samples < 0),
        positive=_count(samples > 0),
        # einsum and not dot: BLAS sums in another order when it has other threads.
        negative_squares=np.einsum("bi,bi->b", negative, negative),
        positive_squares=np.einsum("bi,bi->b", positive, positive),
        absolute=above - below,
    )


def _count(chosen: NDArray[np.bool_]) -> Values:
    # Row by row, since along an axis NumPy would add truth values up one by one.
    return np.array([np.count_nonzero(sample) for sample in chosen], dtype=np.float64)


def total(parts: list[Moments]) -> Moments:
    """Add the moments of the parts of a sample."""
    return Moments(*(np.sum(column, axis=0) for column in zip(*parts, strict=True)))


def fit_symmetric(sample: Moments) -> tuple[Values, Values]:
    """Give the shape and the variance of a zero-mean generalised Gaussian."""
    table = tables()
    variance = (sample.negative_squares + sample.positive_squares) / sample.size
    with np.errstate(invalid="ignore"):
        ratio = variance / (sample.absolute / sample.size) ** 2
    index = len(table.shape) - 1 - _nearest(table.symmetric_ratio[::-1], ratio)
    return table.shape[index], variance


def fit_asymmetric(sample: Moments) -> AsymmetricFit:
    """Fit an asymmetric generalised Gaussian; a side without values has deviation NaN."""
    table = tables()
    with np.errstate(invalid="ignore", divide="ignore"):
        left = np.sqrt(sample.negative_squares / sample.negative)
        right = np.sqrt(sample.positive_squares / sample.positive)
        balance = left / right
        mean_square = (sample.negative_squares + sample.positive_squares) / sample.size
        ratio = (sample.absolute / sample.size) ** 2 / mean_square
        ratio = ratio * (balance**3 + 1) * (balance + 1) / (balance**2 + 1) ** 2
    index = _nearest(table.asymmetric_ratio, ratio)
    return AsymmetricFit(table.shape[index], left, right, index)


def _nearest(rising: Values, wanted: Values) -> NDArray[np.intp]:
    """Index of the nearest entry of a rising table, of the lower one in a tie, 0 for NaN."""
    wanted = np.where(np.isnan(wanted), -np.inf, wanted)
    above = np.clip(np.searchsorted(rising, wanted), 1, len(rising) - 1)
    with np.errstate(invalid="ignore"):
        lower_is_nearer = wanted - rising[above - 1] <= rising[above] - wanted
    return np.where(lower_is_nearer, above - 1, above)
