"""Which worker scores what: a backlog for the CPU, one for graphics cards, and what goes together."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto
from typing import TYPE_CHECKING

from banana100_core.scoring.backlog import Backlog, Priority
from banana100_core.scoring.devices import CPU
from banana100_core.scoring.driver import Task
from banana100_core.scoring.methods import NATIVE, PYIQA

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from banana100_core.catalog.metrics import Metric

_MOST_PICTURES = 16
_MOST_WORKERS = 4  # at the CPU; each needs 0.6 GB for a picture of 17 megapixels


class Lane(Enum):
    """Kinds of devices, each with a backlog of its own."""

    CPU = auto()
    GRAPHICS = auto()


# Of all pictures of a batch. On the CPU it may not take longer than one usual picture of a study alone.
_MOST_PIXELS = {Lane.CPU: 2_000_000, Lane.GRAPHICS: 16_000_000}


@dataclass(frozen=True, eq=False, slots=True)
class Seat:
    """A worker's place at a device, of which all workers there share the threads.

    A helper holds no models: it scores the pictures that need none. So no model is loaded twice.
    """

    device: str
    threads: int
    helper: bool = False


def seats_at(device: str, threads: int) -> list[Seat]:
    """Give the workers of a device: one at a card, and at the CPU a few, which share `threads`."""
    if device != CPU:
        return [Seat(device, 1)]
    return [Seat(CPU, threads, helper=number > 0) for number in range(min(threads, _MOST_WORKERS))]


class Lanes:
    """What waits for the workers that are there; not for several threads at once."""

    def __init__(self, backends: Mapping[str, str], catalog: Mapping[str, Metric]) -> None:
        """`backends` by metric; `catalog` says which metrics score pictures together."""
        self._backends = backends
        self._batching = {key for key, each in catalog.items() if each.batches and backends[key] == PYIQA}
        self._backlogs = {lane: Backlog() for lane in Lane}
        self._seats: set[Seat] = set()
        self._at_work: set[Seat] = set()
        self._sizes: dict[str, tuple[int, int]] = {}

    def __bool__(self) -> bool:
        return bool(self._seats)

    def __contains__(self, seat: Seat) -> bool:
        return seat in self._seats

    def open(self, seat: Seat) -> None:
        """A worker can score."""
        self._seats.add(seat)

    def lose(self, seat: Seat) -> bool:
        """A worker can't score any longer, nor can its helpers; returns whether another can in its place."""
        self._seats.discard(seat)
        if not seat.helper:
            self._seats = {each for each in self._seats if each.device != seat.device}
        self._at_work &= self._seats
        return _lane_at(seat.device) in self._open()

    def batches(self, metrics: Sequence[str]) -> bool:
        """Whether some of these metrics score pictures of one size together."""
        return not self._batching.isdisjoint(metrics)

    def add(
        self,
        sha256: str,
        metrics: Sequence[str],
        priority: Priority,
        size: tuple[int, int] | None = None,
    ) -> None:
        """Let a picture wait for some metrics; one that waits moves forward if it is wanted sooner now."""
        if size is not None:
            self._sizes[sha256] = size
        for lane in Lane:
            in_lane = [metric for metric in metrics if self._lane_of(metric) is lane]
            if in_lane or sha256 in self._backlogs[lane]:
                self._backlogs[lane].add(sha256, in_lane, priority)

    def prefer(self, on_screen: str | None, run: Sequence[str]) -> None:
        """Take the picture on screen first, then its run from there outwards."""
        for backlog in self._backlogs.values():
            backlog.prefer(on_screen, run)

    def rest(self, seat: Seat) -> None:
        """A worker is done with what it took."""
        self._at_work.discard(seat)

    def waits_for(self, seat: Seat) -> bool:
        """Whether there is something to do for a worker."""
        backlog = self._backlogs[_lane_at(seat.device)]
        first = backlog.first()
        return first is not None and self._suits(seat, backlog.metrics_of(first))

    def take(self, seat: Seat, methods: Mapping[str, str]) -> Task:
        """Remove what is next for a worker: a picture, and those after it that are scored with it."""
        lane = _lane_at(seat.device)
        backlog = self._backlogs[lane]
        sha256s, metrics = self._next(lane)
        for sha256 in sha256s:
            self._sizes.pop(sha256, None)
        before_next = len(sha256s) * len(self._beside(seat, metrics))
        self._at_work.add(seat)
        return Task(
            sha256s,
            {metric: methods[metric] for metric in metrics},
            backlog.coming(len(sha256s), after=before_next),
            max(1, seat.threads // self._sharers(seat)),
        )

    def clear(self) -> Iterator[tuple[str, tuple[str, ...]]]:
        """Remove all, and give what there was: pictures with their metrics."""
        self._sizes.clear()
        for backlog in self._backlogs.values():
            yield from backlog.clear()

    def _next(self, lane: Lane) -> tuple[tuple[str, ...], tuple[str, ...]]:
        backlog = self._backlogs[lane]
        alone = backlog.on_screen
        first, metrics = backlog.take()
        sha256s = [first]
        size = self._sizes.get(first)
        if size is None or first == alone or not self.batches(metrics):
            return (first,), metrics
        most = min(_MOST_PICTURES, _MOST_PIXELS[lane] // (size[0] * size[1]))
        while len(sha256s) < most:
            following = backlog.first()
            if (
                following is None
                or following == alone
                or self._sizes.get(following) != size
                or set(backlog.metrics_of(following)) != set(metrics)
            ):
                break
            sha256s.append(backlog.take()[0])
        return tuple(sha256s), metrics

    def _suits(self, seat: Seat, metrics: Sequence[str]) -> bool:
        return not seat.helper or all(self._backends[metric] == NATIVE for metric in metrics)

    def _beside(self, seat: Seat, metrics: Sequence[str]) -> list[Seat]:
        """Give the other workers that take pictures with such metrics from the same backlog."""
        return [
            each
            for each in self._seats - {seat}
            if _lane_at(each.device) is _lane_at(seat.device) and self._suits(each, metrics)
        ]

    def _sharers(self, seat: Seat) -> int:
        """How many workers compute at a worker's device now, or will in an instant."""
        here = {each for each in self._seats if each.device == seat.device}
        coming = [each for each in here - self._at_work if self.waits_for(each)]
        return len(here & self._at_work) + min(len(coming), len(self._backlogs[_lane_at(seat.device)]))

    def _lane_of(self, metric: str) -> Lane:
        """Learned metrics go to graphics cards where there are any, the native ones to the CPU."""
        wanted = Lane.CPU if self._backends[metric] == NATIVE else Lane.GRAPHICS
        lanes = self._open()
        return wanted if wanted in lanes else next(iter(lanes))

    def _open(self) -> set[Lane]:
        return {_lane_at(seat.device) for seat in self._seats}


def _lane_at(device: str) -> Lane:
    return Lane.CPU if device == CPU else Lane.GRAPHICS
