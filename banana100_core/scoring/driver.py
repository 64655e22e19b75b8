"""Drives a worker: gives it pictures, hears scores, and outlives its deaths."""

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
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from banana100_core.project import Project
    from banana100_core.project.images import ImageLocation

DEATHS_OF_A_METRIC = 2  # then the picture has no score by it
DEATHS_AT_THE_START = 3  # then the device is given up

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Task:
    """Pictures, method versions by metric, the pictures that likely follow, and threads to score with."""

    sha256s: tuple[str, ...]
    methods: dict[str, str]
    following: tuple[str, ...]
    threads: int


class Driver:
    """A thread with a worker process of its own.

    `next_task` waits for a task and gives None at the end; `keep` takes every score; `given_up` hears that
    the worker can't score at all, with the metrics that it leaves, by picture, and the reason.
    """

    def __init__(
        self,
        project: Project,
        setup: Setup,
        next_task: Callable[[], Task | None],
        keep: Callable[[NewScore], None],
        given_up: Callable[[Mapping[str, Sequence[str]], str], None],
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
        while (task := self._next_task()) is not None:
            left = {sha256: list(task.methods) for sha256 in task.sha256s}
            try:
                self._score(task, left)
            except _GiveUpError as error:
                if not self._ending:
                    log.error("Scoring on %s ended: %s", self.device, error)  # noqa: TRY400
                    self._given_up(left, str(error))
                break
        self._worker.stop()

    def _score(self, task: Task, left: dict[str, list[str]]) -> None:
        """Score by the metrics in `left`, by picture, and remove each that is done.

        After a death in the middle of several pictures each is tried alone, so that one takes the blame.
        """
        deaths: Counter[tuple[str, str]] = Counter()
        together = True
        while left and not self._ending:
            hearing = _Hearing(task, left, self.device, self._keep)
            located = self._locate(left if together else [next(iter(left))], hearing)
            if not located:
                continue
            metrics = tuple(left[located[0].sha256])
            following = tuple(filter(None, map(self._location, task.following)))
            try:
                self._worker.request(Job(tuple(located), metrics, following, task.threads), on_event=hearing)
                self._failed_starts = 0
            except WorkerDiedError as error:
                if self._ending:
                    return
                log.warning("%s", error)
                if not hearing.opened:
                    self._failed_starts += 1
                    if self._failed_starts >= DEATHS_AT_THE_START:
                        raise _GiveUpError(str(error)) from error
                    continue
                self._failed_starts = 0
                if len(located) > 1:
                    together = False
                    continue
                sha256 = located[0].sha256
                deaths.update((sha256, metric) for metric in _suspects(hearing, left.get(sha256, ())))
                killers = [m for m in left.get(sha256, ()) if deaths[sha256, m] >= DEATHS_OF_A_METRIC]
                hearing.fail(sha256, killers, f"The worker died {DEATHS_OF_A_METRIC} times. {error}")
            except Exception as error:
                raise _GiveUpError(f"{type(error).__name__}: {error}") from error

    def _locate(self, sha256s: Iterable[str], hearing: _Hearing) -> list[ImageLocation]:
        """Find out where pictures are; those that are nowhere have failed."""
        located = []
        for sha256 in tuple(sha256s):
            try:
                located.append(image_location(self._project, sha256))
            except BananaError as error:
                hearing.fail(sha256, hearing.left[sha256], str(error))
        return located

    def _location(self, sha256: str) -> ImageLocation | None:
        try:
            return image_location(self._project, sha256)
        except BananaError:
            return None


class _GiveUpError(Exception):
    """The device can't score anything."""


class _Hearing:
    """Listens to what a worker says of one job, and crosses off what is done."""

    def __init__(
        self, task: Task, left: dict[str, list[str]], device: str, keep: Callable[[NewScore], None]
    ) -> None:
        self.opened = False
        self.begun: str | None = None
        self.left = left
        self._methods = task.methods
        self._device = device
        self._keep = keep

    def __call__(self, event: Opened | Begun | Scored) -> None:
        match event:
            case Opened():
                self.opened = True
            case Begun():
                self.begun = event.metric
            case Scored():
                self._finish(event)

    def fail(self, sha256: str, metrics: Sequence[str], reason: str) -> None:
        """Record that a picture has no score by some metrics."""
        for metric in tuple(metrics):
            self._finish(Scored(sha256, metric, None, reason, None, self._device))

    def _finish(self, scored: Scored) -> None:
        self.left[scored.sha256].remove(scored.metric)
        if not self.left[scored.sha256]:
            del self.left[scored.sha256]
        self._keep(
            NewScore(
                scored.sha256,
                scored.metric,
                self._methods[scored.metric],
                scored.score,
                scored.error,
                scored.device,
                scored.seconds,
                scored.replies,
            )
        )


def _suspects(hearing: _Hearing, left: Sequence[str]) -> Sequence[str]:
    """Name the metrics of which the worker may have died: the one in work, or any before the first."""
    begun = hearing.begun
    return [begun] if begun is not None and begun in left else left


def _environment(threads: int) -> dict[str, str]:
    """Libraries read these when they are imported; OpenBLAS would only disturb threads of our own."""
    return {
        "OMP_NUM_THREADS": str(threads),
        "MKL_NUM_THREADS": str(threads),
        "OPENBLAS_NUM_THREADS": "1",
        "HF_HUB_OFFLINE": "1",
    }
