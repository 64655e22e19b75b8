"""Importing the multi-turn part of Pico-Banana-400K: a JSON lines file and the folder of its images."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from banana100_core.errors import ImportFilesError
from banana100_core.exchange.importing import import_runs
from banana100_core.exchange.preview import FoundRun, FoundStep, ImportPreview, Remark, StepNotes
from banana100_core.exchange.scan import unreadable
from banana100_core.project.rows import text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from banana100_core.progress import Progress

__all__ = ["import_pico", "preview_pico"]

PROVIDER = "pico-banana-400k"
MODEL = "nano-banana"
PROTOCOL = "multi-turn"

_TURN = re.compile(r"edit_turn(\d{1,4})")
_FINAL = "final_image"
_ORIGINAL = "original_input_image"
_TURN_ENDING = re.compile(r"_(?:turn\d+|final(?:_image)?)$", re.IGNORECASE)
# Where originals may lie that the list names by an address in the web.
_ORIGINAL_FOLDERS = ("", "openimage_source_images", "originals")
_PROGRESS_LINES = 500

import_pico = import_runs


@dataclass(frozen=True, slots=True)
class _Sequence:
    """One line of the list: relative paths by turn, the last turn's among them, and the prompts."""

    turns: dict[int, str]
    original: str
    prompts: tuple[str, ...]

    @property
    def name(self) -> str:
        """What the names of its images share."""
        first = PurePosixPath(self.turns[min(self.turns)])
        return str(first.with_name(_TURN_ENDING.sub("", first.stem)))


def preview_pico(jsonl: Path, base: Path, progress: Progress | None = None) -> ImportPreview:
    """Say what an import of Pico-Banana's multi-turn list would add; nothing is written or fetched.

    `base` is the folder that the list's relative addresses start from. The original image is taken as step 0
    only if it lies there. Raises ImportFilesError when the list can't be read, or `base` is no folder.
    """
    if not base.is_dir():
        raise ImportFilesError(f"There is no folder {base}. Name the one that holds Pico-Banana's images.")
    runs: list[FoundRun] = []
    ignored: list[Remark] = []
    without_images = 0
    for number, line in enumerate(_lines(jsonl), start=1):
        try:
            run = _found_run(_read(line), jsonl, base) if line.strip() else None
        except (ImportFilesError, ValueError) as error:
            ignored.append(Remark(jsonl, f"line {number}: {error}"))
            continue
        if run is not None and run.steps:
            runs.append(run)
        else:
            without_images += bool(line.strip())
        if progress is not None and number % _PROGRESS_LINES == 0:
            progress(number, 0, jsonl.name)
    if without_images:
        some = "1 sequence has" if without_images == 1 else f"{without_images} sequences have"
        ignored.append(Remark(jsonl, f"{some} no image below {base}"))
    numbered = tuple(_numbered(runs))
    pictures = dict.fromkeys(step.file for run in numbered for step in run.steps)
    return ImportPreview(
        root=base,
        runs=numbered,
        unreadable=tuple(unreadable(pictures, progress)),
        ignored=tuple(ignored),
    )


def _lines(jsonl: Path) -> Iterator[str]:
    try:
        with jsonl.open(encoding="utf-8-sig", newline="\n") as stream:
            yield from stream
    except OSError as error:
        raise ImportFilesError(f"{jsonl} can't be read: {error.strerror}. Name a JSON lines file.") from None
    except UnicodeDecodeError:
        raise ImportFilesError(f"{jsonl} can't be read: its text is not UTF-8. Save it as UTF-8.") from None


def _read(line: str) -> _Sequence:
    """Read one line; ImportFilesError says what is wrong with it."""
    try:
        item = json.loads(line)
    except (ValueError, RecursionError):
        raise ImportFilesError("is no JSON object") from None
    files = item.get("files") if isinstance(item, dict) else None
    prompts = item.get("metadata_edit_turn_prompts") if isinstance(item, dict) else None
    if not isinstance(files, list) or not isinstance(prompts, list):
        raise ImportFilesError("lacks files or metadata_edit_turn_prompts; is it the multi-turn list?")
    addresses = {str(file.get("id")): str(file.get("url", "")) for file in files if isinstance(file, dict)}
    turns = {int(match[1]): url for key, url in addresses.items() if (match := _TURN.fullmatch(key))}
    if _FINAL in addresses:
        turns[len(prompts)] = addresses[_FINAL]
    if not any(turns.values()) or 0 in turns:
        raise ImportFilesError("names no turn")
    return _Sequence(turns, addresses.get(_ORIGINAL, ""), tuple(map(str, prompts)))


def _found_run(sequence: _Sequence, jsonl: Path, base: Path) -> FoundRun:
    files = {number: _local(base, url) for number, url in sorted(sequence.turns.items())}
    files = {0: _original(base, sequence.original), **files}
    steps = [
        FoundStep(number, *found, StepNotes(prompt=_prompt(sequence, number)))
        for number, found in files.items()
        if found is not None
    ]
    original = PurePosixPath(urlsplit(sequence.original).path).stem
    settings: dict[str, Any] = {"original": sequence.original, "turns": len(sequence.prompts)}
    return FoundRun(
        source=text(f"pico:{jsonl.name}#{sequence.name}"),
        title=PurePosixPath(sequence.name).name,
        initial_image=original or PurePosixPath(sequence.name).name,
        protocol=PROTOCOL,
        provider=PROVIDER,
        model=MODEL,
        repeat=1,
        steps=tuple(steps),
        settings=settings,
    )


def _prompt(sequence: _Sequence, number: int) -> str:
    return sequence.prompts[number - 1] if 0 < number <= len(sequence.prompts) else ""


def _local(base: Path, url: str) -> tuple[Path, int] | None:
    """Return the file below `base` that a relative address names, and its size; None when it isn't there."""
    relative = PurePosixPath(url.replace("\\", "/"))
    if not url or relative.is_absolute() or ".." in relative.parts or urlsplit(url).scheme:
        return None
    path = base / relative
    try:
        return (path, path.stat().st_size) if path.is_file() else None
    except (OSError, ValueError):
        return None


def _original(base: Path, url: str) -> tuple[Path, int] | None:
    if not urlsplit(url).scheme:
        return _local(base, url)
    name = PurePosixPath(urlsplit(url).path).name
    found = (_local(base, f"{folder}/{name}" if folder else name) for folder in _ORIGINAL_FOLDERS)
    return next(filter(None, found), None) if name else None


def _numbered(runs: list[FoundRun]) -> Iterator[FoundRun]:
    """Number the runs that began from the same image, and leave out a sequence that is listed twice."""
    repeats: dict[str, int] = {}
    seen: set[str] = set()
    for run in runs:
        if run.source not in seen:
            seen.add(run.source)
            repeats[run.initial_image] = repeats.get(run.initial_image, 0) + 1
            yield replace(run, repeat=repeats[run.initial_image])
