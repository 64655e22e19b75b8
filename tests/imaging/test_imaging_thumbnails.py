from __future__ import annotations

import io

import numpy as np
import pytest
from PIL import Image

from banana100_core.errors import ImageError
from banana100_core.imaging.thumbnails import make_thumbnail, thumbnail_pixels


def encoded(image: Image.Image, kind: str, **options: object) -> bytes:
    stream = io.BytesIO()
    image.save(stream, kind, **options)
    return stream.getvalue()


def opened(thumbnail: bytes) -> Image.Image:
    return Image.open(io.BytesIO(thumbnail))


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "WEBP", "TIFF", "BMP", "GIF"])
def test_fits_the_side_and_keeps_the_proportions(kind: str) -> None:
    thumbnail = opened(make_thumbnail(encoded(Image.new("RGB", (1600, 400), "teal"), kind), 128))
    assert thumbnail.size == (128, 32)
    assert np.abs(np.asarray(thumbnail.convert("RGB"))[16, 64].astype(int) - [0, 128, 128]).max() <= 4


def test_a_small_picture_is_not_enlarged() -> None:
    assert opened(make_thumbnail(encoded(Image.new("RGB", (20, 10)), "PNG"))).size == (20, 10)


def test_a_very_narrow_picture_keeps_a_pixel() -> None:
    assert opened(make_thumbnail(encoded(Image.new("RGB", (4000, 2)), "PNG"))).size == (256, 1)


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "TIFF"])
def test_is_upright(kind: str) -> None:
    stored = np.zeros((300, 600, 3), np.uint8)
    stored[:, :300] = 255
    exif = Image.Exif()
    exif[0x0112] = 6  # to be turned clockwise: the left half becomes the upper one
    thumbnail = opened(make_thumbnail(encoded(Image.fromarray(stored), kind, exif=exif), 100))
    assert thumbnail.size == (50, 100)
    pixels = np.asarray(thumbnail.convert("L"))
    assert pixels[10, 25] > 250
    assert pixels[90, 25] < 5


def test_alpha_is_over_mid_grey() -> None:
    thumbnail = opened(make_thumbnail(encoded(Image.new("RGBA", (64, 64), (255, 0, 0, 0)), "PNG")))
    assert np.abs(np.asarray(thumbnail).astype(int) - 128).max() <= 1


def test_16_bit_grey_is_scaled() -> None:
    data = encoded(Image.fromarray(np.full((64, 64), 32768, np.uint16)), "PNG")
    assert np.abs(np.asarray(opened(make_thumbnail(data))).astype(int) - 128).max() <= 1


def test_cmyk_is_shown_in_its_colours() -> None:
    data = encoded(Image.new("CMYK", (600, 600), (0, 255, 255, 0)), "JPEG")
    red, green, blue = np.asarray(opened(make_thumbnail(data)))[100, 100].tolist()
    assert red > 240
    assert max(green, blue) < 12


@pytest.mark.parametrize("size", [(1600, 1200), (777, 1031), (300, 200)])
def test_a_plain_png_becomes_what_other_files_of_its_pixels_become(size: tuple[int, int]) -> None:
    x, y = np.meshgrid(np.linspace(0, 40, size[0]), np.linspace(0, 30, size[1]))
    waves = [np.sin(x) * 90 + 128, np.cos(y) * 90 + 128, np.sin(x + y) * 90 + 128]
    picture = Image.fromarray(np.stack(waves, axis=-1).astype(np.uint8))
    made = [make_thumbnail(encoded(picture, kind)) for kind in ("PNG", "BMP")]
    png, bmp = (np.asarray(opened(each)).astype(int) for each in made)
    assert png.shape == bmp.shape
    assert np.abs(png - bmp).mean() < 2
    assert np.abs(png - bmp).max() < 16


def test_a_png_cut_short_is_an_image_error() -> None:
    data = encoded(Image.effect_noise((400, 300), 50).convert("RGB"), "PNG")
    with pytest.raises(ImageError):
        make_thumbnail(data[: len(data) // 2])


@pytest.mark.parametrize("data", [b"", b"no picture", b"\xff\xd8\xff\xe0" + b"\x00" * 50])
def test_bad_data_is_an_image_error(data: bytes) -> None:
    with pytest.raises(ImageError):
        make_thumbnail(data)


def test_pixels_are_laid_out_for_the_screen() -> None:
    thumbnail = make_thumbnail(encoded(Image.new("RGB", (300, 150), (200, 100, 50)), "PNG"), 64)
    pixels = thumbnail_pixels(thumbnail)
    assert pixels.shape == (32, 64, 4)
    assert np.abs(pixels.astype(int) - [50, 100, 200, 255]).max() <= 4


def test_a_damaged_thumbnail_is_told() -> None:
    with pytest.raises(ImageError, match="damaged"):
        thumbnail_pixels(b"no JPEG")
