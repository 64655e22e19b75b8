"""Taking weights from a folder, as for a machine without a network, to where metrics look for them."""

from __future__ import annotations

import contextlib
import shutil
from dataclasses import dataclass
from typing import TYPE_CHECKING

from banana100_core.catalog.metrics import Place
from banana100_core.errors import WeightsError
from banana100_core.scoring.weights import (
    digest_of,
    find,
    list_weights,
    place_of,
    repository_folder,
    weights_files,
)

if TYPE_CHECKING:
    from pathlib import Path

    from banana100_core.catalog.metrics import WeightsFile
    from banana100_core.progress import Progress
    from banana100_core.scoring.weights import FoundWeights

_OF_THE_DOWNLOADER = ".cache"  # what `hf download --local-dir` leaves beside the files


@dataclass(frozen=True, slots=True)
class AddReport:
    """What came of a folder of weights files."""

    added: tuple[FoundWeights, ...]
    wrong: tuple[tuple[Path, str], ...]  # the file offered, and why it was not taken
    unknown: tuple[Path, ...]
    missing: tuple[FoundWeights, ...]  # what no place has now


def add_weights(folder: Path, progress: Progress | None = None) -> AddReport:
    """Copy the weights files that a folder holds to where metrics look for them.

    A file is known by its name; one of a Hugging Face repository by the repository's name in its path, or by
    its digest. A whole repository is a folder of its name, or as in Hugging Face's cache. Files whose digest
    is another than it should be are not taken.
    """
    if not folder.is_dir():
        raise WeightsError(f"{folder} is not a folder. Name the folder that holds the weights files.")
    repositories = _repositories(folder)
    offered = [
        path
        for path in sorted(folder.rglob("*"))
        if path.is_file()
        and _OF_THE_DOWNLOADER not in path.relative_to(folder).parts
        and not any(path.is_relative_to(root) for root in repositories)
    ]
    total = len(repositories) + len(offered)
    added, wrong, unknown = [], [], []
    for done, (root, file) in enumerate(repositories.items()):
        if progress is not None:
            progress(done, total, file.name)
        _put_repository(root, file)
        added.append(find(file))
    for done, path in enumerate(offered, len(repositories)):
        if progress is not None:
            progress(done, total, path.name)
        known = _recognise(path)
        if known is None:
            unknown.append(path)
            continue
        try:
            digest = digest_of(path)
        except OSError as error:
            wrong.append((path, f"it can't be read: {error.strerror}"))
            continue
        if known.sha256 is not None and not digest.startswith(known.sha256):
            expected = ("be " if len(known.sha256) == len(digest) else "begin with ") + known.sha256
            wrong.append((path, f"its SHA-256 is {digest}, and should {expected}"))
            continue
        _put_file(path, known, digest)
        added.append(find(known))
    missing = tuple(found for found in list_weights() if not found.usable)
    return AddReport(tuple(added), tuple(wrong), tuple(unknown), missing)


def _repositories(folder: Path) -> dict[Path, WeightsFile]:
    """Find folders that hold a whole repository that some metric needs."""
    wanted = [file for file in weights_files() if file.is_repository]
    return {
        path: file
        for path in [folder, *sorted(folder.rglob("*"))]
        for file in wanted
        if path.is_dir() and path.resolve().name in _names(file.name) and any(path.rglob("config.json"))
    }


def _recognise(path: Path) -> WeightsFile | None:
    files = [file for file in weights_files() if not file.is_repository]
    for file in files:
        if file.file is None and file.name == path.name:
            return file
    candidates = [file for file in files if file.file == path.name]
    named = [file for file in candidates if _names(file.name) & set(path.parts)]
    if named:
        return named[0]
    digest = digest_of(path) if candidates else ""
    return next((file for file in candidates if file.sha256 is not None and file.sha256 == digest), None)


def _names(repository: str) -> set[str]:
    """Names of a folder that speak of a repository."""
    return {
        repository.rpartition("/")[2],
        repository.replace("/", "--"),
        f"models--{repository.replace('/', '--')}",
    }


def _put_file(source: Path, file: WeightsFile, digest: str) -> None:
    if file.place is Place.HUGGINGFACE:
        refer(file, digest[:40])
    _copy(source, place_of(file))


def _put_repository(root: Path, file: WeightsFile) -> None:
    revision, source = "local", root
    if (root / "snapshots").is_dir():
        reference = root / "refs" / "main"
        newest = max((root / "snapshots").iterdir(), key=lambda path: path.stat().st_mtime, default=root)
        revision = reference.read_text("utf-8").strip() if reference.is_file() else newest.name
        source = root / "snapshots" / revision
    refer(file, revision)
    target = place_of(file).parent
    for path in sorted(source.rglob("*")):
        inside = path.relative_to(source)
        if path.is_file() and _OF_THE_DOWNLOADER not in inside.parts:
            _copy(path, target / inside)


def refer(file: WeightsFile, revision: str) -> None:
    """Name a repository's newest revision, without which Hugging Face's library finds no file of it."""
    reference = repository_folder(file) / "refs" / "main"
    if not reference.exists():
        reference.parent.mkdir(parents=True, exist_ok=True)
        reference.write_text(revision, "utf-8")


def _copy(source: Path, target: Path) -> None:
    partial = target.with_name(f"{target.name}.partial")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        if target.exists() and target.samefile(source):
            return
        shutil.copyfile(source, partial)
        partial.replace(target)
    except OSError as error:
        with contextlib.suppress(OSError):
            partial.unlink()
        raise WeightsError(
            f"{target} can't be written: {error.strerror}. Make room, or set TORCH_HOME or HF_HOME."
        ) from error
