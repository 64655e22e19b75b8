"""How far scoring is: counts, rate, time left."""

from __future__ import annotations

import time
from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

_RATE_SECONDS = 60.0  # the rate is that of the last minute: pictures of a study differ in size


@dataclass(frozen=True, slots=True)
class ScoringProgress:
    """How far a pool is with the scores asked of it; a score is one metric of one image.

    `done` includes those that failed, and counts what is stored. `rate` is in scores a second. `problem` says
    why scoring came to a halt, if it did.
    """

    done: int
    total: int
    failed: int
    rate: float
    seconds_left: float | None
    paused: bool
    per_metric: dict[str, tuple[int, int]] = field(default_factory=dict)  # done and total
    problem: str = ""


class Tally:
    """Counts scores; not for several threads at once."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._done: dict[str, int] = {}
        self._total: dict[str, int] = {}
        self._failed: dict[str, int] = {}
        self._history: deque[tuple[float, int]] = deque()

    def ask(self, metrics: Iterable[str]) -> None:
        """Count scores that were asked for."""
        if sum(self._done.values()) == sum(self._total.values()):
            self._history.clear()  # time spent idle is no measure
            self._remember()
        for metric in metrics:
            self._total[metric] = self._total.get(metric, 0) + 1

    def drop(self, metrics: Iterable[str]) -> None:
        """Take back scores that are no longer wanted."""
        for metric in metrics:
            self._total[metric] -= 1

    def finish(self, metric: str, *, failed: bool) -> None:
        """Count a score that is stored."""
        self._done[metric] = self._done.get(metric, 0) + 1
        self._failed[metric] = self._failed.get(metric, 0) + failed
        self._remember()

    def forget_failed(self, metric: str | None) -> None:
        """Take back the failures of a metric, or all: they are to be asked for again."""
        for each in [*self._failed] if metric is None else [metric]:
            failed = self._failed.pop(each, 0)
            self._done[each] = self._done.get(each, 0) - failed
            self._total[each] = self._total.get(each, 0) - failed
        self._history.clear()  # what is done would seem to shrink
        self._remember()

    def progress(self, *, paused: bool, problem: str) -> ScoringProgress:
        """Say how far all is."""
        done, total = sum(self._done.values()), sum(self._total.values())
        rate = self._rate(done)
        return ScoringProgress(
            done=done,
            total=total,
            failed=sum(self._failed.values()),
            rate=rate,
            seconds_left=(total - done) / rate if rate > 0 and not paused else None,
            paused=paused,
            per_metric={metric: (self._done.get(metric, 0), count) for metric, count in self._total.items()},
            problem=problem,
        )

    def _rate(self, done: int) -> float:
        if not self._history:
            return 0.0
        began, before = self._history[0]
        passed = self._clock() - began
        return (done - before) / passed if passed > 0 else 0.0

    def _remember(self) -> None:
        now = self._clock()
        self._history.append((now, sum(self._done.values())))
        while len(self._history) > 2 and now - self._history[0][0] > _RATE_SECONDS:
            self._history.popleft()
