"""Pictures decoded for the screen: the same pixels as the one decode's, sooner where a picture is plain."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import numpy as np
from PIL.JpegImagePlugin import JpegImageFile
from PIL.PngImagePlugin import PngImageFile

from banana100_core.imaging import colour, reading
from banana100_core.imaging.decode import Purpose, decode

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray
    from PIL.ImageFile import ImageFile

_STRIP_ROWS = 64


def decode_for_screen(data: bytes, *, name: str = "") -> NDArray[np.uint8]:
    """Decode an encoded image to BGRX (height, width, 4), the layout of screens, its last byte 255.

    The pixels are those of `decode` for Purpose.DISPLAY, and so are the errors. Plain PNG and JPEG files go
    through libvips and libjpeg-turbo, which leave the interpreter free; all else, and what these two find
    fault with, through `decode`.
    """
    pixels = _decoded_fast(data)
    return to_bgrx(decode(data, Purpose.DISPLAY, name=name).pixels) if pixels is None else pixels


def to_bgrx(rgb: NDArray[np.uint8], out: NDArray[np.uint8] | None = None) -> NDArray[np.uint8]:
    """Lay out RGB pixels (height, width, 3) as BGRX (height, width, 4), in `out` if given."""
    bgrx = np.empty((*rgb.shape[:2], 4), np.uint8) if out is None else out
    for channel in range(3):
        bgrx[..., 2 - channel] = rgb[..., channel]
    bgrx[..., 3] = 255
    return bgrx


def _decoded_fast(data: bytes) -> NDArray[np.uint8] | None:
    """The pixels of a plain and undamaged PNG or JPEG; None for any other."""
    try:
        opened = reading.open_image(data, "")
        decoder = _fast_decoder(opened, data)
        pixels = None if decoder is None else decoder(data)
    except Exception:  # noqa: BLE001 - whatever is wrong, the one decode tells it
        return None
    return pixels if pixels is not None and pixels.shape == (*opened.size[::-1], 4) else None


def _fast_decoder(opened: ImageFile, data: bytes) -> Callable[[bytes], NDArray[np.uint8]] | None:
    profile = opened.info.get("icc_profile")
    if reading.orientation(opened) != 1 or not (profile is None or colour.is_srgb(profile)):
        return None
    if isinstance(opened, JpegImageFile):
        coloured = opened.mode == "RGB" or (opened.mode == "L" and profile is None)
        return _decode_jpeg if coloured and reading.ending_seen(opened, data) else None
    if isinstance(opened, PngImageFile) and opened.mode == "RGB" and reading.bit_depth(opened) == 8:
        plain = not opened.has_transparency_data and not opened.info.get("interlace")
        chunks = list(reading.png_chunks(data)) if plain else []
        return _decode_png if b"IEND" in chunks and not reading.late_metadata(chunks) else None
    return None


def _decode_jpeg(data: bytes) -> NDArray[np.uint8]:
    import simplejpeg

    pixels: NDArray[np.uint8] = simplejpeg.decode_jpeg(data, "BGRA")
    return pixels


def _decode_png(data: bytes) -> NDArray[np.uint8]:
    import pyvips

    pyvips.cache_set_max(0)  # it would keep pictures for operations that don't come
    picture = pyvips.Image.pngload_buffer(data, access="sequential", fail_on="warning")
    width, height = picture.width, picture.height
    region = pyvips.Region.new(picture)
    bgrx = np.empty((height, width, 4), np.uint8)

    def fill(top: int, strip: NDArray[np.uint8]) -> None:
        to_bgrx(strip.reshape(-1, width, 3), bgrx[top : top + _STRIP_ROWS])

    # Inflating can't be shared out, so a second thread does the rest meanwhile.
    with ThreadPoolExecutor(1, "layout") as thread:
        filled = []
        for top in range(0, height, _STRIP_ROWS):
            strip = region.fetch(0, top, width, min(_STRIP_ROWS, height - top))
            filled.append(thread.submit(fill, top, np.frombuffer(strip, np.uint8)))
        for each in filled:
            each.result()
    return bgrx
