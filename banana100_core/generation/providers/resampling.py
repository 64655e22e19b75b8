"""Resampling on a moved grid, and the encoding of what comes out."""

from __future__ import annotations

from io import BytesIO

import numpy as np
from numpy.typing import NDArray
from PIL import Image

Pixels = NDArray[np.uint8]


def resample(pixels: Pixels, size: tuple[int, int], shift: tuple[float, float] = (0.0, 0.0)) -> Pixels:
    """Bring (H, W, 3) pixels to `size` (width, height) with Lanczos, on a grid moved by up to a pixel.

    `shift` is in pixels of the input, (right, down); beyond the border its outermost pixels go on.
    """
    height, width = pixels.shape[:2]
    right, down = shift
    padded = Image.fromarray(np.pad(pixels, ((1, 1), (1, 1), (0, 0)), mode="edge"))
    box = (1 + right, 1 + down, 1 + right + width, 1 + down + height)
    return np.asarray(padded.resize(size, Image.Resampling.LANCZOS, box=box))


def encode(pixels: Pixels, file_format: str, **options: int) -> bytes:
    """Encode (H, W, 3) pixels with Pillow; the same pixels and options give the same bytes."""
    out = BytesIO()
    Image.fromarray(pixels).save(out, file_format, **options)
    return out.getvalue()
