"""Work off the UI thread, and news from other threads brought to it.

What runs on a thread leaves Qt alone, but for emitting signals: any other call holds the interpreter's lock,
and may wait for one of Qt's that the UI thread holds while it waits for the interpreter's.
"""

from __future__ import annotations

import threading
from collections import deque
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, Qt, QTimer, Signal

from banana100_core.errors import BananaError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

NEWS_MS = 100
"""At most ten deliveries a second, however fast news arrives."""


class Background(QObject):
    """Does work on a few threads and hands results to the UI thread; can be stopped, and used again."""

    failed = Signal(str)

    _done = Signal(int, object)

    def __init__(self, name: str, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._name = name
        self._threads: ThreadPoolExecutor | None = None
        self._epoch = 0
        self._told: set[tuple[type[Exception], str]] = set()
        self._results: deque[tuple[int, Callable[[], object]]] = deque()
        # One result each turn of the event loop: several at once would keep the user waiting for their sum.
        self._turn = QTimer(self)
        self._turn.setInterval(0)
        self._turn.timeout.connect(self._deliver)
        self._done.connect(self._take, Qt.ConnectionType.QueuedConnection)

    def do(
        self,
        work: Callable[[], Any],
        then: Callable[[Any], object] | None = None,
        otherwise: Callable[[], object] | None = None,
        *,
        once: bool = False,
    ) -> None:
        """Do `work` on a thread, then call `then` with its result on the UI thread, or `otherwise`.

        `otherwise` is for who waits: it is called when the work failed, before that is told. A BananaError is
        told by `failed`; any other exception is raised on the UI thread, where it is caught and shown as the
        bug that it is. With `once`, for what is done again and again, the same failure is told no second time
        until `stop`.
        """
        if self._threads is None:
            self._threads = ThreadPoolExecutor(max_workers=3, thread_name_prefix=self._name)
        self._threads.submit(self._work, self._epoch, work, then, otherwise, once)

    def stop(self) -> None:
        """Drop what has not begun, wait for the rest; nothing of it is delivered afterwards."""
        self._epoch += 1
        self._results.clear()
        self._told.clear()
        self._turn.stop()
        if self._threads is not None:
            self._threads.shutdown(wait=True, cancel_futures=True)
            self._threads = None

    def _work(
        self,
        epoch: int,
        work: Callable[[], Any],
        then: Callable[[Any], object] | None,
        otherwise: Callable[[], object] | None,
        once: bool,
    ) -> None:
        try:
            result = work()
        except Exception as error:  # noqa: BLE001 - raised again on the UI thread
            fault = error
            self._done.emit(epoch, lambda: self._fail(fault, otherwise, once=once))
        else:
            if then is not None:
                self._done.emit(epoch, lambda: then(result))

    def _fail(self, fault: Exception, otherwise: Callable[[], object] | None, *, once: bool) -> None:
        if otherwise is not None:
            otherwise()
        kind = type(fault), str(fault)
        if once and kind in self._told:
            return
        self._told.add(kind)
        if not isinstance(fault, BananaError):
            raise fault
        self.failed.emit(str(fault))

    def _take(self, epoch: int, call: Callable[[], object]) -> None:
        self._results.append((epoch, call))
        self._turn.start()

    def _deliver(self) -> None:
        epoch, call = self._results.popleft()
        if not self._results:
            self._turn.stop()
        if epoch == self._epoch:
            call()


class NewsDesk(QObject):
    """Gathers what other threads tell and delivers it to the UI thread, at most ten times a second.

    `delivered` carries the names of the tables that changed and the latest value of each kind of progress.
    """

    delivered = Signal(frozenset, dict)

    _arrived = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._lock = threading.Lock()
        self._tables: set[str] = set()
        self._progress: dict[str, object] = {}
        self._announced = False
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(NEWS_MS)
        self._timer.timeout.connect(self._deliver)
        self._arrived.connect(self._schedule, Qt.ConnectionType.QueuedConnection)

    def tell_change(self, tables: frozenset[str]) -> None:
        """Take the names of tables that changed, on any thread."""
        with self._lock:
            self._tables |= tables
        self._announce()

    def tell_progress(self, kind: str, progress: object) -> None:
        """Take the state of some work, on any thread; only the latest of a kind is delivered."""
        with self._lock:
            self._progress[kind] = progress
        self._announce()

    def clear(self) -> None:
        """Forget what was not delivered."""
        self._timer.stop()
        with self._lock:
            self._tables, self._progress, self._announced = set(), {}, False

    def _announce(self) -> None:
        with self._lock:
            announced, self._announced = self._announced, True
        if not announced:
            self._arrived.emit()

    def _schedule(self) -> None:
        self._timer.start()

    def _deliver(self) -> None:
        with self._lock:
            tables, self._tables = frozenset(self._tables), set()
            progress, self._progress = self._progress, {}
            self._announced = False
        if tables or progress:
            self.delivered.emit(tables, progress)


def side_by_side(calls: Sequence[Callable[[], object]]) -> None:
    """Make calls that wait for threads at the same time, so that their waits don't add up."""
    threads = [threading.Thread(target=call, name="closing") for call in calls]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
