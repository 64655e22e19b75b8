"""Pictures as they are exported: byte for byte, but for those that other programs may see otherwise."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PIL import Image as Pillow

from banana100_core.imaging import reading
from banana100_core.imaging.decode import Purpose, decode
from banana100_core.project.images import image_bytes

if TYPE_CHECKING:
    from pathlib import Path

    from banana100_core.project import Project
    from banana100_core.project.records import Image

_SUFFIXES = {
    "image/png": ".png",
    "image/jpeg": ".jpg",
    "image/webp": ".webp",
    "image/gif": ".gif",
    "image/bmp": ".bmp",
}


def write_upright(project: Project, image: Image, folder: Path, stem: str) -> str:
    """Write a picture below `folder` and give its name there; ImageError when it can't be read.

    Programs that know no EXIF orientation would find regions elsewhere: such pictures are written upright, as
    PNG, in sRGB, and so are those of uncommon formats. All others keep their bytes.
    """
    data = image_bytes(project, image.sha256)
    suffix = _SUFFIXES.get(image.media_type)
    opened = reading.open_image(data, image.sha256)
    reading.load(opened, data, image.sha256)  # a PNG's orientation may stand after its pixels
    as_received = suffix is not None and reading.orientation(opened) == 1
    name = f"{stem}{suffix if as_received else '.png'}"
    file = folder / name
    file.parent.mkdir(parents=True, exist_ok=True)
    if as_received:
        file.write_bytes(data)
    else:
        Pillow.fromarray(decode(data, Purpose.DISPLAY, name=image.sha256).pixels).save(file, "PNG")
    return name
