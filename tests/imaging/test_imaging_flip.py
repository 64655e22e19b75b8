"""FLIP against the authors' own program, flip-evaluator 1.7, on pictures that can be made anywhere."""

from __future__ import annotations

import numpy as np
import pytest
from skimage import data

from banana100_core.imaging.flip import flip


def test_noise_on_a_photograph_is_what_the_authors_program_gives() -> None:
    picture = data.astronaut()
    noise = np.random.default_rng(0).integers(-20, 21, picture.shape)
    noisy = np.clip(picture + noise, 0, 255).astype(np.uint8)
    errors = flip(picture, noisy)
    assert errors.mean() == pytest.approx(0.09758, abs=3e-4)
    assert errors.max() == pytest.approx(0.32633, abs=1e-3)


def test_shapes_points_and_a_cast_are_what_the_authors_program_gives() -> None:
    before = np.zeros((48, 64, 3), np.uint8)
    before[..., 0] = np.arange(64) * 4
    before[..., 1] = np.arange(48)[:, None] * 5
    before[..., 2] = 90
    after = before.copy()
    after[10:20, 20:40] = (250, 40, 40)
    after[30, 5] = 255
    after[:, 50:] += 12
    errors = flip(before, after)
    assert errors.mean() == pytest.approx(0.19331, abs=3e-4)
    assert [errors[15, 30], errors[30, 5], errors[24, 55]] == pytest.approx(
        [0.96007, 0.48645, 0.25595], abs=5e-4
    )


def test_equal_pictures_do_not_differ_and_black_from_white_differs_most() -> None:
    picture = data.astronaut()[:64, :64]
    assert flip(picture, picture).max() == 0
    black, white = np.zeros((40, 40, 3), np.uint8), np.full((40, 40, 3), 255, np.uint8)
    errors = flip(black, white)
    assert 0.9 < errors.min() <= errors.max() <= 1


def test_pictures_of_unlike_sizes_are_refused() -> None:
    with pytest.raises(ValueError, match="same size"):
        flip(np.zeros((4, 5, 3), np.uint8), np.zeros((5, 4, 3), np.uint8))
