"""The scoring pool: a few threads for the CPU and one for each card, each driving a worker of its own."""

from __future__ import annotations

import logging
import threading
from collections import deque
from functools import partial
from typing import TYPE_CHECKING

from banana100_core.catalog.metrics import metric as find_metric
from banana100_core.catalog.metrics import metrics as our_catalog
from banana100_core.errors import BananaError
from banana100_core.listeners import Listeners
from banana100_core.project.scores import forget_failed, unscored_images
from banana100_core.scoring.backlog import Priority
from banana100_core.scoring.devices import CPU, DeviceFinder, cores, need_devices, need_names
from banana100_core.scoring.driver import Driver, Task
from banana100_core.scoring.keeper import Keeper
from banana100_core.scoring.lanes import Lanes, Seat, seats_at
from banana100_core.scoring.lookups import (
    failed_images,
    images_of_steps_after,
    last_step_id,
    sizes_of,
    unscored_among,
)
from banana100_core.scoring.methods import NATIVE, chosen_backends, ready_methods
from banana100_core.scoring.tally import ScoringProgress, Tally
from banana100_core.scoring.worker import Setup

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from banana100_core.catalog.metrics import Metric
    from banana100_core.project import Project
    from banana100_core.project.records import NewScore

__all__ = ["Priority", "ScoringPool", "ScoringProgress"]

log = logging.getLogger(__name__)


class ScoringPool:
    """Scores a project's images in the background, in the order in which a person wants to see them.

    All methods may be called from any thread, and only `close` and `wait` take time. Equal pictures are
    scored once; what has a score or a failure by the same method is not scored again.
    """

    def __init__(
        self,
        project: Project,
        *,
        metrics: Sequence[str] | None = None,
        devices: Sequence[str] | None = None,
        max_memory: int | None = None,
        backends: Mapping[str, str] | None = None,
        catalog: Mapping[str, Metric] | None = None,
        threads: int | None = None,
        follow: bool = True,
    ) -> None:
        """Prepare; nothing runs before `start`.

        `metrics`: all that can score here by default. `devices`: as torch names them; all by default.
        `max_memory`: bytes for each worker. `backends`: others than the default, by metric. `catalog`:
        another than ours, which may want other weights. `threads`: of the CPU's workers together, one a
        core by default, which give way to other programs. `follow`: score new steps as they arrive.

        Raises MetricError for what is no metric, backend or device; a device that is not in this machine is
        told by `problem`, since to look for it takes a while.
        """
        for key in metrics or ():
            find_metric(key)
        need_names(devices or ())
        self._project = project
        self._ready_methods = partial(ready_methods, metrics, dict(backends or {}), catalog)
        self._chosen = chosen_backends(backends)
        self._catalog = catalog
        self._devices = devices
        self._max_memory = max_memory
        self._threads = threads or cores()
        self._follow = follow

        self._condition = threading.Condition()
        self._wishes: deque[Callable[[], None]] = deque()
        self._planning = False
        self._steps_arrived = False
        self._methods: dict[str, str] = {}
        self._lanes = Lanes(self._chosen, catalog or our_catalog())
        self._open: dict[str, set[str]] = {}  # metrics asked for and not yet stored, by picture
        self._tally = Tally()
        self._cancellations = self._cancellations_at_wish = 0
        self._paused = False
        self._closing = False
        self._problem = ""

        self._last_step = 0
        self._drivers: list[Driver] = []
        self._finder = DeviceFinder()
        self._looked_for_cards = False
        self._planner = threading.Thread(target=self._plan, name="scoring: planner", daemon=True)
        self._keeper = Keeper(project, self._stored, self._lost)
        self._listeners: Listeners[ScoringProgress] = Listeners("the progress of scoring")
        self._unsubscribe: Callable[[], None] | None = None

    # Life

    def start(self) -> None:
        """Begin with what was asked for, and follow new steps from now on; a second call does nothing."""
        with self._condition:
            if self._planner.ident is not None or self._closing:
                return
            if self._follow:
                self._last_step = last_step_id(self._project)
                self._unsubscribe = self._project.subscribe(self._changed)
            self._planning = True
            self._keeper.start()
            self._planner.start()

    def close(self, timeout: float = 5.0) -> None:
        """End all work at once, in the middle of a picture if need be; finished scores are stored."""
        with self._condition:
            if self._closing:
                return
            self._closing = True
            self._wishes.clear()
            self._condition.notify_all()
            unsubscribe, self._unsubscribe = self._unsubscribe, None
        if unsubscribe is not None:
            unsubscribe()
        if self._planner.ident is not None:
            self._finder.stop()
            self._planner.join()
            for driver in self._drivers:
                driver.end(timeout)
            for driver in self._drivers:
                driver.join()
            self._keeper.close()

    def wait(self, timeout: float | None = None) -> bool:
        """Wait until all that was asked for is stored; False if that takes more than `timeout` seconds."""
        with self._condition:
            return self._condition.wait_for(self._is_idle, timeout)

    # Wishes

    def request(
        self,
        sha256s: Iterable[str],
        priority: Priority = Priority.BACKLOG,
        metrics: Sequence[str] | None = None,
    ) -> None:
        """Ask for scores of images, by all of the pool's metrics or by some."""
        wanted = list(sha256s)
        self._wish(lambda: self._request(wanted, priority, metrics))

    def request_missing(self, run_ids: Sequence[int] | None = None) -> None:
        """Ask for every score that is missing, in some runs or in the whole project."""
        self._wish(lambda: self._request_missing(run_ids))

    def retry_failed(self, metric: str | None = None) -> None:
        """Forget failures, of one metric or of all, and ask for their scores again."""
        self._wish(lambda: self._retry_failed(metric))

    def prefer(self, on_screen: str | None, run: Sequence[str] = ()) -> None:
        """Score the picture on screen first, then its run; what was preferred before is not any longer.

        This sets the order only, of what was or will be asked for.
        """
        with self._condition:
            self._lanes.prefer(on_screen, run)

    def pause(self) -> None:
        """Finish the pictures in work, and begin no other."""
        self._set_paused(paused=True)

    def resume(self) -> None:
        """Go on after a pause."""
        self._set_paused(paused=False)

    def cancel(self) -> None:
        """Forget all that was asked for and is not in work; new steps are still followed."""
        with self._condition:
            self._wishes.clear()
            self._forget_backlogs()
            self._cancellations += 1
            self._paused = False
            self._condition.notify_all()
        self._tell()

    # Progress

    def progress(self) -> ScoringProgress:
        """How far all is that was asked for since the pool was made."""
        with self._condition:
            return self._tally.progress(paused=self._paused, problem=self._problem)

    def subscribe(self, listener: Callable[[ScoringProgress], None]) -> Callable[[], None]:
        """Call `listener` with the progress as it changes, on the pool's threads; returns how to end that."""
        return self._listeners.subscribe(listener)

    def worker_pids(self) -> list[int]:
        """Process ids of the workers that are alive."""
        return [pid for driver in self._drivers if (pid := driver.worker_pid) is not None]

    # The planner's thread: all that reads the project or takes a while

    def _plan(self) -> None:
        self._attempt(self._open_devices)
        while True:
            with self._condition:
                self._planning = False
                self._condition.notify_all()
                self._condition.wait_for(lambda: self._wishes or self._steps_arrived or self._closing)
                if self._closing:
                    return
                self._planning = True
                self._cancellations_at_wish = self._cancellations
                if self._wishes:
                    wish = self._wishes.popleft()
                else:
                    wish, self._steps_arrived = self._request_new_steps, False
            self._attempt(wish)
            self._tell()

    def _attempt(self, wish: Callable[[], None]) -> None:
        try:
            wish()
        except BananaError as error:
            self._halt(str(error))
        except Exception as error:
            log.exception("The scoring pool failed")
            self._halt(f"{type(error).__name__}: {error}")

    def _open_devices(self) -> None:
        self._methods = self._ready_methods()
        need_devices(self._devices or (), self._finder)
        self._open_each(self._devices or [CPU])
        self._open_graphics_cards()

    def _open_graphics_cards(self) -> None:
        """Look for graphics cards as soon as a metric can score that would run on them."""
        if self._devices or self._looked_for_cards:
            return
        if any(self._chosen[metric] != NATIVE for metric in self._methods):
            self._looked_for_cards = True
            self._open_each(self._finder.cards())

    def _open_each(self, devices: Sequence[str]) -> None:
        for seat in (each for device in dict.fromkeys(devices) for each in seats_at(device, self._threads)):
            setup = Setup(seat.device, seat.threads, self._chosen, self._max_memory, self._catalog)
            next_task, give_up = partial(self._next_task, seat), partial(self._give_up, seat)
            driver = Driver(self._project, setup, next_task, self._keeper.put, give_up)
            with self._condition:
                if self._closing:
                    return
                self._drivers.append(driver)
                self._lanes.open(seat)
                driver.start()

    def _find_ready_methods(self) -> None:
        """Look again: weights may have come since, or terms may have been accepted."""
        self._methods = self._methods | self._ready_methods()
        self._open_graphics_cards()

    def _request(self, sha256s: Sequence[str], priority: Priority, metrics: Sequence[str] | None) -> None:
        wanted = self._methods if metrics is None else metrics
        methods = {metric: self._methods[metric] for metric in wanted if metric in self._methods}
        self._add(unscored_among(self._project, methods, sha256s), priority)

    def _request_missing(self, run_ids: Sequence[int] | None) -> None:
        self._find_ready_methods()
        self._add(unscored_images(self._project, self._methods, run_ids), Priority.BACKLOG)

    def _request_new_steps(self) -> None:
        images, self._last_step = images_of_steps_after(self._project, self._last_step)
        self._request(images, Priority.BACKLOG, None)

    def _retry_failed(self, metric: str | None) -> None:
        self._find_ready_methods()
        failed = failed_images(self._project, metric)
        forget_failed(self._project, metric)
        with self._condition:
            self._tally.forget_failed(metric)
        self._request(failed, Priority.BACKLOG, None if metric is None else [metric])

    def _add(self, missing: Sequence[tuple[str, tuple[str, ...]]], priority: Priority) -> None:
        together = [sha256 for sha256, metrics in missing if self._lanes.batches(metrics)]
        sizes = sizes_of(self._project, together) if together else {}
        with self._condition:
            if self._cancellations != self._cancellations_at_wish:
                return
            if not self._lanes:
                self._problem = self._problem or "No device is left to score on. Open the project again."
                return
            self._problem = ""
            for sha256, metrics in missing:
                asked = self._open.setdefault(sha256, set())
                fresh = [metric for metric in metrics if metric not in asked]
                asked.update(fresh)
                self._tally.ask(fresh)
                self._lanes.add(sha256, fresh, priority, sizes.get(sha256))
                if not asked:
                    del self._open[sha256]
            self._condition.notify_all()

    # The drivers' threads, and the keeper's

    def _next_task(self, seat: Seat) -> Task | None:
        with self._condition:
            self._lanes.rest(seat)
            self._condition.wait_for(lambda: self._is_over(seat) or self._may_begin(seat))
            return None if self._is_over(seat) else self._lanes.take(seat, self._methods)

    def _stored(self, scores: list[NewScore]) -> None:
        with self._condition:
            for score in scores:
                self._close_score(score.image_sha256, score.metric)
                self._tally.finish(score.metric, failed=score.score is None)
            self._condition.notify_all()
        self._tell()

    def _lost(self, scores: list[NewScore], reason: str) -> None:
        with self._condition:
            for score in scores:
                self._close_score(score.image_sha256, score.metric)
                self._tally.drop([score.metric])
        self._halt(reason)

    def _give_up(self, seat: Seat, left: Mapping[str, Sequence[str]], reason: str) -> None:
        """End a worker that can't score; what it had goes on elsewhere, if there is another of its kind."""
        with self._condition:
            another = self._lanes.lose(seat)
            for sha256, metrics in left.items():
                if another:
                    self._lanes.add(sha256, metrics, Priority.BACKLOG)
                else:
                    self._forget(sha256, metrics)
            self._condition.notify_all()
        if not another:
            self._halt(f"Scoring on {seat.device} doesn't work. {reason}")

    # Anywhere

    def _wish(self, wish: Callable[[], None]) -> None:
        with self._condition:
            if not self._closing:
                self._wishes.append(wish)
                self._condition.notify_all()

    def _changed(self, tables: frozenset[str]) -> None:
        if "step" in tables:
            with self._condition:
                self._steps_arrived = True
                self._condition.notify_all()

    def _set_paused(self, *, paused: bool) -> None:
        with self._condition:
            self._paused = paused
            self._condition.notify_all()
        self._tell()

    def _halt(self, problem: str) -> None:
        with self._condition:
            self._problem = problem
            self._forget_backlogs()
            self._condition.notify_all()
        self._tell()

    def _tell(self) -> None:
        self._listeners.tell(self.progress())

    # With the lock held

    def _is_over(self, seat: Seat) -> bool:
        return self._closing or seat not in self._lanes

    def _may_begin(self, seat: Seat) -> bool:
        return self._lanes.waits_for(seat) and not self._paused

    def _is_idle(self) -> bool:
        busy = self._wishes or self._planning or self._steps_arrived or self._open
        return self._closing or not busy

    def _forget_backlogs(self) -> None:
        for sha256, metrics in self._lanes.clear():
            self._forget(sha256, metrics)

    def _forget(self, sha256: str, metrics: Sequence[str]) -> None:
        for metric in metrics:
            self._close_score(sha256, metric)
        self._tally.drop(metrics)

    def _close_score(self, sha256: str, metric: str) -> None:
        asked = self._open[sha256]
        asked.discard(metric)
        if not asked:
            del self._open[sha256]
