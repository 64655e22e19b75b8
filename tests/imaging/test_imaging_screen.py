"""Pictures for the screen are the one decode's, value for value, whichever decoder made them."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

import numpy as np
import pytest
import simplejpeg
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image, ImageCms

from banana100_core.errors import ImageError
from banana100_core.imaging.decode import Purpose, decode
from banana100_core.imaging.pyramid import build
from banana100_core.imaging.screen import fast_pyramid, pyramid_for_screen

if TYPE_CHECKING:
    from collections.abc import Callable


def photo(width: int, height: int, seed: int = 0) -> Image.Image:
    """Smooth and rough parts, so that every PNG filter and every JPEG coefficient comes in."""
    random = np.random.default_rng(seed)
    y, x = np.mgrid[0:height, 0:width]
    waves = np.stack([np.sin(x / (5 + c) + y / (9 - c)) * 90 + 128 for c in range(3)], axis=-1)
    rough = random.normal(0, 40, waves.shape) * (x % 64 > 32)[..., None]
    return Image.fromarray(np.clip(waves + rough, 0, 255).astype(np.uint8))


def encoded(image: Image.Image, kind: str, **options: object) -> bytes:
    stream = io.BytesIO()
    image.save(stream, kind, **options)
    return stream.getvalue()


def assert_same(data: bytes) -> None:
    expected = decode(data, Purpose.DISPLAY).pixels
    pyramid = pyramid_for_screen(data)
    pixels = pyramid.levels[0]
    assert pixels.dtype == np.uint8
    assert pixels.flags.c_contiguous
    np.testing.assert_array_equal(pixels, expected)
    for level, of_pixels in zip(pyramid.levels, build(expected).levels, strict=True):
        np.testing.assert_array_equal(level, of_pixels)


def is_fast(data: bytes) -> bool:
    return fast_pyramid(data) is not None


@pytest.mark.parametrize("size", [(1, 1), (64, 64), (201, 67), (67, 201), (640, 129), (129, 640)])
@pytest.mark.parametrize("level", [0, 3, 9])
def test_png(size: tuple[int, int], level: int) -> None:
    data = encoded(photo(*size), "PNG", compress_level=level)
    assert is_fast(data)
    assert_same(data)


@pytest.mark.parametrize("mode", ["1", "L", "LA", "P", "RGBA", "I;16"])
def test_png_of_another_kind(mode: str) -> None:
    image = photo(90, 70)
    if mode == "I;16":
        image = Image.fromarray(np.linspace(0, 65535, 6300).reshape(70, 90).astype(np.uint16))
    elif mode in {"LA", "RGBA"}:
        image.putalpha(Image.fromarray(np.linspace(0, 255, 6300).reshape(70, 90).astype(np.uint8)))
    data = encoded(image.convert(mode), "PNG")
    assert not is_fast(data)
    assert_same(data)


def test_png_with_a_transparent_colour() -> None:
    assert_same(encoded(Image.new("RGB", (9, 9), (1, 2, 3)), "PNG", transparency=(1, 2, 3)))


@pytest.mark.parametrize("subsampling", ["444", "422", "420", "440", "411"])
@pytest.mark.parametrize("size", [(1, 1), (16, 16), (203, 131)])
def test_jpeg_of_every_subsampling(subsampling: str, size: tuple[int, int]) -> None:
    pixels = np.asarray(photo(*size))
    data = simplejpeg.encode_jpeg(pixels, 80, colorsubsampling=subsampling)
    assert is_fast(data)
    assert_same(data)


@pytest.mark.parametrize(
    "options",
    [
        {"quality": 20},
        {"quality": 100, "subsampling": 0},
        {"progressive": True},
        {"optimize": True, "quality": 60},
        {"restart_marker_rows": 2},
        {"keep_rgb": True},
    ],
)
def test_jpeg(options: dict[str, object]) -> None:
    data = encoded(photo(203, 131), "JPEG", **options)
    assert is_fast(data)
    assert_same(data)


@pytest.mark.parametrize("mode", ["L", "CMYK"])
def test_jpeg_of_another_kind(mode: str) -> None:
    assert_same(encoded(photo(75, 43).convert(mode), "JPEG"))


@pytest.mark.parametrize("kind", ["WEBP", "TIFF", "BMP", "GIF"])
def test_other_files(kind: str) -> None:
    data = encoded(photo(75, 43), kind)
    assert not is_fast(data)
    assert_same(data)


@pytest.mark.parametrize("kind", ["PNG", "JPEG"])
@pytest.mark.parametrize("orientation", range(1, 9))
def test_orientation(kind: str, orientation: int) -> None:
    exif = Image.Exif()
    exif[0x0112] = orientation
    assert_same(encoded(photo(75, 43), kind, exif=exif))


@pytest.mark.parametrize("kind", ["PNG", "JPEG"])
def test_colour_profiles(kind: str) -> None:
    srgb = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()
    lab = ImageCms.ImageCmsProfile(ImageCms.createProfile("LAB")).tobytes()
    data = encoded(photo(75, 43), kind, icc_profile=srgb)
    assert is_fast(data)
    assert_same(data)
    for profile in (lab, srgb[:200], b"no profile"):
        assert_same(encoded(photo(75, 43), kind, icc_profile=profile))


@pytest.mark.parametrize("kind", ["PNG", "JPEG"])
@given(place=st.floats(0, 1), change=st.integers(1, 255), cut=st.booleans())
def test_a_damaged_file_has_the_same_outcome(kind: str, place: float, change: int, cut: bool) -> None:
    data = bytearray(encoded(photo(96, 80), kind))
    at = min(int(place * len(data)), len(data) - 1)
    if cut:
        del data[at:]
    else:
        data[at] ^= change
    assert outcome(for_screen, bytes(data)) == outcome(one_decode, bytes(data))


def for_screen(data: bytes) -> np.ndarray:
    return pyramid_for_screen(data).levels[0]


def one_decode(data: bytes) -> np.ndarray:
    return decode(data, Purpose.DISPLAY).pixels


def outcome(decoder: Callable[[bytes], np.ndarray], data: bytes) -> bytes | str:
    try:
        return decoder(data).tobytes()
    except ImageError as error:
        return str(error)
