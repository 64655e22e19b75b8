"""Model folders: where one lies, whether it is whole, and a fingerprint of what decides a score.

A folder is one that the user names, or a repository's snapshot in the Hugging Face cache. Nothing here
downloads anything, imports torch or unpickles.
"""

from __future__ import annotations

import hashlib
import json
import struct
from functools import cache
from typing import TYPE_CHECKING, Any

from banana100_core.catalog.metrics import metric
from banana100_core.scoring.weights import place_of

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

CONFIG = "config.json"
_INDEX = "model.safetensors.index.json"
_WHOLE_MODELS = ("model.safetensors", "pytorch_model.bin")

# What transformers reads of a folder; the rest, as a README, decides no score.
_KINDS = {".json", ".jinja", ".txt", ".model", ".safetensors", ".bin", ".npz"}

_SMALL = 1 << 24  # bytes; up to here a file is read whole
_SAMPLES = 64
_SAMPLE_BYTES = 1 << 16


def model_folder(key: str) -> Path:
    """Give the folder of a metric's weights, whether or not it is there."""
    return place_of(metric(key).weights[0]).parent


def missing_files(folder: Path) -> list[str]:
    """Name the files that a folder as transformers saves it lacks; the parts of the weights among them."""
    wanted = [CONFIG]
    if (folder / _INDEX).is_file():
        wanted += sorted(set(_read_json(folder / _INDEX).get("weight_map", {}).values()))
    elif not any((folder / name).is_file() for name in _WHOLE_MODELS):
        wanted.append(_WHOLE_MODELS[0])
    return [name for name in wanted if not (folder / name).is_file()]


def broken_files(folder: Path) -> list[str]:
    """Name the safetensors files whose size isn't what their headers say: downloads that were cut off."""
    return [path.name for path in sorted(folder.glob("*.safetensors")) if not _is_whole(path)]


def model_type(folder: Path) -> str:
    """Give the kind of model that a folder's configuration names, empty if none."""
    return str(_read_json(folder / CONFIG).get("model_type", ""))


def weights_bytes(folder: Path) -> int:
    """Sum up the sizes of a folder's weights."""
    return sum(path.stat().st_size for path in _deciding(folder) if path.suffix in {".safetensors", ".bin"})


def fingerprint(paths: Iterable[Path]) -> str:
    """Give the first digits of a SHA-256 over files, and over what decides a score in folders.

    Of a file above 16 MiB it takes the size and 64 blocks of 64 KiB spread evenly, headers included, so that
    a model of 16 GB takes a moment. That tells models apart, also those of one shape, as training moves
    every block; it doesn't notice a single byte that rots.
    """
    files = [file for path in paths for file in (_deciding(path) if path.is_dir() else [path])]
    digest = hashlib.sha256()
    for file in files:
        state = file.stat()
        digest.update(f"{file.name}:{_digest(file, state.st_size, state.st_mtime_ns)}\n".encode())
    return digest.hexdigest()[:8]


def _deciding(folder: Path) -> list[Path]:
    return sorted(path for path in folder.iterdir() if path.suffix in _KINDS and path.is_file())


@cache
def _digest(path: Path, size: int, _changed: int) -> str:
    digest = hashlib.sha256(str(size).encode())
    with path.open("rb") as file:
        if size <= _SMALL:
            digest.update(file.read())
        else:
            for sample in range(_SAMPLES):
                file.seek((size - _SAMPLE_BYTES) * sample // (_SAMPLES - 1))
                digest.update(file.read(_SAMPLE_BYTES))
    return digest.hexdigest()


def _is_whole(path: Path) -> bool:
    """Compare a file's size with the end of its last tensor, by the format of safetensors."""
    try:
        with path.open("rb") as file:
            (header_size,) = struct.unpack("<Q", file.read(8))
            if header_size > path.stat().st_size:
                return False
            header = json.loads(file.read(header_size))
        ends = [entry["data_offsets"][1] for name, entry in header.items() if name != "__metadata__"]
        return bool(path.stat().st_size == 8 + header_size + max(ends, default=0))
    except (OSError, ValueError, struct.error, KeyError, IndexError, TypeError, AttributeError):
        return False


def _read_json(path: Path) -> dict[str, Any]:
    try:
        content = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    return content if isinstance(content, dict) else {}
