"""Small copies of pictures for lists and the filmstrip."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

from PIL import Image as Pillow

from banana100_core.errors import ImageError
from banana100_core.imaging import colour, reading
from banana100_core.imaging.decode import Purpose, to_rgb, turned
from banana100_core.imaging.plain_png import is_plain_png, open_plain_png

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from PIL.ImageFile import ImageFile

_QUALITY = 85


def make_thumbnail(data: bytes, side: int = 256) -> bytes:
    """Return a JPEG of an encoded image, upright and in sRGB, its longer side `side` pixels or less.

    A JPEG is decoded at a fraction of its size, a plain PNG is scaled while it is read. Raises ImageError
    when it can't be decoded.
    """
    opened = reading.open_image(data, "")
    try:
        rgb = _from_plain_png(opened, data, side) or _from_any(opened, data, side)
        out = io.BytesIO()
        rgb.save(out, "JPEG", quality=_QUALITY)
    except ImageError:
        raise
    except Exception as error:
        raise reading.damaged("", error) from error
    return out.getvalue()


def _from_plain_png(opened: ImageFile, data: bytes, side: int) -> Pillow.Image | None:
    """Scaled down while it is read, in half the time and never whole in memory; None of any other picture."""
    profile = opened.info.get("icc_profile")
    if not is_plain_png(opened, data) or not (profile is None or colour.is_srgb(profile)):
        return None
    try:
        picture = open_plain_png(data, *opened.size).thumbnail_image(side, height=side, size="down")
        return Pillow.fromarray(picture.numpy())
    except Exception:  # noqa: BLE001 - whatever is wrong, the one decode tells it
        return None


def _from_any(opened: ImageFile, data: bytes, side: int) -> Pillow.Image:
    opened.draft(None, (2 * side, 2 * side))
    reading.load(opened, data, "")
    turn = reading.orientation(opened)
    rgb, _ = to_rgb(opened, Purpose.DISPLAY, "")
    rgb.thumbnail((side, side))
    return turned(rgb, turn)


def thumbnail_pixels(thumbnail: bytes) -> NDArray[np.uint8]:
    """Return the pixels of what `make_thumbnail` made, in BGRX, the layout of screens: (height, width, 4).

    Raises ImageError when it is damaged.
    """
    import simplejpeg

    try:
        pixels: NDArray[np.uint8] = simplejpeg.decode_jpeg(thumbnail, "BGRA")
    except ValueError as error:
        raise reading.damaged("", error) from error
    return pixels
