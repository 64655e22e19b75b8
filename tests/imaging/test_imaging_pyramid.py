from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from banana100_core.imaging.pyramid import build, with_halves


def noise(height: int, width: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, 256, (height, width, 3), dtype=np.uint8)


def plain_means(pixels: np.ndarray, side: int) -> np.ndarray:
    """Means of blocks, rounded half up; the last pixels stand in for those that a block lacks."""
    lacking = [-extent % side for extent in pixels.shape[:2]]
    pixels = np.pad(pixels, ((0, lacking[0]), (0, lacking[1]), (0, 0)), mode="edge").astype(int)
    height, width = pixels.shape[0] // side, pixels.shape[1] // side
    sums = pixels.reshape(height, side, width, side, 3).sum(axis=(1, 3))
    return (2 * sums + side**2) // (2 * side**2)


def assert_levels(levels: list[np.ndarray]) -> None:
    for place, level in enumerate(levels[1:], 1):
        side, finer = (4, levels[0]) if place == 2 else (2, levels[place - 1])
        np.testing.assert_array_equal(level, plain_means(finer, side)[: level.shape[0], : level.shape[1]])


@given(height=st.integers(120, 140), width=st.integers(120, 140), seed=st.integers(0, 9))
@settings(max_examples=5, deadline=None)
def test_levels_are_means_rounded_half_up(height: int, width: int, seed: int) -> None:
    assert_levels(build(noise(height, width, seed)).levels)


@pytest.mark.parametrize(
    ("height", "width"), [(300, 411), (257, 128), (129, 131), (128, 1), (1, 4000), (20_000, 3), (3, 20_000)]
)
def test_blocks_leave_no_seams(height: int, width: int) -> None:
    assert_levels(build(noise(height, width)).levels)


def test_a_view_that_is_not_contiguous_is_halved_alike() -> None:
    pixels = noise(160, 180)
    turned = build(pixels[::2, ::-1]).levels[1]
    np.testing.assert_array_equal(turned, build(np.ascontiguousarray(pixels[::2, ::-1])).levels[1])


def test_white_stays_white_and_black_black() -> None:
    for value in (0, 255):
        pyramid = build(np.full((333, 517, 3), value, np.uint8))
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


def test_a_large_picture_has_its_halves_when_they_are_asked_for() -> None:
    pyramid = build(noise(1300, 1601))
    assert pyramid.halvings == (0, 2, 3, 4, 5)
    assert pyramid.lacks_halves
    whole = with_halves(pyramid)
    assert whole.halvings == (0, 1, 2, 3, 4, 5)
    assert [id(whole.levels[place]) for place in (0, 2, 3, 4, 5)] == [id(level) for level in pyramid.levels]
    np.testing.assert_array_equal(whole.levels[1], plain_means(whole.levels[0], 2))
    assert with_halves(whole) is whole


@pytest.mark.parametrize(("scale", "halvings"), [(1, 0), (0.51, 0), (0.5, 2), (0.3, 2), (0.25, 2), (0.12, 3)])
def test_the_next_level_stands_in_for_halves_that_are_not_made(scale: float, halvings: int) -> None:
    pyramid = build(noise(1300, 1601))
    assert pyramid.halvings[pyramid.level_for(scale)] == halvings
