"""Colours and how far apart they are, against published values and scikit-image."""

from __future__ import annotations

import numpy as np
import pytest
from skimage import color

from banana100_core.imaging.colour_spaces import delta_e_2000, to_lab

# Sharma, Wu, Dalal (2005), Table 1: pairs 1, 7, 17, 20, 25 and 34, chosen for the formula's discontinuities.
PUBLISHED = [
    ((50.0, 2.6772, -79.7751), (50.0, 0.0, -82.7485), 2.0425),
    ((50.0, 0.0, 0.0), (50.0, -1.0, 2.0), 2.3669),
    ((50.0, 2.5, 0.0), (73.0, 25.0, -18.0), 27.1492),
    ((50.0, 2.5, 0.0), (58.0, 24.0, 15.0), 19.4535),
    ((60.2574, -34.0099, 36.2677), (60.4626, -34.1751, 39.4387), 1.2644),
    ((2.0776, 0.0795, -1.135), (0.9033, -0.0636, -0.5514), 0.9082),
]


@pytest.mark.parametrize(("one", "other", "expected"), PUBLISHED)
def test_ciede2000_gives_the_published_values(one, other, expected) -> None:
    assert delta_e_2000(one, other) == pytest.approx(expected, abs=1e-4)
    assert delta_e_2000(other, one) == pytest.approx(expected, abs=1e-4)
    assert delta_e_2000(one, one) == 0


def test_lab_is_that_of_scikit_image() -> None:
    rgb = np.random.default_rng(0).integers(0, 256, (60, 50, 3), dtype=np.uint8)
    np.testing.assert_allclose(to_lab(rgb), color.rgb2lab(rgb), atol=0.02)
    white = to_lab(np.array([255, 255, 255], np.uint8))
    assert white.tolist() == pytest.approx([100, 0, 0], abs=1e-3)
