"""Pictures decoded for the screen: the same pixels as the one decode's, sooner where a picture is plain."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import numpy as np
from PIL.JpegImagePlugin import JpegImageFile

from banana100_core.imaging import colour, reading
from banana100_core.imaging.decode import Purpose, decode
from banana100_core.imaging.plain_png import is_plain_png, open_plain_png
from banana100_core.imaging.pyramid import BLOCK_ROWS, begin, build_in_stages, finish, reduce_block

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray
    from PIL.ImageFile import ImageFile

    from banana100_core.imaging.pyramid import Pyramid


def pyramids_for_screen(data: bytes, *, name: str = "") -> Iterator[Pyramid]:
    """Decode an encoded image to a pyramid in BGRX, the layout of screens; each last byte is 255.

    Yields one without its level of halves as soon as that can be drawn, then the whole one. The pixels are
    those of `decode` for Purpose.DISPLAY, and so are the errors. Plain PNG and JPEG files go through libvips
    and libjpeg-turbo, which leave the interpreter free; all else, and what these two find fault with,
    through `decode`.
    """
    pyramids = fast_pyramids(data)
    if pyramids is None:
        pyramids = build_in_stages(to_bgrx(decode(data, Purpose.DISPLAY, name=name).pixels))
    yield from pyramids


def fast_pyramids(data: bytes) -> Iterator[Pyramid] | None:
    """The same of a plain and undamaged PNG or JPEG; None for any other."""
    try:
        opened = reading.open_image(data, "")
        decoder = _fast_decoder(opened, data)
        return None if decoder is None else decoder(data, *opened.size)
    except Exception:  # noqa: BLE001 - whatever is wrong, the one decode tells it
        return None


def to_bgrx(rgb: NDArray[np.uint8], out: NDArray[np.uint8] | None = None) -> NDArray[np.uint8]:
    """Lay out RGB pixels (height, width, 3) as BGRX (height, width, 4), in `out` if given."""
    bgrx = np.empty((*rgb.shape[:2], 4), np.uint8) if out is None else out
    for channel in range(3):
        bgrx[..., 2 - channel] = rgb[..., channel]
    bgrx[..., 3] = 255
    return bgrx


def _fast_decoder(opened: ImageFile, data: bytes) -> Callable[[bytes, int, int], Iterator[Pyramid]] | None:
    profile = opened.info.get("icc_profile")
    if reading.orientation(opened) != 1 or not (profile is None or colour.is_srgb(profile)):
        return None
    if isinstance(opened, JpegImageFile):
        return _from_jpeg if opened.mode == "RGB" or (opened.mode == "L" and profile is None) else None
    return _from_png if is_plain_png(opened, data) else None


def _from_jpeg(data: bytes, width: int, height: int) -> Iterator[Pyramid]:
    import simplejpeg

    bgrx = np.empty((height, width, 4), np.uint8)
    decoded = simplejpeg.decode_jpeg(data, "BGRA", buffer=bgrx)
    if decoded.shape != bgrx.shape:
        raise ValueError("another size than the header's")
    return build_in_stages(bgrx)


def _from_png(data: bytes, width: int, height: int) -> Iterator[Pyramid]:
    import pyvips

    region = pyvips.Region.new(open_plain_png(data, width, height))
    pyramid = begin(np.empty((height, width, 4), np.uint8))

    def take(top: int, rows: NDArray[np.uint8]) -> None:
        to_bgrx(rows.reshape(-1, width, 3), pyramid.levels[0][top : top + BLOCK_ROWS])
        reduce_block(pyramid, top)

    # Inflating can't be shared out, so a second thread does the rest meanwhile.
    with ThreadPoolExecutor(1, "layout") as thread:
        work = []
        for top in range(0, height, BLOCK_ROWS):
            rows = region.fetch(0, top, width, min(BLOCK_ROWS, height - top))
            work.append(thread.submit(take, top, np.frombuffer(rows, np.uint8)))
        for each in work:
            each.result()
    return finish(pyramid)
