from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from banana100_core.imaging.pyramid import build

if TYPE_CHECKING:
    from collections.abc import Callable


def noise(height: int, width: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, 256, (height, width, 4), dtype=np.uint8)


def plain_means(pixels: np.ndarray, side: int) -> np.ndarray:
    """Means of blocks, pixel by pixel and without a thought to speed."""
    height, width = pixels.shape[:2]
    means = np.zeros((-(-height // side), -(-width // side), 4), np.uint8)
    for y in range(means.shape[0]):
        for x in range(means.shape[1]):
            block = pixels[side * y : side * y + side, side * x : side * x + side].reshape(-1, 4).astype(int)
            means[y, x] = (2 * block.sum(axis=0) + len(block)) // (2 * len(block))
    return means


def assert_levels(levels: list[np.ndarray], means: Callable[[np.ndarray, int], np.ndarray]) -> None:
    for place, level in enumerate(levels[1:], 1):
        side, finer = (4, levels[0]) if place == 2 else (2, levels[place - 1])
        expected = means(finer, side).astype(int)
        rows, columns = finer.shape[0] // side, finer.shape[1] // side
        np.testing.assert_array_equal(level[:rows, :columns], expected[:rows, :columns])
        assert abs(level - expected).max() <= 1  # in what is left over, ties may be rounded down


@given(height=st.integers(120, 140), width=st.integers(120, 140), seed=st.integers(0, 9))
@settings(max_examples=5, deadline=None)
def test_levels_are_means_rounded_half_up(height: int, width: int, seed: int) -> None:
    assert_levels(build(noise(height, width, seed)).levels, plain_means)


@pytest.mark.parametrize(
    ("height", "width"), [(300, 411), (257, 128), (129, 131), (128, 1), (1, 4000), (20_000, 3), (3, 20_000)]
)
def test_blocks_leave_no_seams(height: int, width: int) -> None:
    def means(pixels: np.ndarray, side: int) -> np.ndarray:
        return np.asarray(Image.fromarray(pixels, "CMYK").reduce(side))

    assert_levels(build(noise(height, width)).levels, means)


def test_a_view_that_is_not_contiguous_is_halved_alike() -> None:
    pixels = noise(160, 180)
    turned = build(pixels[::2, ::-1]).levels[1]
    np.testing.assert_array_equal(turned, build(np.ascontiguousarray(pixels[::2, ::-1])).levels[1])


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
