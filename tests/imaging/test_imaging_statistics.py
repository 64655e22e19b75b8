"""Statistics of a rectangle, against numpy."""

from __future__ import annotations

import numpy as np
import pytest

from banana100_core.imaging.statistics import region_statistics


@pytest.mark.parametrize("shape", [(31, 17, 3), (30, 10, 3), (1, 1, 3)])
def test_all_is_what_numpy_gives(shape: tuple[int, ...]) -> None:
    pixels = np.random.default_rng(0).integers(3, 240, shape, dtype=np.uint8)
    for channel, found in enumerate(region_statistics(pixels)):
        values = pixels[..., channel]
        assert found.mean == pytest.approx(values.mean())
        assert found.deviation == pytest.approx(values.std())
        assert (found.low, found.high) == (values.min(), values.max())
        assert found.median == np.median(values)
        np.testing.assert_array_equal(found.histogram, np.bincount(values.ravel(), minlength=256))


def test_a_rectangle_without_pixels_is_refused() -> None:
    with pytest.raises(ValueError, match="without pixels"):
        region_statistics(np.zeros((0, 4, 3), np.uint8))
