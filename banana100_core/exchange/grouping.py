"""From the pictures of a folder tree to runs: which files belong together, and what each began from."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from banana100_core.exchange.guesses import Guess, guess
from banana100_core.exchange.names import Name, Number, read_name, steps_of
from banana100_core.exchange.preview import Remark, StepNotes

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from banana100_core.exchange.scan import PictureFile

_INITIAL_FOLDER_WORDS = {
    "original",
    "originals",
    "initial",
    "initials",
    "input",
    "inputs",
    "source",
    "sources",
}
_ANCESTORS = 3

_Place = tuple[tuple[str, ...], str]


@dataclass(slots=True)
class DraftRun:
    """A run while it is put together; step 0 is the initial image."""

    folders: tuple[str, ...]
    fields: tuple[str, ...]  # of the file names, beside the step's number
    guess: Guess
    steps: dict[int, PictureFile] = field(default_factory=dict)
    notes: dict[int, StepNotes] = field(default_factory=dict)
    settings: dict[str, Any] = field(default_factory=dict)

    @property
    def title(self) -> str:
        """What to call the run before it is in a project."""
        return "/".join((*self.folders, "_".join(self.fields))).strip("/")


@dataclass(slots=True)
class Grouping:
    """The runs of a folder tree, and the files that are no step of any."""

    runs: list[DraftRun] = field(default_factory=list)
    duplicates: list[Remark] = field(default_factory=list)
    ignored: list[Remark] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class _File:
    picture: PictureFile
    name: Name
    step: Number | None

    @property
    def fields(self) -> tuple[str, ...]:
        return tuple(self.name.words_beside(self.step))

    @property
    def key(self) -> tuple[str, ...]:
        return tuple(word.lower() for word in self.fields)


def group(root: Path, pictures: dict[tuple[str, ...], list[PictureFile]]) -> Grouping:
    """Group pictures, given by folder, into runs."""
    result = Grouping()
    unnumbered: list[_File] = []
    for folders, files in pictures.items():
        names = [read_name(file.path.stem) for file in files]
        read = [_File(*parts) for parts in zip(files, names, steps_of(names), strict=True)]
        unnumbered += [file for file in read if file.step is None]
        for members in _runs_of_one_folder([file for file in read if file.step is not None]):
            fields = _shared_fields(members)
            run = DraftRun(folders, fields, _guess(root, folders, fields))
            _fill(run, members, result)
            result.runs.append(run)
    _give_initial_images(result, unnumbered)
    return result


def _runs_of_one_folder(files: list[_File]) -> Iterator[list[_File]]:
    groups: dict[tuple[str, ...], list[_File]] = {}
    for file in files:
        groups.setdefault(file.key, []).append(file)
    numbers = {file.step.value for file in files if file.step}
    # Names that differ in something else for every step, a seed or a caption, are one run all the same.
    one_each = len(groups) == len(files) == len(numbers) > 1
    if one_each and not any(file.name.repeat for file in files):
        yield files
    else:
        yield from groups.values()


def _shared_fields(files: list[_File]) -> tuple[str, ...]:
    shared = set(files[0].key).intersection(*(file.key for file in files))
    return tuple(word for word in files[0].fields if word.lower() in shared)


def _guess(root: Path, folders: tuple[str, ...], fields: tuple[str, ...]) -> Guess:
    guessed = guess(folders, fields)
    above: tuple[str, ...] = ()
    for ancestor in [root, *root.parents][:_ANCESTORS]:
        if guessed.initial_image or not ancestor.name:
            break
        above = (ancestor.name, *above)
        guessed = guess((*above, *folders), fields)
    return guessed


def _fill(run: DraftRun, files: list[_File], result: Grouping) -> None:
    for file in sorted(files, key=lambda file: file.name.is_copy):
        number = file.step.value if file.step else 0
        kept = run.steps.setdefault(number, file.picture)
        if kept is not file.picture:
            reason = f"step {number} of {run.title or 'this folder'} is {kept.path.name} already"
            result.duplicates.append(Remark(file.picture.path, reason))


def _give_initial_images(result: Grouping, unnumbered: list[_File]) -> None:
    """Give runs without a step 0 an unnumbered picture that is named as theirs."""
    candidates: dict[_Place, _File] = {}
    for file in unnumbered:
        kept = candidates.setdefault(_place(file), file)
        if kept is not file:
            reason = f"{kept.picture.path.name} is taken as the initial image already"
            result.duplicates.append(Remark(file.picture.path, reason))
    initial_images: dict[tuple[str, ...], set[str]] = {}
    for run in result.runs:
        for depth in range(len(run.folders) + 1):
            initial_images.setdefault(run.folders[:depth], set()).add(run.guess.initial_image)
    used: set[Path] = set()
    for run in result.runs:
        for place in _places_for(run, initial_images):
            if place in candidates and 0 not in run.steps:
                run.steps[0] = candidates[place].picture
                used.add(run.steps[0].path)
    for file in candidates.values():
        if file.picture.path not in used:
            result.ignored.append(Remark(file.picture.path, "no step number in its name"))


def _place(file: _File) -> _Place:
    """Return the folder whose runs a picture may have begun, and whose it is: "" for all of them."""
    folders = file.picture.folders
    words = set(re.split(r"[^a-z]+", folders[-1].lower())) if folders else set()
    if words & _INITIAL_FOLDER_WORDS:
        return folders[:-1], "_".join(file.key)
    if file.name.says_initial:
        return folders, "_".join(file.key)
    return folders, file.name.stem.lower().replace(" ", "_")


def _places_for(run: DraftRun, initial_images: dict[tuple[str, ...], set[str]]) -> Iterator[_Place]:
    """Yield where a run's initial image may be, the nearest first."""
    for depth in range(len(run.folders), -1, -1):
        scope = run.folders[:depth]
        yield from (
            (scope, name)
            for name in ("_".join(run.fields).lower(), run.guess.initial_image.lower().replace(" ", "_"))
            if name
        )
        if len(initial_images[scope]) == 1:
            yield scope, ""
