"""Pictures for metrics are the one decode's, value for value, whichever decoder made them."""

from __future__ import annotations

import io

import numpy as np
import pytest
from PIL import Image

from banana100_core.errors import ImageError
from banana100_core.imaging.decode import Purpose, decode
from banana100_core.imaging.for_scoring import pixels_for_scoring


def photo(mode: str, width: int = 301, height: int = 530) -> Image.Image:
    random = np.random.default_rng(7)
    y, x = np.mgrid[0:height, 0:width]
    waves = np.stack([np.sin(x / (5 + c) + y / (9 - c)) * 90 + 128 for c in range(4)], axis=-1)
    pixels = np.clip(waves + random.normal(0, 20, waves.shape), 0, 255).astype(np.uint8)
    if mode == "I;16":
        return Image.fromarray(pixels[..., 0].astype(np.uint16) * 257)
    return Image.fromarray(pixels if mode == "RGBA" else pixels[..., :3]).convert(mode)


def encoded(image: Image.Image, kind: str = "PNG", **options: object) -> bytes:
    stream = io.BytesIO()
    image.save(stream, kind, **options)
    return stream.getvalue()


def turned_by_exif(image: Image.Image) -> bytes:
    exif = Image.Exif()
    exif[0x0112] = 6
    return encoded(image, exif=exif)


@pytest.mark.parametrize("mode", ["RGB", "RGBA", "P", "L", "LA", "1", "I;16"])
def test_a_png_of_any_kind(mode: str) -> None:
    data = encoded(photo(mode))
    np.testing.assert_array_equal(pixels_for_scoring(data), decode(data, Purpose.SCORING).pixels)


@pytest.mark.parametrize("size", [(1, 1), (64, 255), (257, 256), (3, 1000)])
def test_a_png_of_any_size(size: tuple[int, int]) -> None:
    data = encoded(photo("RGB", *size))
    pixels = pixels_for_scoring(data)
    assert pixels.flags.c_contiguous
    assert pixels.flags.writeable
    np.testing.assert_array_equal(pixels, decode(data, Purpose.SCORING).pixels)


@pytest.mark.parametrize(
    "data",
    [
        turned_by_exif(photo("RGB")),
        encoded(photo("RGB"), transparency=(1, 2, 3)),
        encoded(photo("RGB"), icc_profile=b"not a profile"),
        encoded(photo("RGB"), "JPEG", quality=90),
        encoded(photo("RGB"), "WEBP", lossless=True),
    ],
    ids=["turned", "transparent", "profile", "jpeg", "webp"],
)
def test_what_is_not_plain(data: bytes) -> None:
    np.testing.assert_array_equal(pixels_for_scoring(data), decode(data, Purpose.SCORING).pixels)


def test_damage_is_told_as_by_the_one_decode() -> None:
    whole = encoded(photo("RGB"))
    broken = bytearray(whole)
    broken[len(whole) // 2] ^= 0xFF
    for data in (whole[: len(whole) // 2], bytes(broken), b"", b"no picture"):
        with pytest.raises(ImageError) as expected:
            decode(data, Purpose.SCORING, name="step_5.png")
        with pytest.raises(ImageError) as told:
            pixels_for_scoring(data, name="step_5.png")
        assert str(told.value) == str(expected.value)
