"""Fetching weights from where pyiqa and the libraries below it take them, verified before use."""

from __future__ import annotations

import contextlib
import http.client
import io
import os
import re
import urllib.error
import urllib.request
from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from typing import IO, TYPE_CHECKING, Any

from banana100_core.catalog.metrics import Metric, Place, metric, metrics
from banana100_core.errors import BananaError, WeightsError
from banana100_core.installation import how_to_add
from banana100_core.scoring.methods import ADAPTER, NATIVE, available_backends
from banana100_core.scoring.terms import need_terms
from banana100_core.scoring.weights import digest_of, find, huggingface_cache, place_of, repository_folder
from banana100_core.scoring.weights_folder import refer

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from banana100_core.catalog.metrics import WeightsFile
    from banana100_core.scoring.weights import FoundWeights

Arrival = Callable[[str, int, int | None], None]
"""Called with the file that arrives, the bytes that are there, and how many there will be, if known."""

_HUGGINGFACE = "https://huggingface.co/"
_SECONDS = 30.0  # without a byte
_BLOCK = 1 << 18
_WHOLE_DIGEST = re.compile(r"[0-9a-f]{64}")
_ON = {"1", "true", "yes", "on"}


@dataclass(frozen=True, slots=True)
class FetchReport:
    """What came of fetching; `too_large` are whole models, which come only when their metric is named."""

    fetched: tuple[FoundWeights, ...]
    failed: tuple[tuple[WeightsFile, str], ...]
    too_large: tuple[WeightsFile, ...]


def fetch_weights(
    keys: Sequence[str] = (), arrival: Arrival | None = None, catalog: Mapping[str, Metric] | None = None
) -> FetchReport:
    """Fetch the weights that some metrics lack, or that all lack but those of many gigabytes.

    Mirrors are honoured as the libraries do: HF_ENDPOINT, HF_HUB_OFFLINE, the proxies of the environment; the
    files go below TORCH_HOME and HF_HOME. What arrived of a file is kept for the next time if the network
    fails, and removed if it is not what it should be. Raises TermsNotAcceptedError, WeightsError offline.
    """
    if find_spec("huggingface_hub") is None:
        raise WeightsError(f"Without the learned metrics there is nothing to fetch. {how_to_add('metrics')}.")
    if os.environ.get("HF_HUB_OFFLINE", "").lower() in _ON:
        raise WeightsError("HF_HUB_OFFLINE is set, so nothing is fetched. Unset it to fetch weights.")
    known = catalog or metrics()
    for key in keys:
        metric(key)
    chosen = [each for key, each in known.items() if key in keys or not keys]
    learned = [each for each in chosen if NATIVE not in available_backends(each.key)]
    if any(ADAPTER not in available_backends(each.key) for each in learned):
        need_terms()
    fetched, failed, too_large = [], [], []
    for file in {file.name: file for each in learned for file in each.weights}.values():
        if find(file).usable:
            continue
        if file.is_repository and not keys:
            too_large.append(file)
            continue
        try:
            fetched.append(_fetch(file, arrival or _unheard))
        except BananaError as error:
            failed.append((file, str(error)))
    return FetchReport(tuple(fetched), tuple(failed), tuple(too_large))


def _unheard(_name: str, _done: int, _total: int | None) -> None:
    """Nobody asked."""


def _fetch(file: WeightsFile, arrival: Arrival) -> FoundWeights:
    if file.is_repository:
        _fetch_repository(file, arrival)
        return find(file)
    folder = repository_folder(file) if file.place is Place.HUGGINGFACE else place_of(file).parent
    part = folder / f"{file.file or file.name}.part"
    address = _address_of(file)
    expected = file.sha256 or _digest_there(address)
    try:
        part.parent.mkdir(parents=True, exist_ok=True)
        if expected is None:  # nothing could tell whether the rest belongs to what is here
            part.unlink(missing_ok=True)
        with part.open("ab") as out:
            _download(address, out, lambda done, total: arrival(file.name, done, total))
        digest = digest_of(part)
        if expected is not None and not digest.startswith(expected):
            part.unlink()
            raise WeightsError(
                f"What came from {address} has the SHA-256 {digest} and should have {expected}. It was "
                "removed. If HF_ENDPOINT names a mirror, try another."
            )
        if file.place is Place.HUGGINGFACE:
            refer(file, digest[:40])
        target = place_of(file)
        target.parent.mkdir(parents=True, exist_ok=True)
        part.replace(target)
    except (urllib.error.URLError, http.client.HTTPException, TimeoutError, ConnectionError) as error:
        raise WeightsError(_unreachable(address, error)) from error
    except OSError as error:
        raise WeightsError(
            f"{part} can't be written: {error.strerror or error}. Make room, or set TORCH_HOME or HF_HOME."
        ) from error
    return find(file)


def _download(address: str, out: IO[bytes], arrived: Callable[[int, int | None], None]) -> None:
    """Append what is missing of a file; a server that can't give a part gives all of it anew."""
    have = out.tell()
    request = urllib.request.Request(address, headers={"Accept-Encoding": "identity"})  # noqa: S310 - http alone
    if have:
        request.add_header("Range", f"bytes={have}-")
    try:
        answer = urllib.request.urlopen(request, timeout=_SECONDS)  # noqa: S310
    except urllib.error.HTTPError as error:
        if error.code != http.HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE or not have:
            raise
        error.close()
        return  # all of it is here; its digest says whether it is right
    with answer:
        if answer.status != http.HTTPStatus.PARTIAL_CONTENT:
            out.truncate(0)
            have = 0
        length = answer.headers.get("Content-Length")
        total = have + int(length) if length else None
        arrived(have, total)
        while block := answer.read(_BLOCK):
            out.write(block)
            have += len(block)
            arrived(have, total)
    if total is not None and have < total:
        raise ConnectionError(f"the connection ended after {have:,} of {total:,} bytes")


def _fetch_repository(file: WeightsFile, arrival: Arrival) -> None:
    """Fetch a whole model by Hugging Face's own loader; the files of it that are whole stay when it fails."""
    from huggingface_hub import snapshot_download
    from tqdm.auto import tqdm

    class Bar(tqdm):  # type: ignore[misc]
        def __init__(self, *arguments: Any, name: str = "", **options: Any) -> None:  # noqa: ANN401, ARG002
            super().__init__(*arguments, **options | {"file": io.StringIO(), "disable": False})

        def update(self, n: float | None = 1) -> bool | None:
            told: bool | None = super().update(n)
            if self.unit == "B":
                arrival(file.name, int(self.n), int(self.total) if self.total else None)
            return told

    try:
        snapshot_download(
            file.name,
            cache_dir=huggingface_cache(),
            endpoint=os.environ.get("HF_ENDPOINT") or None,
            allow_patterns=list(file.only) or None,
            tqdm_class=Bar,
            max_workers=2,
        )
    except Exception as error:
        raise WeightsError(_unreachable(file.source, error)) from error


def _address_of(file: WeightsFile) -> str:
    if not file.source.startswith(_HUGGINGFACE):
        return f"{file.source}/{file.name}"
    from huggingface_hub import hf_hub_url

    repository = file.source.removeprefix(_HUGGINGFACE)
    endpoint = os.environ.get("HF_ENDPOINT") or None
    return hf_hub_url(repository, file.file or file.name, endpoint=endpoint)


def _digest_there(address: str) -> str | None:
    """Ask Hugging Face for the SHA-256 under which it keeps a large file; None where it names none."""
    from huggingface_hub import get_hf_file_metadata

    with contextlib.suppress(Exception):
        etag = get_hf_file_metadata(address).etag or ""
        return etag if _WHOLE_DIGEST.fullmatch(etag) else None
    return None


def _unreachable(address: str, error: Exception) -> str:
    reason = str(getattr(error, "reason", "") or error).strip().partition("\n")[0] or type(error).__name__
    return (
        f"{address} can't be fetched: {reason.rstrip('.')}. Try again: what has arrived is kept. Where this "
        "can't be reached, set a proxy or HF_ENDPOINT, or bring the files in a folder DIR and type: "
        "banana100 weights add DIR"
    )
