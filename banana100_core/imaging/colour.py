"""From whatever a file holds to 8-bit RGB: bit depth, palette, alpha, CMYK and colour profiles."""

from __future__ import annotations

import io
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
from PIL import Image as Pillow
from PIL import ImageCms
from PIL.TiffImagePlugin import TiffImageFile

from banana100_core.errors import ImageError
from banana100_core.imaging.reading import bit_depth, shown_name

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from PIL.ImageFile import ImageFile

MID_GREY = (128, 128, 128)
"""What shows through transparent pixels on screen."""

# What an ICC profile calls its colour space, and the Pillow mode of such pixels.
_PROFILE_MODES = {"RGB ": "RGB", "GRAY": "L", "CMYK": "CMYK"}
_INT32_LOW = 2**31


def to_8_bits(image: ImageFile, name: str) -> Pillow.Image:
    """Return a loaded image with 8 bits a channel; deeper values keep their high byte, never clipped.

    32-bit float values must lie in 0 to 1. Raises ImageError otherwise.
    """
    if image.mode == "F":
        return Pillow.fromarray(_float_to_8_bits(np.asarray(image), name))
    if image.mode != "I" and not image.mode.startswith("I;16"):
        return image
    values = np.asarray(image)
    depth = bit_depth(image)
    white_is_zero = False
    if isinstance(image, TiffImageFile):
        signed = image.tag_v2.get(339, (1,))[0] == 2
        white_is_zero = image.tag_v2.get(262) == 0
        if depth == 32:
            values = (
                values.astype(np.int64) + _INT32_LOW if signed else values.astype(np.int32).view(np.uint32)
            )
        elif signed:
            values = values + 2**15
    grey = (values >> max(depth - 8, 0)).astype(np.uint8)
    return Pillow.fromarray(255 - grey if white_is_zero else grey)


def _float_to_8_bits(values: NDArray[np.float32], name: str) -> NDArray[np.uint8]:
    low, high = float(values.min()), float(values.max())
    if not (low >= 0 and high <= 1):
        raise ImageError(
            f"{shown_name(name)}: 32-bit float values from {low:g} to {high:g} have no fixed white; "
            "scale them to 0 to 1, or save the picture with 8 or 16 bits"
        )
    return np.rint(values * 255).astype(np.uint8)


def for_scoring(image: Pillow.Image) -> Pillow.Image:
    """Return the RGB pixels that pyiqa's loader would see: `convert("RGB")`, alpha dropped, no profile."""
    if image.mode == "RGB":
        return image  # convert would copy, and drop nothing but a transparent colour
    return _unmultiplied(image).convert("RGB")


def for_display(image: Pillow.Image, profile: bytes | None) -> tuple[Pillow.Image, tuple[str, ...]]:
    """Return the RGB pixels for the screen and notes: profile to sRGB, then alpha over mid-grey."""
    image = _unmultiplied(image)
    alpha = None
    if image.has_transparency_data:
        image = image.convert("RGBA")
        alpha = image.getchannel("A")
        image = image.convert("RGB")
    rgb, notes = to_srgb(image, profile) if profile else (_as_rgb(image), ())
    if alpha is not None:
        canvas = Pillow.new("RGB", rgb.size, MID_GREY)
        canvas.paste(rgb, mask=alpha)
        rgb = canvas
    return rgb, notes


def _unmultiplied(image: Pillow.Image) -> Pillow.Image:
    straight = {"RGBa": "RGBA", "La": "LA"}.get(image.mode)
    return image.convert(straight) if straight else image


def _as_rgb(image: Pillow.Image) -> Pillow.Image:
    # convert would copy even what is RGB already, which takes half as long as decoding.
    return image if image.mode == "RGB" else image.convert("RGB")


def to_srgb(image: Pillow.Image, profile: bytes) -> tuple[Pillow.Image, tuple[str, ...]]:
    """Return RGB pixels in sRGB (perceptual intent) and notes; a profile that can't be used is said."""
    if image.mode == "RGB" and is_srgb(profile):
        return image, ()
    try:
        source = ImageCms.ImageCmsProfile(io.BytesIO(profile))
        mode = _PROFILE_MODES.get(source.profile.xcolor_space, "")
        if (image.mode == "CMYK") != (mode == "CMYK") or not mode:
            return _as_rgb(image), ("colour profile ignored: it is for another kind of picture",)
        if mode == "L" and image.mode not in {"L", "1"}:
            return _as_rgb(image), ("colour profile ignored: it is for grey pictures",)
        transform = _to_srgb_transform(source, mode)
        if mode == "RGB" and _changes_nothing(transform):
            return _as_rgb(image), ()
        converted = ImageCms.applyTransform(image.convert(mode), transform)
        title = ImageCms.getProfileDescription(source).strip() or "unnamed"
    except (ImageCms.PyCMSError, OSError, ValueError, TypeError):
        return _as_rgb(image), ("colour profile ignored: it is damaged",)
    return converted or image.convert("RGB"), (f"colours shown through the profile {shown_name(title)}",)


@lru_cache(maxsize=16)
def is_srgb(profile: bytes) -> bool:
    """Tell that a colour profile leaves RGB pixels as they are."""
    try:
        source = ImageCms.ImageCmsProfile(io.BytesIO(profile))
        of_rgb = _PROFILE_MODES.get(source.profile.xcolor_space) == "RGB"
        return of_rgb and _changes_nothing(_to_srgb_transform(source, "RGB"))
    except (ImageCms.PyCMSError, OSError, ValueError, TypeError):
        return False


def _to_srgb_transform(source: ImageCms.ImageCmsProfile, mode: str) -> ImageCms.ImageCmsTransform:
    return ImageCms.buildTransform(
        source, ImageCms.createProfile("sRGB"), mode, "RGB", ImageCms.Intent.PERCEPTUAL
    )


def _changes_nothing(transform: ImageCms.ImageCmsTransform) -> bool:
    """Tell that a transform is sRGB to sRGB but for rounding, so that exact pixels can be kept."""
    levels = np.linspace(0, 255, 16).astype(np.uint8)
    probe = np.stack(np.meshgrid(levels, levels, levels), axis=-1).reshape(64, 64, 3)
    result = ImageCms.applyTransform(Pillow.fromarray(probe), transform)
    return bool(np.abs(np.asarray(result).astype(int) - probe).max() <= 1)
