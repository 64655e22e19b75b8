"""Small copies of pictures for lists and the filmstrip."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

from banana100_core.errors import ImageError
from banana100_core.imaging import reading
from banana100_core.imaging.decode import Purpose, to_rgb, turned

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_QUALITY = 85


def make_thumbnail(data: bytes, side: int = 256) -> bytes:
    """Return a JPEG of an encoded image, upright and in sRGB, its longer side `side` pixels or less.

    A JPEG is decoded at a fraction of its size. Raises ImageError when it can't be decoded.
    """
    opened = reading.open_image(data, "")
    try:
        opened.draft(None, (2 * side, 2 * side))
        reading.load(opened, data, "")
        turn = reading.orientation(opened)
        rgb, _ = to_rgb(opened, Purpose.DISPLAY, "")
        rgb.thumbnail((side, side))
        out = io.BytesIO()
        turned(rgb, turn).save(out, "JPEG", quality=_QUALITY)
    except ImageError:
        raise
    except Exception as error:
        raise reading.damaged("", error) from error
    return out.getvalue()


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
