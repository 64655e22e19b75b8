from __future__ import annotations

import hashlib
import io
import struct
import subprocess
import sys
import zlib
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image, ImageCms, ImageFile, ImageOps

from banana100_core.errors import ImageError
from banana100_core.imaging.decode import Purpose, decode, inspect, sha256, sniff_media_type

KINDS = ["PNG", "JPEG", "WEBP", "TIFF", "BMP", "GIF"]
MODES = {
    "PNG": ["1", "L", "LA", "P", "RGB", "RGBA", "I;16"],
    "JPEG": ["L", "RGB", "CMYK"],
    "WEBP": ["RGB", "RGBA"],
    "TIFF": ["1", "L", "LA", "P", "RGB", "RGBA", "CMYK", "I;16", "F"],
    "BMP": ["1", "L", "P", "RGB"],
    "GIF": ["L", "P"],
}
MATRIX = [(kind, mode) for kind, modes in MODES.items() for mode in modes]


def photo(width: int = 37, height: int = 23) -> Image.Image:
    y, x = np.mgrid[0:height, 0:width]
    channels = [x * 255 // (width - 1), y * 255 // (height - 1), (x + y) * 255 // (width + height - 2)]
    return Image.fromarray(np.stack(channels, axis=-1).astype(np.uint8))


def in_mode(mode: str) -> Image.Image:
    image = photo()
    if mode == "I;16":
        return Image.fromarray(np.linspace(0, 65535, 37 * 23).reshape(23, 37).astype(np.uint16))
    if mode == "F":
        return Image.fromarray(np.linspace(0, 1, 37 * 23).reshape(23, 37).astype(np.float32))
    if mode in {"RGBA", "LA"}:
        image.putalpha(Image.fromarray(np.linspace(0, 255, 37 * 23).reshape(23, 37).astype(np.uint8)))
    return image.convert(mode)


def encoded(image: Image.Image, kind: str, **options: object) -> bytes:
    stream = io.BytesIO()
    image.save(stream, kind, **options)
    return stream.getvalue()


def pillow_rgb(data: bytes) -> np.ndarray:
    return np.asarray(Image.open(io.BytesIO(data)).convert("RGB"))


@pytest.mark.parametrize(("kind", "mode"), MATRIX)
@pytest.mark.parametrize("purpose", list(Purpose))
def test_every_kind_and_mode_becomes_upright_rgb(kind: str, mode: str, purpose: Purpose) -> None:
    data = encoded(in_mode(mode), kind)
    picture = decode(data, purpose, name="step.x")
    assert picture.pixels.shape == (23, 37, 3)
    assert picture.pixels.dtype == np.uint8
    assert picture.pixels.flags.c_contiguous
    assert picture.pixels.flags.writeable
    assert (picture.image.width, picture.image.height) == (37, 23)
    assert picture.image.media_type == f"image/{kind.lower()}"
    assert picture.image.byte_size == len(data)
    assert picture.image.sha256 == hashlib.sha256(data).hexdigest() == sha256(data)


@pytest.mark.parametrize(("kind", "mode"), [pair for pair in MATRIX if pair[1] not in {"I;16", "F"}])
def test_scoring_sees_what_pillow_converts(kind: str, mode: str) -> None:
    data = encoded(in_mode(mode), kind)
    np.testing.assert_array_equal(decode(data, Purpose.SCORING).pixels, pillow_rgb(data))


@pytest.mark.parametrize("kind", KINDS)
def test_display_of_a_plain_picture_keeps_its_pixels(kind: str) -> None:
    data = encoded(photo(), kind)
    np.testing.assert_array_equal(decode(data, Purpose.DISPLAY).pixels, pillow_rgb(data))


@pytest.mark.parametrize("kind", KINDS)
def test_inspection_agrees_with_decoding(kind: str) -> None:
    data = encoded(photo(), kind)
    assert inspect(data) == decode(data, Purpose.SCORING).image


def test_inspection_takes_a_hash_that_is_known() -> None:
    assert inspect(encoded(photo(), "PNG"), sha256="a" * 64).sha256 == "a" * 64


class TestOrientation:
    @pytest.mark.parametrize("kind", ["PNG", "JPEG", "WEBP", "TIFF"])
    @pytest.mark.parametrize("orientation", range(1, 9))
    def test_is_applied_as_pillow_applies_it(self, kind: str, orientation: int) -> None:
        exif = Image.Exif()
        exif[0x0112] = orientation
        data = encoded(photo(), kind, exif=exif)
        expected = ImageOps.exif_transpose(Image.open(io.BytesIO(data))).convert("RGB")
        picture = decode(data, Purpose.SCORING)
        np.testing.assert_array_equal(picture.pixels, np.asarray(expected))
        assert inspect(data) == picture.image

    @pytest.mark.parametrize(
        ("orientation", "corners"),
        # Top left, top right, bottom left, bottom right once upright, of a picture stored as 1 2 / 3 4.
        [
            (1, "1234"),
            (2, "2143"),
            (3, "4321"),
            (4, "3412"),
            (5, "1324"),
            (6, "3142"),
            (7, "4231"),
            (8, "2413"),
        ],
    )
    def test_moves_the_corners(self, orientation: int, corners: str) -> None:
        stored = np.zeros((10, 20, 3), np.uint8)
        stored[0, 0], stored[0, -1], stored[-1, 0], stored[-1, -1] = 1, 2, 3, 4
        exif = Image.Exif()
        exif[0x0112] = orientation
        pixels = decode(encoded(Image.fromarray(stored), "PNG", exif=exif), Purpose.DISPLAY).pixels
        assert pixels.shape[:2] == ((20, 10) if orientation > 4 else (10, 20))
        found = [pixels[y, x, 0] for y, x in ((0, 0), (0, -1), (-1, 0), (-1, -1))]
        assert "".join(map(str, found)) == corners

    def test_of_a_png_may_follow_its_pixels(self) -> None:
        exif = Image.Exif()
        exif[0x0112] = 6
        data = encoded(photo(), "PNG", exif=exif)
        chunks = list(png_chunks(data))
        late = [chunk for chunk in chunks if chunk[0] == b"eXIf"]
        others = [chunk for chunk in chunks if chunk[0] != b"eXIf"]
        moved = png([*others[:-1], *late, others[-1]])
        assert decode(moved, Purpose.SCORING).pixels.shape == (37, 23, 3)
        assert (inspect(moved).width, inspect(moved).height) == (23, 37)

    @pytest.mark.parametrize("orientation", [0, 9, 255])
    def test_without_a_meaning_is_passed_over(self, orientation: int) -> None:
        exif = Image.Exif()
        exif[0x0112] = orientation
        assert decode(encoded(photo(), "JPEG", exif=exif), Purpose.SCORING).pixels.shape == (23, 37, 3)

    def test_broken_exif_is_passed_over(self) -> None:
        data = encoded(photo(), "JPEG", exif=b"Exif\x00\x00MM\x00*\xff\xff\xff\xff")
        assert decode(data, Purpose.DISPLAY).pixels.shape == (23, 37, 3)


class TestDepth:
    def test_16_bit_grey_is_scaled_not_clipped(self) -> None:
        values = np.array([[0, 255, 256, 32767, 32768, 65535]], np.uint16)
        for kind in ("PNG", "TIFF"):
            picture = decode(encoded(Image.fromarray(values), kind), Purpose.SCORING)
            assert picture.pixels[0, :, 0].tolist() == [0, 0, 1, 127, 128, 255]
            assert picture.image.notes == ("16 bit scaled to 8",)

    def test_16_bit_colour_is_scaled_not_clipped(self) -> None:
        data = png16([[(0, 256, 65535), (32768, 255, 512)]])
        picture = decode(data, Purpose.DISPLAY)
        assert picture.pixels.tolist() == [[[0, 1, 255], [128, 0, 2]]]
        assert picture.image.notes == ("16 bit scaled to 8",)
        assert inspect(data).notes == ("16 bit scaled to 8",)

    def test_floats_from_0_to_1_are_scaled(self) -> None:
        values = np.array([[0, 0.5, 1]], np.float32)
        picture = decode(encoded(Image.fromarray(values), "TIFF"), Purpose.SCORING)
        assert picture.pixels[0, :, 0].tolist() == [0, 128, 255]
        assert picture.image.notes == ("32 bit scaled to 8",)

    @pytest.mark.parametrize("values", [[0, 2.5], [-1, 0], [0, float("nan")], [0, float("inf")]])
    def test_floats_beyond_are_refused_with_a_way_out(self, values: list[float]) -> None:
        data = encoded(Image.fromarray(np.array([values], np.float32)), "TIFF")
        with pytest.raises(ImageError, match=r"deep\.tif: 32-bit float values .* scale them to 0 to 1"):
            decode(data, Purpose.DISPLAY, name="deep.tif")

    @pytest.mark.parametrize(
        ("values", "expected"),
        [
            (np.array([[-(2**31), 0, 2**31 - 1]], np.int32), [0, 128, 255]),
            (np.array([[0, 2**31, 2**32 - 1]], np.uint32), [0, 128, 255]),
            (np.array([[-(2**15), 0, 2**15 - 1]], np.int16), [0, 128, 255]),
        ],
    )
    def test_signed_and_32_bit_integers_are_scaled(self, values: np.ndarray, expected: list[int]) -> None:
        data = tiff(values)
        assert decode(data, Purpose.SCORING).pixels[0, :, 0].tolist() == expected


class TestAlpha:
    def test_is_over_mid_grey_for_display_and_dropped_for_scoring(self) -> None:
        data = encoded(Image.new("RGBA", (2, 2), (255, 0, 0, 0)), "PNG")
        assert decode(data, Purpose.DISPLAY).pixels[0, 0].tolist() == [128, 128, 128]
        assert decode(data, Purpose.SCORING).pixels[0, 0].tolist() == [255, 0, 0]
        half = encoded(Image.new("RGBA", (2, 2), (255, 0, 0, 128)), "PNG")
        assert decode(half, Purpose.DISPLAY).pixels[0, 0].tolist() == [192, 64, 64]

    def test_in_a_palette(self) -> None:
        image = Image.new("P", (2, 1))
        image.putpalette([10, 20, 30, 200, 100, 50])
        image.putdata([0, 1])
        data = encoded(image, "PNG", transparency=bytes([0, 255]))
        assert decode(data, Purpose.DISPLAY).pixels.tolist() == [[[128, 128, 128], [200, 100, 50]]]
        assert decode(data, Purpose.SCORING).pixels.tolist() == [[[10, 20, 30], [200, 100, 50]]]

    def test_as_a_transparent_colour(self) -> None:
        data = encoded(Image.new("RGB", (2, 2), (1, 2, 3)), "PNG", transparency=(1, 2, 3))
        assert decode(data, Purpose.DISPLAY).pixels[0, 0].tolist() == [128, 128, 128]
        assert decode(data, Purpose.SCORING).pixels[0, 0].tolist() == [1, 2, 3]

    def test_beside_grey(self) -> None:
        data = encoded(Image.new("LA", (2, 2), (200, 0)), "PNG")
        assert decode(data, Purpose.DISPLAY).pixels[0, 0].tolist() == [128, 128, 128]
        assert decode(data, Purpose.SCORING).pixels[0, 0].tolist() == [200, 200, 200]


class TestAnimation:
    @pytest.mark.parametrize(("kind", "word"), [("GIF", "frames"), ("WEBP", "frames"), ("TIFF", "pages")])
    def test_the_first_is_taken_and_said(self, kind: str, word: str) -> None:
        frames = [Image.new("RGB", (8, 8), colour) for colour in ("red", "lime", "blue")]
        options = {"lossless": True} if kind == "WEBP" else {}
        data = encoded(frames[0], kind, save_all=True, append_images=frames[1:], **options)
        picture = decode(data, Purpose.DISPLAY)
        assert picture.pixels[0, 0].tolist() == [255, 0, 0]
        assert picture.image.notes == (f"first of 3 {word}",)
        assert inspect(data).notes == picture.image.notes


class TestCmyk:
    def test_inverted_as_adobe_writes_it(self) -> None:
        data = encoded(Image.new("CMYK", (16, 16), (0, 255, 255, 0)), "JPEG", quality=100)
        assert b"Adobe" in data
        for purpose in Purpose:
            red, green, blue = decode(data, purpose).pixels[8, 8].tolist()
            assert red > 250
            assert green < 5
            assert blue < 5


class TestProfile:
    def test_a_wide_gamut_is_converted_for_display_only(self) -> None:
        data = encoded(Image.new("RGB", (4, 4), (200, 100, 50)), "PNG", icc_profile=swapped_profile())
        shown = decode(data, Purpose.DISPLAY)
        assert shown.pixels[0, 0].tolist() != [200, 100, 50]
        assert shown.image.notes[0].startswith("colours shown through the profile")
        scored = decode(data, Purpose.SCORING)
        assert scored.pixels[0, 0].tolist() == [200, 100, 50]
        assert scored.image.notes == ()

    def test_srgb_keeps_exact_pixels(self) -> None:
        profile = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()
        for kind in ("PNG", "JPEG", "WEBP", "TIFF"):
            data = encoded(photo(), kind, icc_profile=profile)
            shown = decode(data, Purpose.DISPLAY)
            np.testing.assert_array_equal(shown.pixels, pillow_rgb(data))
            assert shown.image.notes == ()

    @pytest.mark.parametrize("profile", [b"no profile at all", b"\x00" * 200])
    def test_a_broken_one_is_ignored_and_said(self, profile: bytes) -> None:
        data = encoded(photo(), "PNG", icc_profile=profile)
        shown = decode(data, Purpose.DISPLAY)
        np.testing.assert_array_equal(shown.pixels, np.asarray(photo()))
        assert shown.image.notes == ("colour profile ignored: it is damaged",)

    def test_of_another_kind_of_picture_is_ignored_and_said(self) -> None:
        profile = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()
        data = encoded(Image.new("CMYK", (4, 4), (0, 255, 255, 0)), "TIFF", icc_profile=profile)
        shown = decode(data, Purpose.DISPLAY)
        assert shown.pixels[0, 0].tolist() == [254, 0, 0] or shown.pixels[0, 0].tolist() == [255, 0, 0]
        assert shown.image.notes == ("colour profile ignored: it is for another kind of picture",)

    def test_works_beside_alpha(self) -> None:
        image = Image.new("RGBA", (2, 1), (200, 100, 50, 0))
        image.putpixel((1, 0), (200, 100, 50, 255))
        shown = decode(encoded(image, "PNG", icc_profile=swapped_profile()), Purpose.DISPLAY)
        assert shown.pixels[0, 0].tolist() == [128, 128, 128]
        assert shown.pixels[0, 1].tolist() != [200, 100, 50]


class TestBadData:
    def test_an_empty_file(self) -> None:
        for read in (inspect, lambda data, name: decode(data, Purpose.DISPLAY, name=name)):
            with pytest.raises(ImageError, match=r"^step_3\.png: the file is empty \(0 bytes\)"):
                read(b"", name="step_3.png")

    @pytest.mark.parametrize("data", [b"<html>not found</html>", b"\x00" * 4096, b"\x89PN", b"BM"])
    def test_no_image(self, data: bytes) -> None:
        with pytest.raises(ImageError, match=r"^x\.png: not a picture this program reads"):
            inspect(data, name="x.png")

    def test_a_kind_that_is_not_read_is_named(self) -> None:
        with pytest.raises(ImageError, match="image/heic"):
            inspect(b"\x00\x00\x00\x18ftypheic" + b"\x00" * 100, name="x.heic")

    @pytest.mark.parametrize("kind", KINDS)
    @pytest.mark.parametrize("part", [0.1, 0.5, 0.9])
    def test_cut_short(self, kind: str, part: float) -> None:
        noise = np.random.default_rng(0).integers(0, 255, (200, 200, 3), dtype=np.uint8)
        data = encoded(Image.fromarray(noise), kind)
        cut = data[: int(len(data) * part)]
        for read in (inspect, lambda data, name: decode(data, Purpose.SCORING, name=name)):
            with pytest.raises(ImageError, match=r"^é\.png: the picture is damaged or cut short"):
                read(cut, name="é.png")

    def test_cut_short_although_another_library_asks_for_tolerance(self) -> None:
        code = (
            "import io, numpy\n"
            "from PIL import Image, ImageFile\n"
            "from banana100_core.errors import ImageError\n"
            "from banana100_core.imaging.decode import Purpose, decode\n"
            "noise = numpy.random.default_rng(0).integers(0, 255, (200, 200, 3), dtype='uint8')\n"
            "ImageFile.LOAD_TRUNCATED_IMAGES = True\n"
            "for kind in ('PNG', 'JPEG', 'TIFF', 'BMP'):\n"
            "    stream = io.BytesIO(); Image.fromarray(noise).save(stream, kind); data = stream.getvalue()\n"
            "    assert decode(data, Purpose.SCORING).pixels.shape == (200, 200, 3)\n"
            "    try: decode(data[:len(data) // 2], Purpose.SCORING)\n"
            "    except ImageError: continue\n"
            "    raise SystemExit(kind)\n"
        )
        subprocess.run([sys.executable, "-c", code], check=True, timeout=60)

    def test_an_embedded_preview_does_not_hide_that_a_jpeg_is_cut_short(self) -> None:
        preview = encoded(photo(), "JPEG")
        noise = np.random.default_rng(0).integers(0, 255, (200, 200, 3), dtype=np.uint8)
        data = encoded(Image.fromarray(noise), "JPEG", comment=preview)
        assert inspect(data).width == 200
        with pytest.raises(ImageError, match="cut short"):
            inspect(data[: len(data) // 2])

    def test_a_flipped_byte_in_a_png_is_found_by_inspection(self) -> None:
        data = bytearray(encoded(photo(400, 300), "PNG"))
        data[len(data) // 2] ^= 0xFF
        with pytest.raises(ImageError, match="damaged"):
            inspect(bytes(data))

    def test_a_bomb_is_refused_with_limit_and_size(self) -> None:
        data = png_header(30_000, 20_000)
        for read in (inspect, lambda data, name: decode(data, Purpose.DISPLAY, name=name)):
            with pytest.raises(
                ImageError, match=r"bomb\.png: 30000 x 20000 .* 600 megapixels.* limit of 400"
            ):
                read(data, name="bomb.png")

    @pytest.mark.filterwarnings("error")
    def test_pillows_own_limit_neither_warns_nor_refuses(self) -> None:
        before = Image.MAX_IMAGE_PIXELS
        data = encoded(Image.new("1", (20_000, 10_000)), "PNG")
        image = inspect(data, name="wide.png")
        assert (image.width, image.height) == (20_000, 10_000)
        assert before == Image.MAX_IMAGE_PIXELS
        assert ImageFile.LOAD_TRUNCATED_IMAGES is False

    def test_a_compressed_text_bomb(self) -> None:
        text = b"Comment\x00\x00" + zlib.compress(b"\x00" * 100_000_000)
        head, *rest = png_chunks(encoded(photo(), "PNG"))
        with pytest.raises(ImageError, match="damaged"):
            inspect(png([head, (b"zTXt", text), *rest]))

    def test_names_with_line_breaks_stay_on_one_line(self) -> None:
        with pytest.raises(ImageError) as caught:
            inspect(b"", name='a\n"b".png')
        assert "\n" not in str(caught.value)

    @given(
        data=st.binary(max_size=300),
        start=st.sampled_from([b"", b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff", b"GIF89a"]),
    )
    def test_nothing_but_an_image_error_comes_of_noise(self, data: bytes, start: bytes) -> None:
        for read in (inspect, lambda data: decode(data, Purpose.DISPLAY)):
            with pytest.raises(ImageError):
                read(start + data)


@pytest.mark.slow
@pytest.mark.filterwarnings("error")
def test_a_picture_of_20000_by_10000_pixels_is_exact_to_its_last_row() -> None:
    row = (np.arange(20_000) % 251).astype(np.uint8)
    grey = np.repeat(row[np.newaxis], 10_000, axis=0)
    grey[-1, -1] = 255
    pixels = decode(encoded(Image.fromarray(grey), "PNG", compress_level=1), Purpose.SCORING).pixels
    assert pixels.shape == (10_000, 20_000, 3)
    np.testing.assert_array_equal(pixels[-1], grey[-1, :, np.newaxis].repeat(3, axis=1))
    np.testing.assert_array_equal(pixels[::997, :, 1], grey[::997])


def test_decoding_on_many_threads_gives_the_same() -> None:
    data = [encoded(photo(90 + i, 70), kind) for i, kind in enumerate(KINDS * 4)]
    expected = [decode(item, Purpose.DISPLAY).pixels for item in data]
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda item: decode(item, Purpose.DISPLAY).pixels, data))
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize(
    ("kind", "media_type"),
    [(kind, f"image/{kind.lower()}") for kind in KINDS] + [("AVIF", "image/avif")],
)
def test_media_types_are_told_by_content(kind: str, media_type: str) -> None:
    assert sniff_media_type(encoded(photo(), kind)) == media_type


@pytest.mark.parametrize(
    "data", [b"", b"%PDF-1.7", b"RIFF1234AVI ", b"BMW and other cars are no bitmaps ...."]
)
def test_media_types_of_other_files_are_unknown(data: bytes) -> None:
    assert sniff_media_type(data) is None


def png_chunks(data: bytes) -> list[tuple[bytes, bytes]]:
    chunks, position = [], 8
    while position < len(data):
        (length,) = struct.unpack(">I", data[position : position + 4])
        chunks.append((data[position + 4 : position + 8], data[position + 8 : position + 8 + length]))
        position += 12 + length
    return chunks


def png(chunks: list[tuple[bytes, bytes]]) -> bytes:
    body = b"".join(
        struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))
        for kind, content in chunks
    )
    return b"\x89PNG\r\n\x1a\n" + body


def png_header(width: int, height: int) -> bytes:
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return png([(b"IHDR", header), (b"IDAT", zlib.compress(b"\x00" * 100)), (b"IEND", b"")])


def png16(rows: list[list[tuple[int, int, int]]]) -> bytes:
    header = struct.pack(">IIBBBBB", len(rows[0]), len(rows), 16, 2, 0, 0, 0)
    body = b"".join(b"\x00" + struct.pack(f">{3 * len(row)}H", *sum(row, ())) for row in rows)
    return png([(b"IHDR", header), (b"IDAT", zlib.compress(body)), (b"IEND", b"")])


def tiff(values: np.ndarray) -> bytes:
    """A bare grey TIFF of signed or unsigned integers, which Pillow itself can't write for all of these."""
    height, width = values.shape
    bits, sample_format = values.itemsize * 8, 2 if values.dtype.kind == "i" else 1
    tags = [(256, width), (257, height), (258, bits), (259, 1), (262, 1), (273, 8), (277, 1)]
    tags += [(278, height), (279, values.nbytes), (339, sample_format)]
    entries = b"".join(struct.pack("<HHII", tag, 4, 1, value) for tag, value in tags)
    header = b"II*\x00" + struct.pack("<I", 8 + values.nbytes)
    return header + values.tobytes() + struct.pack("<H", len(tags)) + entries + struct.pack("<I", 0)


def swapped_profile() -> bytes:
    """An RGB profile unlike sRGB: sRGB with the colours of its red and blue exchanged."""
    profile = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()
    return profile.replace(b"rXYZ", b"tXYZ").replace(b"bXYZ", b"rXYZ").replace(b"tXYZ", b"bXYZ")
