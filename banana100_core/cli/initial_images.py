"""The command that lists the paper's initial images, and finds them among files: initial-images."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from banana100_core.cli.console import AsJson, complain, plain, say, say_json, table
from banana100_core.cli.exits import Exit

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from banana100_core.catalog.initial_images import Likeness, PaperImage
    from banana100_core.errors import ImageError

_ENDINGS = {".png", ".jpg", ".jpeg", ".webp", ".tif", ".tiff", ".bmp"}


def initial_images(
    files: Annotated[
        list[Path] | None,
        typer.Argument(metavar="FILES", help="Picture files, or folders of them.", show_default=False),
    ] = None,
    project: Annotated[
        Path | None,
        typer.Option(metavar="PROJECT", help="Say which files the project has already.", show_default=False),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """List the paper's 13 initial images, or find them in files.

    The pictures themselves don't come with the program. A file is known by its name and size; to use one
    under the paper's name: `generate --initial NAME=FILE`.
    """
    from banana100_core.catalog.initial_images import paper_images, suggested
    from banana100_core.errors import ImageError
    from banana100_core.imaging.decode import inspect

    kept = {} if project is None else _kept(project)
    rows = []
    for file in _pictures(files or ()):
        try:
            image = inspect(file.read_bytes(), name=str(file))
        except (ImageError, OSError) as error:
            rows.append(_row(file, problem=_problem(file, error)))
            continue
        found = suggested(file.stem, image.width, image.height)
        rows.append(_row(file, (image.width, image.height), found, kept.get(image.sha256, [])))
    if as_json:
        say_json({"initial_images": list(paper_images().values()), "files": rows})
    elif files:
        for row in rows:
            if not row["problem"]:
                say(f"{plain(row['file'])}: {plain(_words(row))}")
    else:
        say(
            table(
                ["NAME", "SIZE", "CHALLENGE", "MADE WITH"],
                [
                    (image.name, f"{image.width}x{image.height}", image.challenge, image.made_with)
                    for image in paper_images().values()
                ],
            )
        )
    problems = [row for row in rows if row["problem"]]
    for row in problems:
        complain(f"{row['file']}: {row['problem']}")
    if problems:
        raise typer.Exit(Exit.SOME_FAILED)


def _pictures(given: Iterable[Path]) -> Iterator[Path]:
    for each in given:
        if each.is_dir():
            yield from sorted(file for file in each.rglob("*") if file.suffix.lower() in _ENDINGS)
        else:
            yield each


def _kept(path: Path) -> dict[str, list[str]]:
    """Names of the project's initial images, by what they hold."""
    from banana100_core.project import Project
    from banana100_core.project.images import initial_images as images_of

    names: dict[str, list[str]] = {}
    with Project.open(path, read_only=True) as opened:
        for each in images_of(opened):
            names.setdefault(each.image.sha256, []).append(each.name)
    return names


def _row(
    file: Path,
    size: tuple[int, int] | None = None,
    found: Sequence[tuple[PaperImage, Likeness]] = (),
    kept: Sequence[str] = (),
    problem: str = "",
) -> dict[str, Any]:
    return {
        "file": str(file),
        "size": size,
        "suggestions": [{"name": image.name, "by": likeness} for image, likeness in found],
        "in_project": list(kept),
        "problem": problem,
    }


def _problem(file: Path, error: ImageError | OSError) -> str:
    """Why a file can't be looked at, without its name."""
    if isinstance(error, OSError):
        return error.strerror or str(error)
    return str(error).removeprefix(f"{file}: ")


def _words(row: Mapping[str, Any]) -> str:
    by: dict[str, list[str]] = {}
    for each in row["suggestions"]:
        by.setdefault(each["by"], []).append(each["name"])
    said = [f"{', '.join(names)} by {likeness}" for likeness, names in by.items()] or ["none of them"]
    if row["in_project"]:
        said.append(f"in the project as {', '.join(row['in_project'])}")
    return "; ".join(said)
