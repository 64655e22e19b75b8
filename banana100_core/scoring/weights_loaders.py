"""Loads weights by the loaders of Hugging Face and of torch, and verifies them before they are put in place.

Runs in a process of its own, which can be ended at any moment. What lies on the hub comes by the hub's own
loader, which knows mirrors, tokens and the hub's storage. The rest comes by torch's, which torchvision and
pyiqa go through and CLIP copies: it knows no mirror, only the proxies of the environment.
"""

from __future__ import annotations

import errno
import http
import io
import os
import re
import socket
import time
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from banana100_core.catalog.metrics import Place
from banana100_core.errors import WeightsError
from banana100_core.processes import emit
from banana100_core.scoring.weights import digest_of, huggingface_cache, place_of
from banana100_core.scoring.weights_folder import refer

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from banana100_core.catalog.metrics import WeightsFile

HUB = "https://huggingface.co/"
WAY_OUT = "bring the files in a folder DIR and type: banana100 weights add DIR"

_SECONDS = 30.0  # without a byte
_STEP = 1 << 18  # bytes
_SECONDS_BETWEEN_NEWS = 0.1
_WHOLE_DIGEST = re.compile(r"[0-9a-f]{64}")
_OF_THE_DISK = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS, errno.EACCES, errno.EPERM}


@dataclass(frozen=True, slots=True)
class Order:
    """A file to load, by way of an empty folder on the disk where it goes."""

    file: WeightsFile
    staging: Path


@dataclass(frozen=True, slots=True)
class Ready:
    """Emitted when the libraries are imported and the network is asked."""


@dataclass(frozen=True, slots=True)
class Arrived:
    """Emitted while a file arrives: the bytes that are here, and how many there will be, if known."""

    done: int
    total: int | None


class UnreachableError(WeightsError):
    """A place did not answer."""


def make_loader() -> Callable[[Order], None]:
    """Give the handler of the process."""
    socket.setdefaulttimeout(_SECONDS)  # torch's loader would wait for ever
    return _load


def _load(order: Order) -> None:
    """Load a file, or a whole repository, into its place; WeightsError where that can't be."""
    file = order.file
    address = address_of(file)
    try:
        if file.is_repository:
            _load_repository(file)
        elif file.source.startswith(HUB):
            _load_from_hub(file, address, order.staging)
        else:
            _load_by_torch(file, address, order.staging)
    except WeightsError:
        raise
    except Exception as error:
        raise _explained(file, address, error) from error


def address_of(file: WeightsFile) -> str:
    """Where a file or a repository comes from, by way of the mirror that HF_ENDPOINT names."""
    if not file.source.startswith(HUB):
        return f"{file.source}/{file.name}"
    repository = f"{(os.environ.get('HF_ENDPOINT') or HUB).rstrip('/')}/{_repository_of(file)}"
    return repository if file.is_repository else f"{repository}/resolve/main/{file.file or file.name}"


def _repository_of(file: WeightsFile) -> str:
    return file.source.removeprefix(HUB)


def _load_from_hub(file: WeightsFile, address: str, staging: Path) -> None:
    from huggingface_hub import constants, get_hf_file_metadata, hf_hub_download

    constants.DOWNLOAD_CHUNK_SIZE = _STEP  # of 10 MB, a slow line would tell nothing for minutes
    emit(Ready())
    # Asked by itself it fails at once where nothing answers; in its loader it is tried for minutes.
    told = get_hf_file_metadata(address)
    etag = told.etag or ""
    loaded = hf_hub_download(
        _repository_of(file), file.file or file.name, local_dir=staging, tqdm_class=_bar()
    )
    # The hub keeps large files under their SHA-256.
    expected = file.sha256 or (etag if _WHOLE_DIGEST.fullmatch(etag) else None)
    _put(file, staging / loaded, address, expected, told.commit_hash)


def _load_by_torch(file: WeightsFile, address: str, staging: Path) -> None:
    import torch.hub

    torch.hub.tqdm = _bar()
    emit(Ready())
    loaded = staging / file.name
    torch.hub.download_url_to_file(address, str(loaded))
    _put(file, loaded, address, file.sha256, None)


def _load_repository(file: WeightsFile) -> None:
    """Load a whole model; those of its files that are whole stay when it breaks off."""
    from huggingface_hub import HfApi, constants, snapshot_download

    constants.DOWNLOAD_CHUNK_SIZE = _STEP
    emit(Ready())
    HfApi().model_info(file.name, timeout=_SECONDS)  # as above
    snapshot_download(
        file.name,
        cache_dir=huggingface_cache(),
        allow_patterns=list(file.only) or None,
        tqdm_class=_bar(),
        max_workers=2,
    )


def _put(file: WeightsFile, loaded: Path, address: str, expected: str | None, revision: str | None) -> None:
    digest = digest_of(loaded)
    if expected is not None and not digest.startswith(expected):
        raise WeightsError(
            f"What came from {address} has the SHA-256 {digest} and should have {expected}. It was removed. "
            f"If HF_ENDPOINT names a mirror, try another, or {WAY_OUT}"
        )
    if file.place is Place.HUGGINGFACE:
        refer(file, revision or digest[:40])
    target = place_of(file)
    target.parent.mkdir(parents=True, exist_ok=True)
    loaded.replace(target)


@cache
def _bar() -> Any:  # noqa: ANN401 - a class of tqdm's, which is not typed
    """Give a progress bar that shows nothing and tells what has arrived."""
    from tqdm.auto import tqdm

    class Bar(tqdm):  # type: ignore[misc]
        def __init__(self, *arguments: Any, name: str = "", **options: Any) -> None:  # noqa: ANN401, ARG002
            self._told = -1.0
            super().__init__(*arguments, **options | {"file": io.StringIO(), "disable": False})

        def update(self, n: float | None = 1) -> bool | None:
            shown: bool | None = super().update(n)
            done, total, now = int(self.n), int(self.total) if self.total else None, time.monotonic()
            if self.unit == "B" and (done == total or now - self._told > _SECONDS_BETWEEN_NEWS):
                self._told = now
                emit(Arrived(done, total))
            return shown

    return Bar


def _explained(file: WeightsFile, address: str, error: Exception) -> WeightsError:
    """Say in a line what happened, and the way out."""
    if isinstance(error, OSError) and error.errno in _OF_THE_DISK:
        home = "HF_HOME" if file.place is Place.HUGGINGFACE else "TORCH_HOME"
        return WeightsError(
            f"{file.name} can't be written: {error.strerror}. Make room, or set {home} to a folder elsewhere."
        )
    answer = getattr(getattr(error, "response", None), "status_code", None) or getattr(error, "code", None)
    if isinstance(answer, int):
        refused = answer in {http.HTTPStatus.UNAUTHORIZED, http.HTTPStatus.FORBIDDEN}
        log_in = "Set HF_TOKEN to a token that may read it, or " if refused else "Try again later, or "
        return WeightsError(f"{address} can't be fetched: it answers {_phrase(answer)}. {log_in}{WAY_OUT}")
    reason = str(getattr(error, "reason", "") or error).strip().partition("\n")[0] or type(error).__name__
    return unreachable(address, reason.rstrip("."))


def unreachable(address: str, reason: str) -> UnreachableError:
    """Say that an address can't be reached, and the way out."""
    return UnreachableError(
        f"{address} can't be fetched: {reason}. Where it can't be reached, set a proxy or HF_ENDPOINT, or "
        f"{WAY_OUT}"
    )


def _phrase(status: int) -> str:
    try:
        return f"{status} {http.HTTPStatus(status).phrase}"
    except ValueError:
        return str(status)
