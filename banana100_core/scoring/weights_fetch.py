"""Fetching the weights that metrics lack, in a process of its own, file by file."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from banana100_core.catalog.metrics import Metric, Place, metric, metrics
from banana100_core.errors import BananaError, WeightsError, WorkerDiedError
from banana100_core.installation import how_to_add
from banana100_core.processes import SilentWorkerError, WorkerProcess
from banana100_core.scoring.methods import ADAPTER, NATIVE, available_backends
from banana100_core.scoring.terms import need_terms
from banana100_core.scoring.weights import find, place_of, repository_folder
from banana100_core.scoring.weights_loaders import (
    Arrived,
    Order,
    Ready,
    UnreachableError,
    address_of,
    make_loader,
    unreachable,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from banana100_core.catalog.metrics import WeightsFile
    from banana100_core.scoring.weights import FoundWeights

Arrival = Callable[[str, int, int | None], None]
"""Called with the file that arrives, the bytes that are there, and how many there will be, if known."""

_PATIENCE = 90.0  # seconds without a sign of life; the loaders themselves give up sooner, where they can
_FORGOTTEN = 86_400.0  # seconds after which a folder that a killed program left is taken away
_STAGING = ".arriving-"
_ON = {"1", "true", "yes", "on"}


@dataclass(frozen=True, slots=True)
class FetchReport:
    """What came of fetching; `too_large` are whole models, which come only when their metric is named."""

    fetched: tuple[FoundWeights, ...]
    failed: tuple[tuple[WeightsFile, str], ...]
    too_large: tuple[WeightsFile, ...]
    cancelled: bool = False


def fetch_weights(
    keys: Sequence[str] = (), arrival: Arrival | None = None, catalog: Mapping[str, Metric] | None = None
) -> FetchReport:
    """Fetch the weights that some metrics lack, or that all lack but those of many gigabytes."""
    return WeightsFetch(keys, arrival, catalog).run()


class WeightsFetch:
    """Fetches what some metrics lack, or what all lack but models of many gigabytes; for one run.

    HF_ENDPOINT, HF_TOKEN, HF_HUB_OFFLINE and the proxies of the environment are honoured; the files go below
    TORCH_HOME and HF_HOME. A file is put in place only when it is what it should be.
    """

    def __init__(
        self,
        keys: Sequence[str] = (),
        arrival: Arrival | None = None,
        catalog: Mapping[str, Metric] | None = None,
        *,
        patience: float = _PATIENCE,
    ) -> None:
        """`arrival` is called on the thread that runs. `patience`: seconds that a file may stand still."""
        self._keys = keys
        self._arrival = arrival or _unheard
        self._catalog = catalog or metrics()
        self._patience = patience
        self._worker = WorkerProcess(make_loader, "fetching weights")
        self._cancelled = False
        self._silent: set[str] = set()  # hosts that gave no answer

    def run(self) -> FetchReport:
        """Fetch file by file; one that fails doesn't keep the others.

        Raises TermsNotAcceptedError, WeightsError offline, MetricError for what is no metric.
        """
        missing, too_large = self._wanted()
        fetched, failed = [], []
        try:
            for file in missing:
                if self._cancelled:
                    break
                try:
                    self._fetch(file)
                except BananaError as error:
                    if not self._cancelled:
                        failed.append((file, str(error)))
                else:
                    fetched.append(find(file))
        finally:
            self._worker.stop()
        return FetchReport(tuple(fetched), tuple(failed), too_large, self._cancelled)

    def cancel(self) -> None:
        """End at once, from any thread; files that are whole are kept."""
        self._cancelled = True
        self._worker.stop(timeout=1.0)

    def _wanted(self) -> tuple[list[WeightsFile], tuple[WeightsFile, ...]]:
        if find_spec("huggingface_hub") is None:
            raise WeightsError(
                f"Without the learned metrics there is nothing to fetch. {how_to_add('metrics')}."
            )
        if os.environ.get("HF_HUB_OFFLINE", "").lower() in _ON:
            raise WeightsError("HF_HUB_OFFLINE is set, so nothing is fetched. Unset it to fetch weights.")
        for key in self._keys:
            metric(key)
        chosen = [each for key, each in self._catalog.items() if key in self._keys or not self._keys]
        learned = [each for each in chosen if NATIVE not in available_backends(each.key)]
        if any(ADAPTER not in available_backends(each.key) for each in learned):
            need_terms()
        files = {file.name: file for each in learned for file in each.weights}.values()
        missing = [file for file in files if not find(file).usable]
        too_large = [file for file in missing if file.is_repository and not self._keys]
        return [file for file in missing if file not in too_large], tuple(too_large)

    def _fetch(self, file: WeightsFile) -> None:
        address = address_of(file)
        host = urlsplit(address).netloc
        if host in self._silent:
            raise UnreachableError(f"{file.name} was not tried, since {host} gave no answer.")
        hearing = _Hearing(file, self._arrival)
        try:
            with _staging(file) as staging:
                try:
                    self._worker.request(Order(file, staging), on_event=hearing, patience=self._patience)
                except KeyboardInterrupt:
                    self.cancel()  # before the folder is taken away
                    raise
        except (UnreachableError, SilentWorkerError) as error:
            if not hearing.arrived:
                self._silent.add(host)
            if isinstance(error, UnreachableError):
                raise
            raise unreachable(address, f"nothing came for {self._patience:.0f} seconds") from error
        except WorkerDiedError as error:
            raise WeightsError(f"{address} can't be fetched: {error}") from error


class _Hearing:
    """Passes on what arrives of a file."""

    def __init__(self, file: WeightsFile, arrival: Arrival) -> None:
        self.arrived = False
        self._file = file
        self._arrival = arrival

    def __call__(self, event: Ready | Arrived) -> None:
        if isinstance(event, Arrived):
            self.arrived = True
            self._arrival(self._file.name, event.done, event.total)


@contextlib.contextmanager
def _staging(file: WeightsFile) -> Iterator[Path]:
    """Give an empty folder on the disk where a file goes, and leave nothing of what broke off."""
    home = repository_folder(file) if file.place is Place.HUGGINGFACE else place_of(file).parent
    began = time.time()
    try:
        home.mkdir(parents=True, exist_ok=True)
        for left in home.glob(f"{_STAGING}*"):
            if left.stat().st_mtime < began - _FORGOTTEN:
                shutil.rmtree(left, ignore_errors=True)
        staging = Path(tempfile.mkdtemp(prefix=_STAGING, dir=home))
    except OSError as error:
        raise WeightsError(
            f"{home} can't be written: {error.strerror}. Make room, or set TORCH_HOME or HF_HOME."
        ) from error
    try:
        yield staging
    finally:
        shutil.rmtree(staging, ignore_errors=True)
        for part in (home / "blobs").glob("*.incomplete") if file.is_repository else ():
            with contextlib.suppress(OSError):
                if part.stat().st_mtime >= began:
                    part.unlink()


def _unheard(_name: str, _done: int, _total: int | None) -> None:
    """Nobody asked."""
