"""What is to be scored, in the order in which a person wants to see it."""

from __future__ import annotations

from enum import IntEnum
from itertools import islice
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence


class Priority(IntEnum):
    """How soon a picture is wanted."""

    ON_SCREEN = 0
    RUN = 1  # of the picture on screen
    SELECTION = 2
    BACKLOG = 3


class Backlog:
    """Pictures with the metrics that they still need; not for several threads at once."""

    def __init__(self) -> None:
        self._metrics: dict[str, list[str]] = {}  # by picture
        self._priority: dict[str, Priority] = {}
        self._queues: dict[Priority, dict[str, None]] = {priority: {} for priority in Priority}
        self.on_screen: str | None = None
        self._run: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self._metrics)

    def __contains__(self, sha256: str) -> bool:
        return sha256 in self._metrics

    def add(self, sha256: str, metrics: Iterable[str], priority: Priority) -> None:
        """Add metrics of a picture; one that waits already moves forward if it is wanted sooner now."""
        waiting = self._metrics.setdefault(sha256, [])
        waiting += [metric for metric in metrics if metric not in waiting]
        before = self._priority.get(sha256)
        if before is None or priority < before:
            if before is not None:
                del self._queues[before][sha256]
            self._priority[sha256] = priority
            self._queues[priority][sha256] = None

    def prefer(self, on_screen: str | None, run: Sequence[str]) -> None:
        """Take the picture on screen first, then its run from there outwards; forget earlier wishes."""
        self.on_screen = on_screen
        centre = run.index(on_screen) if on_screen in run else 0
        outwards = sorted(range(len(run)), key=lambda place: abs(place - centre))
        self._run = tuple(dict.fromkeys(run[place] for place in outwards))

    def first(self) -> str | None:
        """Give the picture that is next, None when nothing waits."""
        return next((sha256 for sha256 in self._in_order() if sha256 in self._metrics), None)

    def coming(self, count: int, after: int = 0) -> tuple[str, ...]:
        """Give the pictures that are next, or next after some others, and leave them."""
        end = after + count
        waiting = (sha256 for sha256 in self._in_order() if sha256 in self._metrics)
        return tuple(islice(dict.fromkeys(islice(waiting, 2 * end + 1)), after, end))

    def metrics_of(self, sha256: str) -> tuple[str, ...]:
        """Give the metrics that a picture waits for."""
        return tuple(self._metrics[sha256])

    def take(self) -> tuple[str, tuple[str, ...]]:
        """Remove the picture that is next, and give it with its metrics; IndexError when nothing waits."""
        sha256 = self.first()
        if sha256 is None:
            raise IndexError
        del self._queues[self._priority.pop(sha256)][sha256]
        return sha256, tuple(self._metrics.pop(sha256))

    def clear(self) -> list[tuple[str, tuple[str, ...]]]:
        """Remove all, and give what there was."""
        taken = []
        while self:
            taken.append(self.take())
        return taken

    def _in_order(self) -> Iterator[str]:
        if self.on_screen is not None:
            yield self.on_screen
        yield from self._queues[Priority.ON_SCREEN]
        yield from self._run
        for priority in (Priority.RUN, Priority.SELECTION, Priority.BACKLOG):
            yield from self._queues[priority]
