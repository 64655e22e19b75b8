"""The native metrics against pyiqa's own, over kinds of pictures, sizes and odd sides."""

from __future__ import annotations

import importlib.util
import io
import json
import os
from pathlib import Path

import numpy as np
import pytest
import skimage.data
from PIL import Image, ImageFilter

from banana100_core.errors import MetricError
from banana100_core.scoring.native import NATIVE_METRICS, NativeScorer, brisque, normalise, score
from banana100_core.scoring.native.halve import halve
from banana100_core.scoring.native.luma import Luma
from tests.scoring.pyiqa_process import LUMA, pyiqa_process

CALIBRATION = Path(os.environ.get("B100_CALIBRATION", Path(__file__).parents[3] / "shared" / "calibration"))

# NIQE and PIQE differ from pyiqa's in the last digits only. BRISQUE ends with a sum of 774 large terms of
# both signs, which pyiqa adds in float32.
RELATIVE = {"niqe": 1e-6, "piqe": 1e-6}
BRISQUE_ABSOLUTE = 0.015

needs_pyiqa = pytest.mark.skipif(importlib.util.find_spec("pyiqa") is None, reason="pyiqa is not installed")


@pytest.fixture(scope="module")
def pyiqa_score():
    """Give what pyiqa says of a picture; see `pyiqa_process`."""
    process = pyiqa_process()
    process.request((LUMA, np.zeros((8, 8, 3), np.uint8)))  # starts before a test looks for what it leaves
    yield lambda pixels, what: process.request((what, np.ascontiguousarray(pixels)))
    process.stop()


def assert_equal(pyiqa_score, pixels: np.ndarray, metrics=tuple(NATIVE_METRICS)) -> None:
    for metric, ours in score(pixels, metrics).items():
        theirs = pyiqa_score(pixels, metric)
        if isinstance(ours, MetricError):
            assert np.isnan(theirs), f"{metric}: pyiqa gives {theirs}, we give {ours}"
        elif metric == "brisque":
            assert ours == pytest.approx(theirs, abs=BRISQUE_ABSOLUTE), metric
        else:
            assert ours == pytest.approx(theirs, rel=RELATIVE[metric]), metric


def photograph(name: str = "astronaut") -> np.ndarray:
    return np.ascontiguousarray(getattr(skimage.data, name)()[..., :3])


def as_jpeg(pixels: np.ndarray, quality: int) -> np.ndarray:
    stream = io.BytesIO()
    Image.fromarray(pixels).save(stream, "JPEG", quality=quality)
    return np.asarray(Image.open(stream).convert("RGB"))


def half_filled(colour: tuple[int, int, int]) -> np.ndarray:
    pixels = photograph().copy()
    pixels[:250] = colour
    return pixels


def checks(side: int) -> np.ndarray:
    dark = (np.indices((300, 300)) // side).sum(axis=0) % 2 == 0
    return np.where(dark[..., None], 0, 255).astype(np.uint8).repeat(3, axis=2)


KINDS = {
    "coffee": lambda: photograph("coffee"),
    "cat": lambda: photograph("chelsea"),
    "rocket": lambda: photograph("rocket"),
    "grey": lambda: photograph()[..., :1].repeat(3, axis=2),
    "dark": lambda: photograph() // 3,
    "saturated": lambda: np.clip(photograph().astype(int) * 2, 0, 255).astype(np.uint8),
    "half white": lambda: half_filled((255, 255, 255)),
    "half black": lambda: half_filled((0, 0, 0)),
    "half of one colour": lambda: half_filled((120, 30, 77)),
    "noise": lambda: np.random.default_rng(0).integers(0, 256, (200, 210, 3), dtype=np.uint8),
    "blurred": lambda: np.asarray(Image.fromarray(photograph()).filter(ImageFilter.GaussianBlur(4))),
    "jpeg 10": lambda: as_jpeg(photograph(), 10),
    "jpeg 95": lambda: as_jpeg(photograph("coffee"), 95),
    "checks of 20": lambda: checks(20),
    "checks of 1": lambda: checks(1),
    "gradient": lambda: np.linspace(0, 255, 300).astype(np.uint8)[None, :, None].repeat(300, 0).repeat(3, 2),
    "white": lambda: np.full((128, 130, 3), 255, np.uint8),
    "one colour": lambda: np.full((130, 128, 3), 77, np.uint8),
}


@needs_pyiqa
@pytest.mark.parametrize("kind", KINDS)
def test_kinds_of_pictures_score_as_by_pyiqa(pyiqa_score, kind):
    assert_equal(pyiqa_score, KINDS[kind]())


SIZES = [(511, 509), (97, 96), (96, 97), (96, 96), (100, 333), (193, 191), (384, 390), (289, 95), (33, 201)]


@needs_pyiqa
@pytest.mark.parametrize(("height", "width"), SIZES)
def test_odd_sides_score_as_by_pyiqa(pyiqa_score, height, width):
    assert_equal(
        pyiqa_score, photograph()[:height, 20 : 20 + width] if width < 500 else photograph()[:height, :width]
    )


@needs_pyiqa
@pytest.mark.parametrize("side", [*range(7, 19), 31, 32, 33, 47, 48, 95])
def test_tiny_pictures_score_as_by_pyiqa(pyiqa_score, side):
    assert_equal(pyiqa_score, photograph()[100 : 100 + side, 200 : 200 + side])


@needs_pyiqa
def test_a_large_picture_scores_as_by_pyiqa(pyiqa_score):
    rows = np.concatenate([photograph(), photograph()[::-1]])
    assert_equal(pyiqa_score, np.concatenate([rows, rows[:, ::-1]], axis=1)[:1000, :1023])


@needs_pyiqa
def test_random_sizes_and_contents_score_as_by_pyiqa(pyiqa_score):
    random = np.random.default_rng(5)
    sources = [photograph(name) for name in ("astronaut", "coffee", "chelsea", "rocket")]
    for _ in range(25):
        source = sources[random.integers(len(sources))]
        height, width = (int(random.integers(8, side + 1)) for side in source.shape[:2])
        top, left = (int(random.integers(0, side - part + 1)) for side, part in
                     zip(source.shape[:2], (height, width), strict=True))  # fmt: skip
        pixels = source[top : top + height, left : left + width].astype(float)
        pixels = pixels * random.uniform(0.2, 1.5) + random.normal(0, random.choice([0, 1, 10]), pixels.shape)
        assert_equal(pyiqa_score, np.clip(pixels, 0, 255).astype(np.uint8))


@needs_pyiqa
def test_features_of_brisque_are_pyiqas():
    """Before the last sum, nothing is left of BRISQUE's noise but the last digits of float32."""
    import torch
    from pyiqa.archs.brisque_arch import natural_scene_statistics
    from pyiqa.matlab_utils import imresize

    for name in ("astronaut", "coffee"):
        luma = Luma(photograph(name))
        full = torch.from_numpy(luma.rounded.astype(np.float32))[None, None]
        half = imresize(full, scale=0.5, antialiasing=True)
        ours = [brisque._features(luma.rounded, 1), brisque._features(halve(luma.rounded, 255.0), 1)]
        for plane, features in zip((full, half), ours, strict=True):
            theirs = natural_scene_statistics(plane)[0].numpy()
            np.testing.assert_allclose(features, theirs, rtol=2e-5, atol=2e-6)


@needs_pyiqa
def test_luma_is_pyiqas_to_the_last_bit(pyiqa_score):
    pixels = np.random.default_rng(1).integers(0, 256, (500, 700, 3), dtype=np.uint8)
    darker = (pixels.astype(np.float32) * np.float32(0.7)).astype(np.uint8)
    assert np.array_equal(Luma(pixels).rounded, pyiqa_score(pixels, LUMA)[0])
    assert np.array_equal(Luma(darker).stretched, pyiqa_score(darker, LUMA)[1])


def test_convolving_step_by_step_gives_the_same_bits():
    """On a machine whose BLAS rounds in another way the slow path takes over."""
    random = np.random.default_rng(2)
    for shape in ((40, 1000), (7, 7), (9, 60), (120, 23), (8, 5510)):
        values = random.uniform(0, 255, shape).astype(np.float32)
        assert np.array_equal(normalise._convolve_step_by_step(values), normalise._convolve(values))
        squares = values * values
        assert np.array_equal(normalise._convolve_step_by_step(squares), normalise._convolve(squares))


@needs_pyiqa
def test_convolving_gives_the_bits_of_pyiqa():
    import torch
    from pyiqa.matlab_utils import fspecial, imfilter

    plane = Luma(photograph("coffee")).rounded.astype(np.float32)
    for values in (plane, plane * plane):
        theirs = imfilter(torch.from_numpy(values)[None, None], fspecial(7, 7 / 6, 1), padding="replicate")
        ours = normalise._convolve(np.pad(values, 3, mode="edge"))
        np.testing.assert_array_equal(ours, theirs[0, 0].numpy())


@pytest.mark.parametrize("threads", [2, 3])
def test_threads_change_no_bit(threads):
    pixels = np.tile(photograph("coffee"), (2, 2, 1))
    assert score(pixels, NATIVE_METRICS, threads) == score(pixels, NATIVE_METRICS, 1)


@pytest.mark.parametrize(
    ("metric", "side"), [("brisque", 6), ("piqe", 7), ("niqe", 95)], ids=["brisque", "piqe", "niqe"]
)
def test_too_small_a_picture_is_refused_with_the_smallest_side(metric, side):
    scorer = NativeScorer(photograph()[:side, :200])
    with pytest.raises(
        MetricError, match=f"needs at least {side + 1} pixels a side; this picture is 200 x {side}"
    ):
        scorer.score(metric)


def test_a_black_picture_has_no_score_and_a_reason():
    for metric, outcome in score(np.zeros((120, 120, 3), np.uint8), NATIVE_METRICS).items():
        assert isinstance(outcome, MetricError), metric
        assert "undefined" in str(outcome)


def expected_values() -> list[tuple[str, str, float]]:
    path = CALIBRATION / "expected.json"
    if not path.is_file():
        return []
    values = json.loads(path.read_text())["values"]
    return [
        (metric, picture, value) for metric in NATIVE_METRICS for picture, value in values[metric].items()
    ]


@pytest.mark.skipif(not expected_values(), reason="the calibration pictures are not here")
@pytest.mark.parametrize(("metric", "picture", "published"), expected_values() or [("", "", 0.0)])
def test_published_values(metric, picture, published):
    pixels = np.asarray(Image.open(CALIBRATION / "pictures" / picture).convert("RGB"))
    ours = NativeScorer(pixels).score(metric)
    assert ours == pytest.approx(published, rel=0.01, abs=0.02 if metric == "brisque" else 0)
