"""Walking a folder for pictures and side files, through links but never in circles."""

from __future__ import annotations

import os
from collections import deque
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from natsort import natsorted

from banana100_core.errors import ImageError, ImportFilesError
from banana100_core.exchange.preview import Remark
from banana100_core.imaging.reading import need_readable, shown_name

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from banana100_core.progress import Progress

_PICTURES = {
    *(".png", ".jpg", ".jpeg", ".jpe", ".jfif", ".webp", ".tif", ".tiff", ".bmp", ".dib", ".gif"),
    *(".avif", ".heic", ".heif"),  # not read, but a step that has one should say so
}
_SIDE_FILES = {".csv", ".tsv", ".json", ".jsonl", ".ndjson"}
_HEAD_BYTES = 32
_PROGRESS_FILES = 256


_Folder = tuple[tuple[str, ...], Path, list[os.DirEntry[str]]]  # names from the root, path, what it holds


@dataclass(frozen=True, slots=True)
class PictureFile:
    """A picture, by its ending, and the folders that lead to it from the root."""

    path: Path
    folders: tuple[str, ...]
    byte_size: int


@dataclass(slots=True)
class Scan:
    """What a folder holds, in natural order."""

    pictures: dict[tuple[str, ...], list[PictureFile]] = field(default_factory=dict)
    side_files: list[Path] = field(default_factory=list)
    ignored: list[Remark] = field(default_factory=list)


def scan(root: Path, progress: Progress | None = None) -> Scan:
    """List the pictures, by folder, and side files below `root`; ImportFilesError when it can't be listed."""
    try:
        seen = {_identity(root)}
        first = _listed(root)
    except OSError as error:
        raise ImportFilesError(
            f"{root} can't be imported: {error.strerror}. Name a folder that you can read."
        ) from None
    result = Scan()
    waiting: deque[_Folder] = deque([((), root, first)])
    links: deque[tuple[tuple[str, ...], Path]] = deque()
    while waiting or links:
        if not waiting:
            # Links come last, so that a folder reached both ways keeps its own name.
            waiting.extend(_opened([links.popleft()], seen, result))
            continue
        folders, path, entries = waiting.popleft()
        inner = []
        for entry in entries:
            if not _is_folder(entry):
                _take_file(entry, folders, result)
            elif entry.is_symlink():
                links.append(((*folders, entry.name), Path(entry.path)))
            else:
                inner.append(((*folders, entry.name), Path(entry.path)))
        waiting.extendleft(reversed(_opened(inner, seen, result)))
        if progress is not None:
            progress(len(seen), 0, path.name)
    result.pictures = {folders: result.pictures[folders] for folders in natsorted(result.pictures)}
    return result


def unreadable(pictures: Collection[Path], progress: Progress | None = None) -> Iterator[Remark]:
    """Yield those pictures whose first bytes already show that they can't be read."""
    for number, picture in enumerate(pictures):
        if progress is not None and number % _PROGRESS_FILES == 0:
            progress(number, len(pictures), picture.name)
        try:
            with picture.open("rb") as stream:
                need_readable(stream.read(_HEAD_BYTES), "")
        except (ImageError, OSError) as error:
            yield Remark(picture, reason_of(error))


def reason_of(error: Exception) -> str:
    """Return an error's reason alone, for a place that names the file already."""
    if isinstance(error, OSError):
        return error.strerror or str(error)
    return str(error).removeprefix(f"{shown_name('')}: ")


def _identity(path: Path) -> tuple[int, int]:
    status = path.stat()
    return status.st_dev, status.st_ino


def _listed(path: Path) -> list[os.DirEntry[str]]:
    with os.scandir(path) as entries:
        shown = (entry for entry in entries if not entry.name.startswith((".", "__MACOSX")))
        return natsorted(shown, key=lambda entry: entry.name)


def _opened(
    folders: Iterable[tuple[tuple[str, ...], Path]], seen: set[tuple[int, int]], result: Scan
) -> list[_Folder]:
    opened: list[_Folder] = []
    for names, path in folders:
        try:
            identity = _identity(path)
            if identity in seen:
                result.ignored.append(Remark(path, "leads to a folder that was looked into already"))
                continue
            seen.add(identity)
            opened.append((names, path, _listed(path)))
        except OSError as error:
            result.ignored.append(Remark(path, reason_of(error)))
    return opened


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:
        return False


def _take_file(entry: os.DirEntry[str], folders: tuple[str, ...], result: Scan) -> None:
    path = Path(entry.path)
    try:
        is_file, size = entry.is_file(), entry.stat().st_size
    except OSError as error:
        is_file, size = path.suffix.lower() in _PICTURES, 0
        if not is_file:
            result.ignored.append(Remark(path, reason_of(error)))
            return
    suffix = path.suffix.lower()
    if not is_file:
        result.ignored.append(Remark(path, "is no plain file"))
    elif suffix in _PICTURES:
        result.pictures.setdefault(folders, []).append(PictureFile(path, folders, size))
    elif suffix in _SIDE_FILES:
        result.side_files.append(path)
    else:
        result.ignored.append(Remark(path, "neither a picture nor a side file"))
