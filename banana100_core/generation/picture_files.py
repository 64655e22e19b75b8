"""Initial images from picture files: added as they are, or found because they are the paper's."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from banana100_core.catalog.initial_images import PaperImage, matching, paper_images
from banana100_core.errors import BananaError, ImageError
from banana100_core.imaging.decode import Purpose, decode, inspect
from banana100_core.project.images import NewImage, add_initial_image, initial_images

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from banana100_core.project import Project
    from banana100_core.project.records import InitialImage

SUFFIXES = {".png", ".jpg", ".jpeg", ".webp", ".tif", ".tiff", ".bmp"}


@dataclass(frozen=True, slots=True)
class PaperMatch:
    """One of the paper's images, and the project's initial image that it is; None when it is not there."""

    paper: PaperImage
    name: str | None


def add_files(project: Project, files: Iterable[Path]) -> tuple[list[str], list[str]]:
    """Keep pictures in the project as initial images; gives the names they got, and what went wrong.

    Another picture that has a file's name already makes it "name (2)".
    """
    names, problems = [], []
    taken = {each.name: each.image.sha256 for each in initial_images(project)}
    for file in files:
        try:
            data = _read(file)
            decode(data, Purpose.SCORING, name=file.name)  # one cut short is told now
            image = inspect(data, name=file.name)
            name = _free_name(file.stem, image.sha256, taken)
            add_initial_image(project, name, NewImage(image, data=data))
        except BananaError as error:
            problems.append(str(error))
            continue
        taken[name] = image.sha256
        names.append(name)
    return names, problems


def find_paper_images(folder: Path) -> tuple[list[Path], list[str]]:
    """Files of a folder and the folders in it that are the paper's by name and size.

    Also gives, in words, those that have a name of the paper's and another size.
    """
    names = {name.casefold() for name in paper_images()}
    found: dict[str, Path] = {}
    others = []
    for file in sorted(folder.rglob("*")):
        if file.suffix.lower() not in SUFFIXES or file.stem.casefold() not in names or not file.is_file():
            continue
        try:
            image = inspect(_read(file), name=file.name)
        except ImageError as error:
            others.append(str(error))
            continue
        paper = matching(file.stem, image.width, image.height)
        if paper is not None:
            found.setdefault(paper.name, file)
        else:
            others.append(f"{file.name} is {image.width} × {image.height}, not of the paper's size.")
    return [found[name] for name in paper_images() if name in found], others


def paper_matches(initial: Iterable[InitialImage]) -> list[PaperMatch]:
    """The paper's images in its order, each with the project's initial image of its name and size."""
    there: Mapping[str, str] = {
        paper.name: each.name
        for each in initial
        if (paper := matching(each.name, each.image.width, each.image.height)) is not None
    }
    return [PaperMatch(paper, there.get(paper.name)) for paper in paper_images().values()]


def _read(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError as error:
        raise ImageError(f"{file} can't be read: {error.strerror}. Choose another file.") from None


def _free_name(stem: str, sha256: str, taken: Mapping[str, str]) -> str:
    name, number = stem, 1
    while taken.get(name, sha256) != sha256:
        number += 1
        name = f"{stem} ({number})"
    return name
