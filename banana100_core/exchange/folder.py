"""Importing a folder of pictures: a run a folder, or run and step in the file names."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from natsort import natsort_keygen

from banana100_core.exchange.grouping import DraftRun, group
from banana100_core.exchange.guesses import UNKNOWN
from banana100_core.exchange.importing import import_runs
from banana100_core.exchange.matching import SideFileMatcher
from banana100_core.exchange.preview import FoundRun, FoundStep, ImportPreview, StepNotes
from banana100_core.exchange.scan import scan, unreadable
from banana100_core.project.rows import text

if TYPE_CHECKING:
    from banana100_core.progress import Progress

__all__ = ["import_folder", "preview_folder"]

PROVIDER = "imported"

import_folder = import_runs


def preview_folder(folder: Path, progress: Progress | None = None) -> ImportPreview:
    """Say what an import of `folder` would add; nothing is written.

    Runs and steps are read from folder and file names, prompts and the like from CSV, JSON and JSON lines
    files. Of the pictures only the first bytes are read. Raises ImportFilesError when `folder` can't be read.
    """
    root = Path(folder).resolve()
    found = scan(root, progress)
    grouping = group(root, found.pictures)
    matcher = SideFileMatcher(root, grouping.runs)
    side_files = tuple(matcher.take(path) for path in found.side_files)
    by_title = natsort_keygen(key=lambda run: run.title)
    drafts = sorted(grouping.runs, key=by_title)
    repeats = _repeats(drafts)
    pictures = dict.fromkeys(picture.path for run in drafts for picture in run.steps.values())
    return ImportPreview(
        root=root,
        runs=tuple(_found_run(root, run, repeat) for run, repeat in zip(drafts, repeats, strict=True)),
        side_files=side_files,
        duplicates=tuple(grouping.duplicates),
        unreadable=tuple(unreadable(pictures, progress)),
        ignored=(*found.ignored, *grouping.ignored),
    )


def _repeats(runs: list[DraftRun]) -> list[int]:
    """Number runs that don't name their repeat after their equals that do."""
    taken: dict[tuple[str, ...], set[int]] = {}
    for run in runs:
        if run.guess.repeat is not None:
            taken.setdefault(_setting(run), set()).add(run.guess.repeat)
    repeats = []
    for run in runs:
        repeat = run.guess.repeat
        if repeat is None:
            used = taken.setdefault(_setting(run), set())
            repeat = next(number for number in range(1, len(used) + 2) if number not in used)
            used.add(repeat)
        repeats.append(repeat)
    return repeats


def _setting(run: DraftRun) -> tuple[str, ...]:
    guess = run.guess
    return guess.initial_image, guess.protocol, guess.model, guess.session_mode, guess.branch


def _found_run(root: Path, run: DraftRun, repeat: int) -> FoundRun:
    place = root.joinpath(*run.folders).as_posix()
    name = "_".join(run.fields)
    return FoundRun(
        source=text(f"folder:{place}#{name.lower()}" if name else f"folder:{place}"),
        title=run.title or root.name,
        initial_image=run.guess.initial_image or UNKNOWN,
        protocol=run.guess.protocol or UNKNOWN,
        provider=run.guess.provider or PROVIDER,
        model=run.guess.model or UNKNOWN,
        repeat=repeat,
        seed=run.guess.seed,
        session_mode=run.guess.session_mode,
        branch=run.guess.branch,
        settings=run.settings,
        steps=tuple(
            FoundStep(number, picture.path, picture.byte_size, run.notes.get(number, StepNotes()))
            for number, picture in sorted(run.steps.items())
        ),
    )
