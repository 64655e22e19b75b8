"""Opening encoded images: what kind they are, how large, which way up, and whether they are whole."""

from __future__ import annotations

import io
import re
import zlib
from typing import TYPE_CHECKING

from PIL import ExifTags, ImageFile
from PIL import Image as Pillow
from PIL.BmpImagePlugin import BmpImageFile
from PIL.GifImagePlugin import GifImageFile
from PIL.JpegImagePlugin import JpegImageFile
from PIL.PngImagePlugin import PngImageFile
from PIL.TiffImagePlugin import TiffImageFile
from PIL.WebPImagePlugin import WebPImageFile

from banana100_core.errors import ImageError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

MAX_PIXELS = 400_000_000
"""The largest picture that is decoded; the same in every part of the program."""

# The readers are called directly: Image.open would apply Pillow's own, lower and process-wide limit.
_READERS: dict[str, Callable[[io.BytesIO], ImageFile.ImageFile]] = {
    "image/png": PngImageFile,
    "image/jpeg": JpegImageFile,
    "image/webp": WebPImageFile,
    "image/tiff": TiffImageFile,
    "image/bmp": BmpImageFile,
    "image/gif": GifImageFile,
}
_READABLE = "PNG, JPEG, WebP, TIFF, BMP and GIF"

_METADATA = {b"eXIf", b"tEXt", b"zTXt", b"iTXt"}  # of a PNG

_SIGNATURES = (
    (re.compile(rb"\x89PNG\r\n\x1a\n"), "image/png"),
    (re.compile(rb"\xff\xd8\xff"), "image/jpeg"),
    (re.compile(rb"RIFF....WEBP", re.DOTALL), "image/webp"),
    (re.compile(rb"II[*+]\x00|MM\x00[*+]"), "image/tiff"),
    (re.compile(rb"GIF8[79]a"), "image/gif"),
    (re.compile(rb"BM.{12}[\x0c\x28\x34\x38\x40\x6c\x7c]\x00\x00\x00", re.DOTALL), "image/bmp"),
    (re.compile(rb"....ftyp(?:avif|avis)", re.DOTALL), "image/avif"),
    (re.compile(rb"....ftyp(?:heic|heix|mif1|msf1)", re.DOTALL), "image/heic"),
)


def sniff_media_type(data: bytes) -> str | None:
    """Tell an image's media type from its first bytes, whatever its name or label says; None if unknown."""
    head = data[:32]
    return next((media_type for signature, media_type in _SIGNATURES if signature.match(head)), None)


def shown_name(name: str) -> str:
    """Return a file name fit for one line of a message."""
    if not name:
        return "image"
    return name if name.isprintable() else repr(name)


def need_readable(head: bytes, name: str) -> str:
    """Return the media type that an image's first 32 bytes tell; ImageError for one that is not read."""
    if not head:
        raise ImageError(f"{shown_name(name)}: the file is empty (0 bytes); copy or download it again")
    media_type = sniff_media_type(head)
    if media_type in _READERS:
        return media_type
    found = f"it is {media_type}" if media_type else f"it begins with {head[:8].hex(' ')}"
    raise ImageError(f"{shown_name(name)}: not a picture this program reads ({found}); it reads {_READABLE}")


def open_image(data: bytes, name: str) -> ImageFile.ImageFile:
    """Read the header of an encoded image; pixels are decoded on its `load`.

    Raises ImageError, naming `name`, for an empty file, an unknown kind or more than MAX_PIXELS pixels.
    """
    reader = _READERS[need_readable(data[:32], name)]
    try:
        image = reader(io.BytesIO(data))
    except Pillow.DecompressionBombError as error:
        raise ImageError(
            f"{shown_name(name)}: too large for its kind ({error}); save it as PNG or TIFF"
        ) from error
    except Exception as error:  # Pillow raises whatever a broken header leads it to
        raise damaged(name, error) from error
    width, height = image.size
    if width * height > MAX_PIXELS:
        raise ImageError(
            f"{shown_name(name)}: {width} x {height} pixels are {width * height / 1e6:,.0f} megapixels, "
            f"above the limit of {MAX_PIXELS // 1_000_000}; scale it down"
        )
    return image


def load(image: ImageFile.ImageFile, data: bytes, name: str) -> None:
    """Decode the pixels of an image from `open_image`; ImageError when it is damaged or cut short."""
    if ImageFile.LOAD_TRUNCATED_IMAGES and not ending_seen(image, data):
        # Another library in this process (pyiqa does) told Pillow to fill what is missing with grey.
        raise damaged(name, "the end of the file is missing")
    try:
        image.load()
    except MemoryError as error:
        width, height = image.size
        raise ImageError(
            f"{shown_name(name)}: not enough memory for {width} x {height} pixels; close other programs"
        ) from error
    except Exception as error:
        raise damaged(name, error) from error


def damaged(name: str, error: object) -> ImageError:
    """Return the error for an image that can't be decoded."""
    reason = str(error) or type(error).__name__
    return ImageError(
        f"{shown_name(name)}: the picture is damaged or cut short ({reason}); copy or download it again"
    )


def media_type(image: ImageFile.ImageFile) -> str:
    """Return the media type of an opened image."""
    return Pillow.MIME[image.format or ""]


def orientation(image: ImageFile.ImageFile) -> int:
    """Return the EXIF orientation, 1 to 8, that remains to be applied; 1 when absent or senseless."""
    if isinstance(image, TiffImageFile):
        return 1  # Pillow turns TIFF itself, in its size and on load
    try:
        # A PNG's own getexif decodes all pixels first, to look for an eXIf chunk after them.
        value = Pillow.Image.getexif(image).get(ExifTags.Base.Orientation, 1)
    except Exception:  # noqa: BLE001 - broken EXIF data leads Pillow to raise almost anything
        return 1
    return value if isinstance(value, int) and 1 <= value <= 8 else 1


def upright_size(image: ImageFile.ImageFile) -> tuple[int, int]:
    """Return width and height as they are once the orientation is applied."""
    width, height = image.size
    return (height, width) if orientation(image) >= 5 else (width, height)


def notes(image: ImageFile.ImageFile) -> tuple[str, ...]:
    """Return what a person should know of how the file became 8-bit pixels."""
    said = []
    frames = getattr(image, "n_frames", 1)
    if frames > 1:
        said.append(f"first of {frames} {'pages' if isinstance(image, TiffImageFile) else 'frames'}")
    depth = bit_depth(image)
    if depth > 8:
        said.append(f"{depth} bit scaled to 8")
    return tuple(said)


def bit_depth(image: ImageFile.ImageFile) -> int:
    """Return the bits per channel in the file."""
    if isinstance(image, TiffImageFile):
        bits = image.tag_v2.get(258, (1,))
        return int(bits[0] if isinstance(bits, tuple) else bits)
    if isinstance(image, PngImageFile):
        raw_mode = str(image.tile[0].args) if image.tile else image.mode
        return 16 if ";16" in raw_mode else 8
    return 8


def ending_seen(image: ImageFile.ImageFile, data: bytes) -> bool:
    """Tell by its structure, without decoding, that a file is whole; False when only decoding can tell."""
    if isinstance(image, PngImageFile):
        return any(kind == b"IEND" for kind in png_chunks(data))
    if isinstance(image, JpegImageFile):
        # Embedded previews end the same way, so only what follows the last scan's header counts.
        start = data.rfind(b"\xff\xda")
        return start > 0 and data.find(b"\xff\xd9", start) > 0
    if isinstance(image, WebPImageFile):
        return int.from_bytes(data[4:8], "little") + 8 <= len(data)
    if isinstance(image, BmpImageFile):
        return int.from_bytes(data[2:6], "little") == len(data)
    if isinstance(image, TiffImageFile):
        offsets, counts = image.tag_v2.get(273, ()), image.tag_v2.get(279, ())
        ends = [offset + count for offset, count in zip(offsets, counts, strict=False)]
        return bool(ends) and max(ends) <= len(data)
    return data.endswith(b"\x00;")


def png_chunks(data: bytes) -> Iterator[bytes]:
    """Yield the types of a PNG's chunks, up to the first that is cut short or fails its checksum."""
    view = memoryview(data)
    position = 8
    while position + 12 <= len(data):
        length = int.from_bytes(view[position : position + 4], "big")
        end = position + 8 + length
        checksum = int.from_bytes(view[end : end + 4], "big")
        if end + 4 > len(data) or zlib.crc32(view[position + 4 : end]) != checksum:
            return
        yield bytes(view[position + 4 : position + 8])
        position = end + 4


def late_metadata(chunks: list[bytes]) -> bool:
    """Tell from the types of its chunks whether a PNG says something of itself after its pixels."""
    return b"IDAT" in chunks and not _METADATA.isdisjoint(chunks[chunks.index(b"IDAT") :])
