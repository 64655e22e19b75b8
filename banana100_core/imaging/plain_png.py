"""PNG files as services send them, 8-bit RGB with nothing to do to their pixels, read by libvips."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PIL.PngImagePlugin import PngImageFile

from banana100_core.imaging import reading

if TYPE_CHECKING:
    import pyvips
    from PIL.ImageFile import ImageFile


def is_plain_png(opened: ImageFile, data: bytes) -> bool:
    """Whether it is one: upright, opaque, not interlaced, and nothing but its end after its pixels."""
    return (
        isinstance(opened, PngImageFile)
        and opened.mode == "RGB"
        and reading.bit_depth(opened) == 8
        and reading.orientation(opened) == 1
        and not opened.has_transparency_data
        and not opened.info.get("interlace")
        and _ends_after_pixels(data)
    )


def open_plain_png(data: bytes, width: int, height: int) -> pyvips.Image:
    """Open one, to be read once from top to bottom; raises whatever libvips finds fault with."""
    import pyvips  # takes long to import

    pyvips.cache_set_max(0)  # it would keep pictures for operations that don't come
    picture = pyvips.Image.pngload_buffer(data, access="sequential", fail_on="warning")
    if (picture.width, picture.height, picture.bands) != (width, height, 3):
        raise ValueError("another size or kind than the header's")
    return picture


def _ends_after_pixels(data: bytes) -> bool:
    at, last = 8, b""
    while at + 8 <= len(data):
        kind = data[at + 4 : at + 8]
        if last == b"IDAT" != kind:
            return kind == b"IEND"
        at, last = at + 12 + int.from_bytes(data[at : at + 4], "big"), kind
    return False
