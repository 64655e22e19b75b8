"""Finding the step or run that each record of a side file speaks of."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from banana100_core.errors import ImportFilesError
from banana100_core.exchange.names import read_name
from banana100_core.exchange.preview import SideFile, StepNotes
from banana100_core.exchange.side_files import Record, joined, read_side_file

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from banana100_core.exchange.grouping import DraftRun
    from banana100_core.exchange.scan import PictureFile

_Target = tuple["DraftRun", int]


class SideFileMatcher:
    """Gives the runs below a root what side files say of them and their steps."""

    def __init__(self, root: Path, runs: Sequence[DraftRun]) -> None:
        self._root = root
        self._runs = runs
        self._by_path: dict[str, list[_Target]] = {}  # with and without its ending, and from each folder on
        self._runs_of: dict[tuple[object, ...], list[DraftRun]] = {}
        for run in runs:
            for number, picture in run.steps.items():
                for path in _spellings(picture):
                    self._by_path.setdefault(path, []).append((run, number))

    def take(self, path: Path) -> SideFile:
        """Read one side file and spread what it says; what it was of use for comes back."""
        try:
            records, reason = read_side_file(path)
        except ImportFilesError as error:
            return SideFile(path, 0, 0, str(error))
        folder = path.parent.relative_to(self._root).parts
        used = 0
        for record in records:
            targets = self._steps_of(record, path, folder)
            for run, number in targets:
                run.notes[number] = joined(run.notes.get(number, StepNotes()), record.notes)
                _tell_run(run, record.run)
            if not targets and record.step is None and not record.file:
                targets = self._tell_runs(record, folder)
            used += bool(targets)
        if used < len(records) and not reason:
            reason = f"{len(records) - used} records speak of no picture here, or of more than one"
        return SideFile(path, len(records), used, reason)

    def _steps_of(self, record: Record, path: Path, folder: tuple[str, ...]) -> list[_Target]:
        if record.file:
            return self._steps_of_file(record.file, folder)
        if record.step is not None:
            runs = [run for run in self._runs_meant(record, folder) if record.step in run.steps]
            return [(runs[0], record.step)] if len(runs) == 1 else []
        beside = "/".join((*folder, path.stem)).lower()
        return [
            (run, number)
            for run, number in self._by_path.get(beside, [])
            if run.steps[number].path.parent == path.parent
        ]

    def _steps_of_file(self, name: str, folder: tuple[str, ...]) -> list[_Target]:
        parts = [part for part in name.replace("\\", "/").lower().split("/") if part not in {"", "."}]
        inside = "/".join((*(part.lower() for part in folder), *parts))
        # The longest end of the name that is the end of a picture's path decides.
        spellings = [inside, *("/".join(parts[start:]) for start in range(len(parts)))]
        found = next((self._by_path[path] for path in spellings if path in self._by_path), [])
        targets = [(run, number) for run, number in found if run.folders[: len(folder)] == folder] or found
        # One file may be the initial image of many runs, but a name never means several files.
        return targets if len({run.steps[number].path for run, number in targets}) == 1 else []

    def _runs_meant(self, record: Record, folder: tuple[str, ...]) -> list[DraftRun]:
        key = (folder, *sorted(record.run.items()))
        if key not in self._runs_of:
            below = [run for run in self._runs if run.folders[: len(folder)] == folder]
            alone_here = len(below) == 1 and below[0].folders == folder
            for name, value in record.run.items():
                meant = [run for run in below if _is_meant(run, name, value)]
                # Any other field that no run is named by tells about the run instead of choosing it.
                below = meant if meant or (name == "run" and not alone_here) else below
            self._runs_of[key] = below
        return self._runs_of[key]

    def _tell_runs(self, record: Record, folder: tuple[str, ...]) -> list[_Target]:
        runs = self._runs_meant(record, folder)
        for run in runs:
            _tell_run(run, record.run)
            run.settings |= record.notes.settings
            for number in run.steps:
                if number > 0 and (record.notes.prompt or record.notes.model_version):
                    about_step = replace(record.notes, settings={}, reasoning="")
                    run.notes[number] = joined(run.notes.get(number, StepNotes()), about_step)
        return [(run, 0) for run in runs]


def _spellings(picture: PictureFile) -> Iterator[str]:
    """Yield a picture's path below the root, with and without its ending, whole and without outer folders."""
    parts = [part.lower() for part in picture.folders]
    for name in {picture.path.name.lower(), picture.path.stem.lower()}:
        for start in range(len(parts) + 1):
            yield "/".join((*parts[start:], name))


def _is_meant(run: DraftRun, name: str, value: str) -> bool:
    value = value.strip().lower()
    if name != "run":
        return str(getattr(run.guess, name)).lower() == value
    names = {run.title.lower(), "_".join(run.fields).lower(), *(part.lower() for part in run.folders[-1:])}
    repeat = read_name(value).repeat if not value.isdecimal() else int(value)
    return value in names or (repeat is not None and repeat == run.guess.repeat)


def _tell_run(run: DraftRun, said: dict[str, str]) -> None:
    values: dict[str, object] = {name: value for name, value in said.items() if name != "run" and value}
    if said.get("run", "").isdecimal() and run.guess.repeat is None:
        values["repeat"] = int(said["run"])
    run.guess = replace(run.guess, **values)  # type: ignore[arg-type]
