"""Our correlation gives what SciPy's does."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.ndimage import correlate1d

from banana100_core.imaging.filters import correlate


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
