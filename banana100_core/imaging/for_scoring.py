"""Pictures decoded for metrics: the same pixels as the one decode's, sooner where a picture is plain."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from banana100_core.imaging import reading
from banana100_core.imaging.decode import Purpose, decode
from banana100_core.imaging.plain_png import is_plain_png, open_plain_png

if TYPE_CHECKING:
    from numpy.typing import NDArray

_ROWS = 256


def pixels_for_scoring(data: bytes, *, name: str = "") -> NDArray[np.uint8]:
    """Decode an encoded image to what metrics see, uint8 RGB (height, width, 3).

    The pixels are those of `decode` for Purpose.SCORING, and so are the errors. A plain PNG goes through
    libvips, in half the time; all else, and what that finds fault with, through `decode`.
    """
    pixels = _from_plain_png(data)
    return decode(data, Purpose.SCORING, name=name).pixels if pixels is None else pixels


def _from_plain_png(data: bytes) -> NDArray[np.uint8] | None:
    import pyvips

    try:
        opened = reading.open_image(data, "")
        if not is_plain_png(opened, data):
            return None
        width, height = opened.size
        region = pyvips.Region.new(open_plain_png(data, width, height))
        pixels = np.empty((height, width, 3), np.uint8)
        for top in range(0, height, _ROWS):
            rows = min(_ROWS, height - top)
            fetched = np.frombuffer(region.fetch(0, top, width, rows), np.uint8)
            pixels[top : top + rows] = fetched.reshape(rows, width, 3)
    except Exception:  # noqa: BLE001 - whatever is wrong, the one decode tells it
        return None
    return pixels
