"""Which kind of device scores what: a backlog for the CPU, one for graphics cards, and what goes together."""

from __future__ import annotations

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


class Lane(Enum):
    """Kinds of devices, each with a backlog of its own."""

    CPU = auto()
    GRAPHICS = auto()


# Of all pictures of a batch. On the CPU it may not take longer than one usual picture of a study alone.
_MOST_PIXELS = {Lane.CPU: 2_000_000, Lane.GRAPHICS: 16_000_000}


class Lanes:
    """What waits for the devices that are there; not for several threads at once."""

    def __init__(self, backends: Mapping[str, str], catalog: Mapping[str, Metric]) -> None:
        """`backends` by metric; `catalog` says which metrics score pictures together."""
        self._backends = backends
        self._batching = {key for key, each in catalog.items() if each.batches and backends[key] == PYIQA}
        self._backlogs = {lane: Backlog() for lane in Lane}
        self._devices: set[str] = set()
        self._sizes: dict[str, tuple[int, int]] = {}

    def __bool__(self) -> bool:
        return bool(self._devices)

    def open(self, device: str) -> None:
        """A device can score."""
        self._devices.add(device)

    def lose(self, device: str) -> bool:
        """A device can't score any longer; returns whether there is another of its kind."""
        self._devices.discard(device)
        return _lane_at(device) in self._open()

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

    def waits_for(self, device: str) -> bool:
        """Whether there is something to do for a device."""
        return bool(self._backlogs[_lane_at(device)])

    def take(self, device: str, methods: Mapping[str, str]) -> Task:
        """Remove what is next for a device: a picture, and those after it that are scored with it."""
        lane = _lane_at(device)
        backlog = self._backlogs[lane]
        sha256s, metrics = self._next(lane)
        for sha256 in sha256s:
            self._sizes.pop(sha256, None)
        return Task(sha256s, {metric: methods[metric] for metric in metrics}, backlog.coming(len(sha256s)))

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

    def _lane_of(self, metric: str) -> Lane:
        """Learned metrics go to graphics cards where there are any, the native ones to the CPU."""
        wanted = Lane.CPU if self._backends[metric] == NATIVE else Lane.GRAPHICS
        lanes = self._open()
        return wanted if wanted in lanes else next(iter(lanes))

    def _open(self) -> set[Lane]:
        return {_lane_at(device) for device in self._devices}


def _lane_at(device: str) -> Lane:
    return Lane.CPU if device == CPU else Lane.GRAPHICS
