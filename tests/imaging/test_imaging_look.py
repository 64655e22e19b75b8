"""Channels and curves for looking."""

from __future__ import annotations

import numpy as np
import pytest
from skimage import color

from banana100_core.imaging.look import MOST_CHROMA, Channel, Look, channel_values, seen_through


def noise() -> np.ndarray:
    return np.random.default_rng(0).integers(0, 256, (40, 30, 3), dtype=np.uint8)


def test_a_neutral_look_changes_nothing() -> None:
    assert Look().neutral
    np.testing.assert_array_equal(seen_through(Look(), noise()), noise())
    assert Look().text == ""


@pytest.mark.parametrize(("channel", "place"), [(Channel.RED, 0), (Channel.GREEN, 1), (Channel.BLUE, 2)])
def test_a_channel_is_shown_in_grey(channel: Channel, place: int) -> None:
    shown = seen_through(Look(channel), noise())
    np.testing.assert_array_equal(shown, noise()[..., place])


def test_perceptual_channels_are_those_of_lab_to_the_nearest_value() -> None:
    rgb = noise()
    light, a, b = np.moveaxis(color.rgb2lab(rgb), -1, 0)
    expected = {
        Channel.LUMINANCE: light * 2.55,
        Channel.A: a + 128,
        Channel.B: b + 128,
        Channel.CHROMA: np.hypot(a, b) * 255 / MOST_CHROMA,
    }
    for channel, values in expected.items():
        assert abs(channel_values(channel, rgb) - values).max() < 0.55


def test_grey_has_no_chroma_and_lies_in_the_middle_of_a_and_b() -> None:
    grey = np.repeat(np.arange(256, dtype=np.uint8)[None, :, None], 3, axis=2)
    assert channel_values(Channel.CHROMA, grey).max() == 0
    assert set(channel_values(Channel.A, grey).ravel()) == {128}
    assert set(channel_values(Channel.B, grey).ravel()) == {128}


def test_curves_are_gain_then_brightness_then_gamma() -> None:
    ramp = np.repeat(np.arange(256, dtype=np.uint8)[None, :, None], 3, axis=2)
    shown = seen_through(Look(gain=1.5, brightness=-0.1, gamma=2.0), ramp)[0, :, 0]
    expected = 255 * np.clip(np.arange(256) / 255 * 1.5 - 0.1, 0, 1) ** 0.5
    assert abs(shown - expected).max() <= 0.5
    assert Look(gain=1.5, brightness=-0.1, gamma=2.0).text == "gain 1.50, brightness -0.10, gamma 2.00"


def test_the_picture_is_left_as_it_was() -> None:
    pixels = noise()
    seen_through(Look(Channel.A, gain=2.0), pixels)
    seen_through(Look(gain=2.0), pixels)
    np.testing.assert_array_equal(pixels, noise())
