"""Weights files of metrics: where they lie, and whether they are the right ones.

They lie where pyiqa and the libraries below it look for them, so that both find the same files.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

from platformdirs import user_cache_path

from banana100_core.catalog.metrics import Place, WeightsFile, metrics
from banana100_core.errors import WeightsError
from banana100_core.scoring.native.score import NATIVE_METRICS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from banana100_core.progress import Progress

_HASH_BLOCK = 1 << 22


class WeightsState(StrEnum):
    """What is known of a weights file."""

    PRESENT = "present"
    UNVERIFIED = "present, digest not known"
    MISSING = "missing"
    WRONG = "wrong file"


@dataclass(frozen=True, slots=True)
class FoundWeights:
    """A weights file and what lies in its place.

    `path` is where it is or should be; `sha256` names the content found, or a repository's revision.
    """

    file: WeightsFile
    path: Path
    state: WeightsState
    sha256: str | None = None
    byte_size: int | None = None

    @property
    def usable(self) -> bool:
        """Whether a metric may load it."""
        return self.state in {WeightsState.PRESENT, WeightsState.UNVERIFIED}


def weights_files() -> list[WeightsFile]:
    """Every weights file that some metric needs, once; the native metrics' parameters ship with us."""
    needing = [metric for key, metric in metrics().items() if key not in NATIVE_METRICS]
    return list({file.name: file for metric in needing for file in metric.weights}.values())


def list_weights() -> list[FoundWeights]:
    """Look for every weights file; digests of files that did not change since are remembered."""
    return [find(file) for file in weights_files()]


def verify_weights(progress: Progress | None = None) -> list[FoundWeights]:
    """Look for every weights file and read each one whole, whatever is remembered of it."""
    files = weights_files()
    found = []
    for done, file in enumerate(files):
        if progress is not None:
            progress(done, len(files), file.name)
        found.append(find(file, read=True))
    return found


def find(file: WeightsFile, *, read: bool = False) -> FoundWeights:
    """Look for one weights file; `read` computes its digest even if it is remembered."""
    if file.is_repository:
        return _find_repository(file)
    path = place_of(file)
    try:
        size = path.stat().st_size
        digest = digest_of(path) if read else _remembered_digest(path)
    except OSError:
        return FoundWeights(file, path, WeightsState.MISSING)
    if file.sha256 is None:
        state = WeightsState.UNVERIFIED
    else:
        state = WeightsState.PRESENT if digest.startswith(file.sha256) else WeightsState.WRONG
    return FoundWeights(file, path, state, digest, size)


def need(file: WeightsFile) -> FoundWeights:
    """Give a weights file that may be loaded, its content just read; WeightsError where there is none."""
    found = find(file, read=True)
    if not found.usable:
        raise WeightsError(f"{explain(found)} {way_out(found)}")
    return found


def explain(found: FoundWeights) -> str:
    """Say what is wrong with a weights file, in one sentence; empty where nothing is."""
    if found.state is WeightsState.MISSING:
        return f"The weights {found.file.name} are missing."
    if found.state is WeightsState.WRONG:
        return f"{found.path} is not the file that it should be: its SHA-256 is {found.sha256}."
    return ""


def way_out(found: FoundWeights) -> str:
    """Say how a weights file gets into its place, in one line; empty where it is there."""
    if found.usable:
        return ""
    if found.file.is_repository:
        named = f", or set {found.file.variable} to a folder that holds it" if found.file.variable else ""
        return (
            f"Type: banana100 weights fetch {_first_user(found.file)} (or put the repository's folder in a "
            f"folder DIR and type: banana100 weights add DIR{named})"
        )
    return (
        f"Type: banana100 weights fetch {_first_user(found.file)} (or put the file from {found.file.source} "
        f"in a folder DIR and type: banana100 weights add DIR; it goes to {found.path})"
    )


def _first_user(file: WeightsFile) -> str:
    """Name a metric that needs a file."""
    return next((key for key, each in metrics().items() if file.name in {f.name for f in each.weights}), "")


def place_of(file: WeightsFile) -> Path:
    """Where a weights file is, or where it should be."""
    if file.place is not Place.HUGGINGFACE:
        return torch_home() / "hub" / file.place.value / file.name
    name = file.file or "config.json"
    if file.variable is not None and (named := os.environ.get(file.variable)):
        return Path(named).expanduser() / name
    repository = repository_folder(file)
    with contextlib.suppress(OSError):
        revision = (repository / "refs" / "main").read_text("utf-8").strip()
        return repository / "snapshots" / revision / name
    return repository / "snapshots" / (file.sha256 or "local")[:40] / name


def torch_home() -> Path:
    """The folder of torch's caches, as torch itself finds it."""
    cache = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(os.environ.get("TORCH_HOME") or f"{cache}/torch").expanduser()


def huggingface_cache() -> Path:
    """The folder of Hugging Face's repositories, as its library finds it."""
    cache = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    home = os.environ.get("HF_HOME") or f"{cache}/huggingface"
    named = os.environ.get("HF_HUB_CACHE") or os.environ.get("HUGGINGFACE_HUB_CACHE")
    return Path(named or f"{home}/hub").expanduser()


def repository_folder(file: WeightsFile) -> Path:
    """The folder of a repository in Hugging Face's cache."""
    return huggingface_cache() / f"models--{file.name.replace('/', '--')}"


def _find_repository(file: WeightsFile) -> FoundWeights:
    """Look for a whole repository: its revision stands for the digest."""
    path = place_of(file)
    weights = [each for kind in ("*.safetensors", "*.bin", "*.pt") for each in path.parent.rglob(kind)]
    # The model may lie in a folder of its own.
    if not any(path.parent.rglob(path.name)) or not weights or _lacks_parts(path.parent):
        return FoundWeights(file, path, WeightsState.MISSING)
    size = sum(each.stat().st_size for each in weights)
    revision = path.parent.name if path.parent.parent.name == "snapshots" else None
    return FoundWeights(file, path, WeightsState.UNVERIFIED, revision, size)


def _lacks_parts(folder: Path) -> bool:
    """Whether a part of the weights that an index names is not there, as in the middle of a download."""
    for index in folder.rglob("*.index.json"):
        with contextlib.suppress(OSError, ValueError, AttributeError):
            parts = set(json.loads(index.read_text("utf-8")).get("weight_map", {}).values())
            if not all((index.parent / part).is_file() for part in parts):
                return True
    return False


def digest_of(path: Path) -> str:
    """SHA-256 of a file, in hexadecimal."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(_HASH_BLOCK):
            digest.update(block)
    return digest.hexdigest()


def _remembered_digest(path: Path) -> str:
    """Give a file's digest, computed anew when its size or its time of change are others."""
    state = path.stat()
    key = f"{path.resolve()}:{state.st_size}:{state.st_mtime_ns}"
    memory = user_cache_path("banana100") / "weights.json"
    known = dict(_recall(memory))
    if key not in known:
        known[key] = digest_of(path)
        # Without the memory all works too, only slower.
        with contextlib.suppress(OSError):
            memory.parent.mkdir(parents=True, exist_ok=True)
            partial = memory.with_suffix(f".{os.getpid()}")
            partial.write_text(json.dumps(known), "utf-8")
            partial.replace(memory)
    return known[key]


def _recall(memory: Path) -> Iterator[tuple[str, str]]:
    with contextlib.suppress(OSError, ValueError, AttributeError):
        for key, digest in json.loads(memory.read_text("utf-8")).items():
            yield str(key), str(digest)
