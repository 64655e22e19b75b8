"""Small copies of pictures for lists and the filmstrip."""

from __future__ import annotations

import io

from banana100_core.errors import ImageError
from banana100_core.imaging import reading
from banana100_core.imaging.decode import Purpose, to_rgb, turned

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
