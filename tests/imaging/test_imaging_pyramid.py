from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from banana100_core.imaging.pyramid import build, halve


def noise(height: int, width: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, 256, (height, width, 4), dtype=np.uint8)


def plain_halve(pixels: np.ndarray) -> np.ndarray:
    """The same, pixel by pixel and without a thought to speed."""
    height, width = pixels.shape[:2]
    half = np.zeros(((height + 1) // 2, (width + 1) // 2, 4), np.uint8)
    for y in range(half.shape[0]):
        for x in range(half.shape[1]):
            block = pixels[2 * y : 2 * y + 2, 2 * x : 2 * x + 2].reshape(-1, 4).astype(int)
            half[y, x] = (2 * block.sum(axis=0) + len(block)) // (2 * len(block))
    return half


@given(height=st.integers(1, 20), width=st.integers(1, 20), seed=st.integers(0, 99))
def test_halves_are_box_means_rounded_half_up(height: int, width: int, seed: int) -> None:
    pixels = noise(height, width, seed)
    np.testing.assert_array_equal(halve(pixels), plain_halve(pixels))


@pytest.mark.parametrize(("height", "width"), [(300, 411), (257, 128), (129, 131), (128, 1)])
def test_strips_leave_no_seams(height: int, width: int) -> None:
    pixels = noise(height, width)
    np.testing.assert_array_equal(halve(pixels), np.asarray(Image.fromarray(pixels, "CMYK").reduce(2)))


def test_a_view_that_is_not_contiguous_is_halved_alike() -> None:
    pixels = noise(60, 80)
    np.testing.assert_array_equal(halve(pixels[::2, ::-1]), halve(np.ascontiguousarray(pixels[::2, ::-1])))


def test_white_stays_white_and_black_black() -> None:
    for value in (0, 255):
        pyramid = build(np.full((333, 517, 4), value, np.uint8))
        assert all((level == value).all() for level in pyramid.levels)


def test_levels_halve_down_to_a_small_one_and_keep_odd_sides() -> None:
    pyramid = build(noise(301, 563))
    assert [level.shape[:2] for level in pyramid.levels] == [
        (301, 563),
        (151, 282),
        (76, 141),
        (38, 71),
        (19, 36),
    ]
    assert pyramid.nbytes == sum(level.size for level in pyramid.levels)


def test_level_0_is_the_picture_itself() -> None:
    pixels = noise(70, 90)
    assert build(pixels).levels[0] is pixels


@pytest.mark.parametrize(
    ("scale", "level"),
    [(8, 0), (1, 0), (0.99, 0), (0.51, 0), (0.5, 1), (0.3, 1), (0.25, 2), (0.125, 3), (1e-12, 3)],
)
def test_a_level_has_at_least_a_pixel_for_each_drawn_one(scale: float, level: int) -> None:
    assert build(noise(300, 400)).level_for(scale) == level


def test_a_picture_of_one_pixel() -> None:
    assert len(build(noise(1, 1)).levels) == 1
