"""Our filters give what SciPy's do."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.ndimage import correlate1d, gaussian_filter

from banana100_core.imaging.filters import blurred, correlate


@pytest.mark.parametrize("shape", [(1, 1), (3, 40), (64, 51)])
@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_correlating_equals_scipy(shape, kind):
    random = np.random.default_rng(1)
    channel = random.random(shape).astype(kind)
    down, across = random.random(9), random.random(5)
    expected = correlate1d(correlate1d(channel, down, axis=0, mode="nearest"), across, axis=1, mode="nearest")
    ours = correlate(channel, down.tolist(), across.tolist())
    assert ours.dtype == kind
    assert ours.shape == shape
    np.testing.assert_allclose(ours, expected, rtol=1e-6 if kind is np.float32 else 1e-12)


def test_blurring_equals_scipy():
    channel = np.random.default_rng(2).random((50, 70)) * 255
    expected = gaussian_filter(channel, 1.5, mode="nearest", truncate=3.5)
    np.testing.assert_allclose(blurred(channel, 1.5, 3.5), expected, rtol=1e-12)
