from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from banana100_core.imaging.comparison import DifferenceMode, colour_map, difference, largest_difference

COMPUTED = [DifferenceMode.SIGNED, DifferenceMode.ABSOLUTE, DifferenceMode.RELATIVE]


def one(*rgb: int) -> np.ndarray:
    return np.array([[rgb]], np.uint8)


def noise(seed: int) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, 256, (150, 40, 3), dtype=np.uint8)


def test_what_became_brighter_is_above_mid_grey() -> None:
    shown = difference(one(100, 100, 100), one(101, 99, 100), DifferenceMode.SIGNED, gain=6)
    assert shown.tolist() == [[[134, 122, 128]]]


def test_absolute_differences_are_on_black() -> None:
    shown = difference(one(100, 100, 100), one(101, 97, 100), DifferenceMode.ABSOLUTE, gain=6)
    assert shown.tolist() == [[[6, 18, 0]]]


def test_what_leaves_the_range_is_clipped_and_does_not_wrap() -> None:
    black, white = one(0, 0, 0), one(255, 255, 255)
    assert difference(black, white, DifferenceMode.SIGNED, 50).max() == 255
    assert difference(white, black, DifferenceMode.SIGNED, 50).max() == 0
    assert difference(white, black, DifferenceMode.ABSOLUTE, 50).min() == 255


def test_relative_differences_are_parts_of_the_reference() -> None:
    shown = difference(one(100, 200, 50), one(110, 180, 50), DifferenceMode.RELATIVE)
    assert shown.tolist() == [[[round(255 * 10 / 102.55), round(255 * 20 / 202.55), 0]]]
    assert difference(one(0, 0, 0), one(1, 0, 0), DifferenceMode.RELATIVE).max() < 110  # noise in black


def test_grey_and_false_colour_take_the_channel_that_changed_most() -> None:
    before, after = one(100, 100, 100), one(103, 95, 101)
    assert largest_difference(before, after, DifferenceMode.ABSOLUTE, 6).tolist() == [[30]]
    assert largest_difference(before, after, DifferenceMode.SIGNED, 6).tolist() == [[98]]
    assert largest_difference(after, before, DifferenceMode.SIGNED, 6).tolist() == [[158]]


@pytest.mark.parametrize("mode", COMPUTED)
def test_the_largest_is_that_of_the_channels(mode: DifferenceMode) -> None:
    a, b = noise(3), noise(4)
    channels = difference(a, b, mode, 0.5).astype(int)
    largest = largest_difference(a, b, mode, 0.5).astype(int)
    zero = 128 if mode is DifferenceMode.SIGNED else 0
    assert abs(np.abs(channels - zero).max(axis=2) - np.abs(largest - zero)).max() <= 1


@pytest.mark.parametrize("mode", COMPUTED)
def test_one_channel_alone_can_be_compared(mode: DifferenceMode) -> None:
    a, b = noise(3), noise(4)
    alone = difference(a[..., 1].copy(), b[..., 1].copy(), mode, 2)
    np.testing.assert_array_equal(alone, difference(a, b, mode, 2)[..., 1])
    np.testing.assert_array_equal(largest_difference(a[..., 1].copy(), b[..., 1].copy(), mode, 2), alone)


def test_false_colour_grows_brighter_away_from_no_change() -> None:
    luma = colour_map(DifferenceMode.ABSOLUTE) @ np.array([0.2126, 0.7152, 0.0722])
    assert (np.diff(luma) > -0.6).all()
    assert luma[0] < 5
    assert luma[-1] > 240
    luma = colour_map(DifferenceMode.SIGNED) @ np.array([0.2126, 0.7152, 0.0722])
    assert luma[128] < 60
    assert min(luma[0], luma[-1]) > 140


@pytest.mark.parametrize("mode", COMPUTED)
def test_equal_pictures_show_nothing(mode: DifferenceMode) -> None:
    shown = difference(noise(1), noise(1), mode, 10)
    assert len(np.unique(shown.reshape(-1, 3), axis=0)) == 1


@given(gain=st.floats(0.25, 64), seed=st.integers(0, 20))
def test_signed_is_what_plain_arithmetic_gives(gain: float, seed: int) -> None:
    a, b = noise(seed), noise(seed + 1)
    expected = np.clip((b.astype(np.float32) - a) * np.float32(gain) + 128 + 0.5, 0, 255).astype(np.uint8)
    np.testing.assert_array_equal(difference(a, b, DifferenceMode.SIGNED, gain), expected)


def test_pictures_of_unlike_sizes_are_refused() -> None:
    with pytest.raises(ValueError, match=r"\(40, 150\) and \(40, 149\)"):
        difference(noise(0), noise(0)[:-1], DifferenceMode.SIGNED, 1)


def test_the_pictures_are_left_as_they_were() -> None:
    a, b = noise(0), noise(1)
    largest_difference(a, b, DifferenceMode.RELATIVE, 3)
    np.testing.assert_array_equal(a, noise(0))
    np.testing.assert_array_equal(b, noise(1))
