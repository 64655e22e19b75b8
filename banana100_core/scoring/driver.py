"""Drives the worker of one device: gives it pictures, hears scores, and outlives its deaths."""

from __future__ import annotations

import functools
import logging
import threading
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from banana100_core.errors import BananaError, WorkerDiedError
from banana100_core.processes import WorkerProcess
from banana100_core.project.images import image_location
from banana100_core.project.records import NewScore
from banana100_core.scoring.worker import Begun, Job, Opened, Scored, Setup, make_worker

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from banana100_core.project import Project
    from banana100_core.project.images import ImageLocation

DEATHS_OF_A_METRIC = 2  # then the picture has no score by it
DEATHS_AT_THE_START = 3  # then the device is given up

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Task:
    """A picture for a worker: method versions by metric, and the picture that is likely to come next."""

    sha256: str
    methods: dict[str, str]
    following: str | None


class Driver:
    """A thread with a worker process of its own.

    `next_task` waits for a task for a device and gives None at the end; `keep` takes every score; `given_up`
    hears that the device can't score at all, with the task and metrics that it leaves, and the reason.
    """

    def __init__(
        self,
        project: Project,
        setup: Setup,
        next_task: Callable[[str], Task | None],
        keep: Callable[[NewScore], None],
        given_up: Callable[[str, Task, Sequence[str], str], None],
    ) -> None:
        self.device = setup.device
        self._project = project
        self._next_task = next_task
        self._keep = keep
        self._given_up = given_up
        self._ending = False
        self._failed_starts = 0
        self._worker = WorkerProcess(
            functools.partial(make_worker, setup),
            f"scoring on {setup.device}",
            background=True,
            environment=_environment(setup.threads),
        )
        self._thread = threading.Thread(target=self._run, name=f"scoring: {setup.device}", daemon=True)

    @property
    def worker_pid(self) -> int | None:
        """Process id of the worker, None while there is none."""
        return self._worker.pid

    def start(self) -> None:
        """Begin with the first task."""
        self._thread.start()

    def end(self, timeout: float) -> None:
        """End the worker, in the middle of a picture if need be; `next_task` must give None from now on."""
        self._ending = True
        self._worker.stop(timeout)

    def join(self) -> None:
        """Wait for the thread, after `end`."""
        if self._thread.is_alive():
            self._thread.join()

    def _run(self) -> None:
        while (task := self._next_task(self.device)) is not None:
            left = list(task.methods)
            try:
                self._score(task, left)
            except _GiveUpError as error:
                if not self._ending:
                    log.error("Scoring on %s ended: %s", self.device, error)  # noqa: TRY400
                    self._given_up(self.device, task, left, str(error))
                break
        self._worker.stop()

    def _score(self, task: Task, left: list[str]) -> None:
        """Score by the metrics in `left`, and remove each that is done."""
        deaths: Counter[str] = Counter()
        while left and not self._ending:
            hearing = _Hearing(task, left, self.device, self._keep)
            try:
                location = image_location(self._project, task.sha256)
            except BananaError as error:
                hearing.fail(left, str(error))
                return
            try:
                job = Job(location, tuple(left), self._location(task.following))
                self._worker.request(job, on_event=hearing)
                self._failed_starts = 0
            except WorkerDiedError as error:
                if self._ending:
                    return
                log.warning("%s", error)
                if hearing.opened:
                    self._failed_starts = 0
                    deaths.update([hearing.begun] if hearing.begun else left)
                    killers = [metric for metric in left if deaths[metric] >= DEATHS_OF_A_METRIC]
                    hearing.fail(killers, f"The worker died {DEATHS_OF_A_METRIC} times. {error}")
                    continue
                self._failed_starts += 1
                if self._failed_starts >= DEATHS_AT_THE_START:
                    raise _GiveUpError(str(error)) from error
            except Exception as error:
                raise _GiveUpError(f"{type(error).__name__}: {error}") from error

    def _location(self, sha256: str | None) -> ImageLocation | None:
        try:
            return None if sha256 is None else image_location(self._project, sha256)
        except BananaError:
            return None


class _GiveUpError(Exception):
    """The device can't score anything."""


class _Hearing:
    """Listens to what a worker says of one job, and crosses off what is done."""

    def __init__(self, task: Task, left: list[str], device: str, keep: Callable[[NewScore], None]) -> None:
        self.opened = False
        self.begun: str | None = None
        self._task = task
        self._left = left
        self._device = device
        self._keep = keep

    def __call__(self, event: Opened | Begun | Scored) -> None:
        match event:
            case Opened():
                self.opened = True
            case Begun():
                self.begun = event.metric
            case Scored():
                self.begun = None
                self._finish(event)

    def fail(self, metrics: Sequence[str], reason: str) -> None:
        """Record that the picture has no score by some metrics."""
        for metric in tuple(metrics):
            self._finish(Scored(metric, None, reason, None))

    def _finish(self, scored: Scored) -> None:
        self._left.remove(scored.metric)
        self._keep(
            NewScore(
                self._task.sha256,
                scored.metric,
                self._task.methods[scored.metric],
                scored.score,
                scored.error,
                self._device,
                scored.seconds,
                scored.replies,
            )
        )


def _environment(threads: int) -> dict[str, str]:
    """Libraries read these when they are imported; OpenBLAS would only disturb threads of our own."""
    return {
        "OMP_NUM_THREADS": str(threads),
        "MKL_NUM_THREADS": str(threads),
        "OPENBLAS_NUM_THREADS": "1",
        "HF_HUB_OFFLINE": "1",
    }
