"""How far long work is: a bar with rate and time left on a terminal, else a line every few seconds."""

from __future__ import annotations

import sys
import threading
import time
from collections import deque
from typing import TYPE_CHECKING, Protocol, Self, TextIO

from banana100_core.cli.console import in_time, is_terminal, plain

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType

    from rich.progress import Progress as Bar
    from rich.progress import TaskID

SECONDS_BEFORE_FIRST_LINE = 1.0  # short work needs none
SECONDS_BETWEEN_LINES = 5.0
_SECONDS_REMEMBERED = 60.0  # the rate follows the last minute: pictures of a study differ in size


class WorkDisplay:
    """Shows progress on stderr while it is entered; called as a `Progress`, from any thread."""

    def __init__(
        self, title: str, *, stream: TextIO | None = None, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._title = title
        self._stream = stream or sys.stderr
        self._clock = clock
        self._lock = threading.Lock()
        self._history: deque[tuple[float, int]] = deque()
        self._line_due = clock() + SECONDS_BEFORE_FIRST_LINE
        self._said = False
        self._last: str | None = None  # that was said
        self._unsaid: str | None = None
        self._bar: Bar | None = None
        self._task: TaskID | None = None

    def __enter__(self) -> Self:
        if is_terminal(self._stream):
            self._bar = _bar(self._stream)
            self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with self._lock:
            if self._bar is not None:
                self._bar.stop()
            elif self._unsaid not in {None, self._last} and (self._said or error is not None):
                print(self._unsaid, file=self._stream, flush=True)
            self._bar, self._unsaid = None, None

    def __call__(
        self,
        done: int,
        total: int,
        what: str = "",
        *,
        rate: float | None = None,
        seconds_left: float | None = None,
    ) -> None:
        """Show that `done` of `total` are done; rate and time left are measured here unless given."""
        with self._lock:
            now = self._clock()
            measured = self._measure(now, done)
            rate = measured if rate is None else rate
            if seconds_left is None and rate and total:
                seconds_left = (total - done) / rate
            pace = _pace(rate, seconds_left if done < total else None)
            if self._bar is not None:
                self._redraw(self._bar, done, total, pace, plain(what))
            else:
                self._print(now, done, total, pace, plain(what))

    def _measure(self, now: float, done: int) -> float | None:
        if self._history and done < self._history[-1][1]:
            self._history.clear()  # another part of the work has begun
        self._history.append((now, done))
        while len(self._history) > 2 and now - self._history[0][0] > _SECONDS_REMEMBERED:
            self._history.popleft()
        since, before = self._history[0]
        return (done - before) / (now - since) if now > since and done > before else None

    def _redraw(self, bar: Bar, done: int, total: int, pace: str, what: str) -> None:
        if self._task is None:
            self._task = bar.add_task(plain(self._title), total=total or None, pace=pace, what=what)
        bar.update(self._task, completed=done, total=total or None, pace=pace, what=what)

    def _print(self, now: float, done: int, total: int, pace: str, what: str) -> None:
        counts = f"{done:,} of {total:,}" if total else f"{done:,}"
        self._unsaid = ", ".join(part for part in (f"{plain(self._title)}: {counts}", pace, what) if part)
        if now >= self._line_due:
            if self._unsaid != self._last:
                print(self._unsaid, file=self._stream, flush=True)
            self._line_due = now + SECONDS_BETWEEN_LINES
            self._said, self._last, self._unsaid = True, self._unsaid, None


def _pace(rate: float | None, seconds_left: float | None) -> str:
    parts = []
    if rate:
        parts.append(f"{rate:,.1f} a second" if rate >= 1 else f"{1 / rate:,.1f} s each")
    if seconds_left is not None:
        parts.append(f"{in_time(seconds_left)} left")
    return ", ".join(parts)


def _bar(stream: TextIO) -> Bar:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    console = Console(file=stream, markup=False, highlight=False, emoji=False)
    return Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=24),
        MofNCompleteColumn(),
        TextColumn("{task.fields[pace]}", markup=False),
        TextColumn("{task.fields[what]}", markup=False),
        console=console,
        transient=True,
    )


class _Work(Protocol):
    def wait(self, timeout: float | None = None) -> bool: ...


def wait_for(work: _Work) -> None:
    """Wait until a pool or an executor is idle; in short turns, so that Ctrl+C is heard on every system."""
    while not work.wait(timeout=0.2):
        pass
