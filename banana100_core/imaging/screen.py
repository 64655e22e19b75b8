"""Pictures decoded for the screen: the same pixels as the one decode's, sooner where a picture is plain."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import numpy as np
from PIL.JpegImagePlugin import JpegImageFile

from banana100_core.imaging import colour, reading
from banana100_core.imaging.buffers import new_picture
from banana100_core.imaging.decode import Purpose, decode
from banana100_core.imaging.plain_png import is_plain_png, open_plain_png
from banana100_core.imaging.pyramid import Sums, begin, build, finish, reduce_rows

if TYPE_CHECKING:
    from collections.abc import Callable

    from PIL.ImageFile import ImageFile

    from banana100_core.imaging.pyramid import Pyramid

_ROWS_AT_ONCE = 16  # of a PNG; few enough to stay in the processor's cache until they are in their place
_ROWS_REDUCED = 128


def pyramid_for_screen(data: bytes, *, name: str = "") -> Pyramid:
    """Decode an encoded image to a pyramid.

    The pixels are those of `decode` for Purpose.DISPLAY, and so are the errors. Plain PNG and JPEG files go
    through libvips and libjpeg-turbo, which leave the interpreter free; all else, and what these two find
    fault with, through `decode`.
    """
    pyramid = fast_pyramid(data)
    return build(decode(data, Purpose.DISPLAY, name=name).pixels) if pyramid is None else pyramid


def fast_pyramid(data: bytes) -> Pyramid | None:
    """The same of a plain and undamaged PNG or JPEG; None for any other."""
    try:
        opened = reading.open_image(data, "")
        decoder = _fast_decoder(opened, data)
        return None if decoder is None else decoder(data, *opened.size)
    except Exception:  # noqa: BLE001 - whatever is wrong, the one decode tells it
        return None


def _fast_decoder(opened: ImageFile, data: bytes) -> Callable[[bytes, int, int], Pyramid] | None:
    profile = opened.info.get("icc_profile")
    if reading.orientation(opened) != 1 or not (profile is None or colour.is_srgb(profile)):
        return None
    if isinstance(opened, JpegImageFile):
        return _from_jpeg if opened.mode == "RGB" or (opened.mode == "L" and profile is None) else None
    return _from_png if is_plain_png(opened, data) else None


def _from_jpeg(data: bytes, width: int, height: int) -> Pyramid:
    import simplejpeg

    pixels = new_picture(height, width)
    if simplejpeg.decode_jpeg(data, "RGB", buffer=pixels).shape != pixels.shape:
        raise ValueError("another size than the header's")
    return build(pixels)


def _from_png(data: bytes, width: int, height: int) -> Pyramid:
    import pyvips

    region = pyvips.Region.new(open_plain_png(data, width, height))
    pyramid = begin(new_picture(height, width))
    # Inflating can't be shared out, so a second thread makes the smaller levels meanwhile.
    with ThreadPoolExecutor(1, "pyramid") as thread:
        work, sums = [], Sums()
        for top in range(0, height, _ROWS_AT_ONCE):
            rows = pyramid.levels[0][top : top + _ROWS_AT_ONCE]
            fetched = region.fetch(0, top, width, len(rows))
            rows[:] = np.frombuffer(fetched, np.uint8).reshape(rows.shape)
            bottom = top + len(rows)
            if bottom % _ROWS_REDUCED == 0 or bottom == height:
                begun = (bottom - 1) // _ROWS_REDUCED * _ROWS_REDUCED
                work.append(thread.submit(reduce_rows, pyramid, begun, bottom, sums))
        for each in work:
            each.result()
    return finish(pyramid)
