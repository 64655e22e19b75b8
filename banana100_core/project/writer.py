"""The one thread that writes to a project."""

from __future__ import annotations

import queue
import sqlite3
import threading
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from banana100_core.errors import ProjectClosedError, ProjectError
from banana100_core.listeners import Listeners
from banana100_core.project.database import explained

if TYPE_CHECKING:
    from pathlib import Path

    import sqlite_utils

T = TypeVar("T")
Listener = Callable[[frozenset[str]], None]
CLOSE_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class _Job:
    work: Callable[[sqlite_utils.Database], Any]
    changes: frozenset[str]
    future: Future[Any]


class Writer:
    """Runs each piece of work as one IMMEDIATE transaction, in the order in which it came."""

    def __init__(self, database: sqlite_utils.Database, path: Path) -> None:
        self._database = database
        self._path = path
        self._jobs: queue.SimpleQueue[_Job | None] = queue.SimpleQueue()
        self._listeners: Listeners[frozenset[str]] = Listeners(f"changes of {path}")
        self._closed = False
        self._guard = threading.Lock()
        # A daemon, so that a program which forgets to close can end: what was acknowledged is on disk.
        self._thread = threading.Thread(target=self._run, name=f"writer of {path.name}", daemon=True)
        self._thread.start()

    def submit(self, work: Callable[[sqlite_utils.Database], T], changes: frozenset[str]) -> Future[T]:
        """Queue work; its future is done once its transaction is on disk and the listeners were told."""
        future: Future[T] = Future()
        with self._guard:
            if self._closed:
                raise ProjectClosedError(f"{self._path} was closed.")
            self._jobs.put(_Job(work, changes, future))
        return future

    def write(self, work: Callable[[sqlite_utils.Database], T], changes: frozenset[str]) -> T:
        """Submit work and wait for its result, or raise its error."""
        if threading.current_thread() is self._thread:
            raise RuntimeError("write() was called on the writer thread, which would wait for itself")
        return self.submit(work, changes).result()

    def subscribe(self, listener: Listener) -> Callable[[], None]:
        """Call `listener` on the writer thread after each commit; returns how to end that."""
        return self._listeners.subscribe(listener)

    def close(self, timeout: float = CLOSE_SECONDS) -> None:
        """Finish what was queued and end the thread; ProjectError if that takes over `timeout` seconds."""
        with self._guard:
            if not self._closed:
                self._closed = True
                self._jobs.put(None)
        self._thread.join(timeout)
        if self._thread.is_alive():
            raise ProjectError(
                f"{self._path} is still being written after {timeout:g} s. "
                "Finished work is safe; wait, then close it again."
            )

    def _run(self) -> None:
        while (job := self._jobs.get()) is not None:
            if not job.future.set_running_or_notify_cancel():
                continue
            try:
                result = self._transaction(job.work)
            except sqlite3.Error as error:
                job.future.set_exception(explained(error, self._path))
            except BaseException as error:  # noqa: BLE001 - it belongs to whoever waits for the work
                job.future.set_exception(error)
            else:
                if job.changes:
                    self._listeners.tell(job.changes)
                job.future.set_result(result)
            del job  # else its image bytes would stay until the next one comes

    def _transaction(self, work: Callable[[sqlite_utils.Database], T]) -> T:
        connection = self._database.conn
        connection.execute("BEGIN IMMEDIATE")
        try:
            result = work(self._database)
            connection.execute("COMMIT")
        except BaseException:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise
        return result
