"""The one decode of encoded images, for viewer, scorer and export."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

import numpy as np
from PIL import Image as Pillow
from PIL.PngImagePlugin import PngImageFile

from banana100_core.errors import ImageError
from banana100_core.imaging import colour, reading
from banana100_core.imaging.reading import sniff_media_type
from banana100_core.project.records import Image

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from PIL.ImageFile import ImageFile

__all__ = ["Picture", "Purpose", "decode", "inspect", "sha256", "sniff_media_type"]

_STRIP_PIXELS = 4_000_000


class Purpose(StrEnum):
    """What pixels are decoded for: a person's eye, or a metric."""

    DISPLAY = "display"  # colour profile to sRGB, alpha over mid-grey
    SCORING = "scoring"  # as pyiqa's loader: alpha dropped, colour profile left aside


@dataclass(frozen=True, slots=True)
class Picture:
    """Decoded pixels, uint8 RGB of shape (height, width, 3), upright and C-contiguous."""

    pixels: NDArray[np.uint8] = field(repr=False)
    image: Image


def sha256(data: bytes) -> str:
    """Return the hash that names an image's content, in hexadecimal."""
    return hashlib.sha256(data).hexdigest()


def decode(data: bytes, purpose: Purpose, *, name: str = "") -> Picture:
    """Decode an encoded image to upright 8-bit RGB.

    Of an animation or a document the first frame is taken. Deeper channels are scaled to 8 bits. EXIF
    orientation is applied. Raises ImageError, naming `name`, when the data is no image, is damaged or cut
    short, or has more than 400 megapixels.
    """
    opened = reading.open_image(data, name)
    try:
        notes = reading.notes(opened)
        reading.load(opened, data, name)
        turn = reading.orientation(opened)
        rgb, colour_notes = to_rgb(opened, purpose, name)
        pixels = _to_array(turned(rgb, turn))
    except ImageError:
        raise
    except Exception as error:
        raise reading.damaged(name, error) from error
    height, width = pixels.shape[:2]
    image = Image(
        sha256=sha256(data),
        width=width,
        height=height,
        media_type=reading.media_type(opened),
        byte_size=len(data),
        notes=notes + colour_notes,
    )
    return Picture(pixels, image)


def inspect(data: bytes, *, name: str = "", sha256: str | None = None) -> Image:
    """Describe an encoded image from its header, without decoding where its structure shows it whole.

    `sha256` saves hashing again. Raises ImageError as `decode` does; damage inside the pixel data may go
    unseen until they are decoded.
    """
    opened = reading.open_image(data, name)
    try:
        notes = reading.notes(opened)
        if not reading.ending_seen(opened, data) or _has_late_metadata(opened, data):
            reading.load(opened, data, name)
        width, height = reading.upright_size(opened)
    except ImageError:
        raise
    except Exception as error:
        raise reading.damaged(name, error) from error
    return Image(
        sha256=sha256 or hashlib.sha256(data).hexdigest(),
        width=width,
        height=height,
        media_type=reading.media_type(opened),
        byte_size=len(data),
        notes=notes,
    )


def to_rgb(opened: ImageFile, purpose: Purpose, name: str) -> tuple[Pillow.Image, tuple[str, ...]]:
    """Return a loaded image as 8-bit RGB, not yet turned upright, and notes on its colours."""
    profile = opened.info.get("icc_profile")
    eight_bits = colour.to_8_bits(opened, name)
    if purpose is Purpose.SCORING:
        return colour.for_scoring(eight_bits), ()
    return colour.for_display(eight_bits, profile)


_TURNS = {
    2: Pillow.Transpose.FLIP_LEFT_RIGHT,
    3: Pillow.Transpose.ROTATE_180,
    4: Pillow.Transpose.FLIP_TOP_BOTTOM,
    5: Pillow.Transpose.TRANSPOSE,
    6: Pillow.Transpose.ROTATE_270,
    7: Pillow.Transpose.TRANSVERSE,
    8: Pillow.Transpose.ROTATE_90,
}


def turned(image: Pillow.Image, orientation: int) -> Pillow.Image:
    """Return an image turned upright from its EXIF orientation, 1 to 8."""
    return image.transpose(_TURNS[orientation]) if orientation in _TURNS else image


def _has_late_metadata(opened: ImageFile, data: bytes) -> bool:
    return isinstance(opened, PngImageFile) and reading.late_metadata(list(reading.png_chunks(data)))


def _to_array(image: Pillow.Image) -> NDArray[np.uint8]:
    """Copy RGB pixels out in strips: whole, Pillow would hold them three times."""
    width, height = image.size
    pixels = np.empty((height, width, 3), np.uint8)
    rows = max(1, _STRIP_PIXELS // width)
    for top in range(0, height, rows):
        bottom = min(height, top + rows)
        pixels[top:bottom] = np.asarray(image.crop((0, top, width, bottom)))
    return pixels
