"""The paper's 13 initial images: what they show and what they test (Table 1)."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files


@dataclass(frozen=True, slots=True)
class PaperImage:
    """An initial image of the paper; `width` and `height` in pixels."""

    name: str
    content: str
    challenge: str
    width: int
    height: int
    made_with: str


@cache
def paper_images() -> dict[str, PaperImage]:
    """All 13 by name, in the paper's order."""
    data = tomllib.loads(files(__package__).joinpath("initial_images.toml").read_text("utf-8"))
    images = {}
    for entry in data["initial_image"]:
        width, height = entry["size"]
        images[entry["name"]] = PaperImage(
            entry["name"], entry["content"], entry["challenge"], width, height, entry["made_with"]
        )
    return images


def matching(name: str, width: int, height: int) -> PaperImage | None:
    """The paper's image that a file of this name (case ignored) and size is; None when it is another."""
    for image in paper_images().values():
        if image.name.casefold() == name.casefold() and (image.width, image.height) == (width, height):
            return image
    return None
