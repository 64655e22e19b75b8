"""Read-only connections to a project, one for each thread."""

from __future__ import annotations

import sqlite3
import threading
import time
import weakref
from contextlib import contextmanager
from typing import TYPE_CHECKING

from banana100_core.errors import ProjectClosedError
from banana100_core.project.database import connect_read_only, explained

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

CLOSE_SECONDS = 10.0
_INTERRUPT_SECONDS = 0.05


class _Reader:
    """A thread's connection; its lock is held while the connection is in use."""

    def __init__(self, path: Path) -> None:
        self.connection = connect_read_only(path)
        self.lock = threading.RLock()
        weakref.finalize(self, self.connection.close)


class Readers:
    """Gives each thread its own connection; one that ends takes its connection with it."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._mine = threading.local()
        self._all: weakref.WeakSet[_Reader] = weakref.WeakSet()
        self._guard = threading.Lock()
        self._closed = False

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """Lend this thread's connection; what SQLite can't do comes as a ProjectError."""
        try:
            reader = self._reader()
            with reader.lock:
                self._refuse_closed()
                yield reader.connection
        except sqlite3.Error as error:
            explanation = explained(error, self._path)
            if explanation is error:
                raise
            raise explanation from error

    def close(self) -> None:
        """Interrupt the queries that run and close all connections."""
        with self._guard:
            self._closed = True
            readers = list(self._all)
            self._all.clear()
        deadline = time.monotonic() + CLOSE_SECONDS
        for reader in readers:
            # Again and again: an interruption is lost on a query that is only just about to begin.
            while time.monotonic() < deadline:
                reader.connection.interrupt()
                if reader.lock.acquire(timeout=_INTERRUPT_SECONDS):
                    reader.connection.close()
                    reader.lock.release()
                    break

    def _reader(self) -> _Reader:
        reader: _Reader | None = getattr(self._mine, "reader", None)
        if reader is None:
            self._refuse_closed()
            reader = _Reader(self._path)
            with self._guard:
                self._all.add(reader)
            self._mine.reader = reader
        return reader

    def _refuse_closed(self) -> None:
        if self._closed:
            raise ProjectClosedError(f"{self._path} was closed.")
