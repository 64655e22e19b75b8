"""PSNR, SSIM and detail against scikit-image's."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.ndimage import gaussian_filter
from skimage.data import astronaut
from skimage.metrics import peak_signal_noise_ratio, structural_similarity

from banana100_core.imaging.similarity import detail_of, psnr, ssim


@pytest.fixture(scope="module")
def pair():
    """A photograph, 301 x 260, and the same with noise."""
    one = astronaut()[40:341, 100:360]
    noise = np.random.default_rng(2).normal(0, 12, one.shape)
    return one, np.clip(one + noise, 0, 255).astype(np.uint8)


def test_psnr_is_scikit_images(pair):
    assert psnr(*pair) == pytest.approx(peak_signal_noise_ratio(*pair, data_range=255), abs=1e-9)
    assert psnr(pair[0], pair[0]) is None


def test_ssim_is_scikit_images(pair):
    one, other = (each[..., 1] for each in pair)
    theirs = structural_similarity(
        one, other, data_range=255, gaussian_weights=True, sigma=1.5, use_sample_covariance=False
    )
    assert ssim(one, other) == pytest.approx(theirs, abs=1e-9)
    assert ssim(one, one) == pytest.approx(1)


def test_detail_is_what_a_blur_takes(pair):
    plane = pair[1][..., 1]
    blurred = gaussian_filter(plane.astype(float), 2, truncate=4)
    assert detail_of(plane) == pytest.approx((plane - blurred)[8:-8, 8:-8].std(), abs=1e-9)


def test_tiny_planes():
    tiny = np.zeros((10, 40), np.uint8)
    assert ssim(tiny, tiny) is None
    assert detail_of(tiny) == 0
    assert psnr(tiny, tiny + 255) == 0
