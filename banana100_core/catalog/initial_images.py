"""The paper's 13 initial images: what they show and what they test (Table 1)."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from enum import StrEnum
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


class Likeness(StrEnum):
    """What speaks for a file being one of the paper's images."""

    NAME_AND_SIZE = "name and size"
    NAME = "name"
    SIZE = "size"


def suggested(name: str, width: int, height: int) -> list[tuple[PaperImage, Likeness]]:
    """The paper's images that a file may be, those first for which most speaks.

    A name speaks for an image when that is one of its words: "dongpo_0" is Dongpo. Of equal sizes there are
    several, so a size alone seldom decides.
    """
    words = set(re.findall(r"[a-z]+", name.casefold()))
    found = []
    for image in paper_images().values():
        named = image.name.casefold() in words
        sized = (image.width, image.height) == (width, height)
        if named or sized:
            likeness = (
                Likeness.NAME_AND_SIZE if named and sized else Likeness.NAME if named else Likeness.SIZE
            )
            found.append((image, likeness))
    order = list(Likeness)
    best = min((order.index(likeness) for _, likeness in found), default=0)
    # A full match leaves no doubt.
    return sorted(
        (each for each in found if best > 0 or each[1] is Likeness.NAME_AND_SIZE),
        key=lambda each: order.index(each[1]),
    )
