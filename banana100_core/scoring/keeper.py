"""Stores scores in small batches: one transaction for what came in a moment, and no score waits for long."""

from __future__ import annotations

import logging
import threading
from typing import TYPE_CHECKING

from banana100_core.errors import ProjectError
from banana100_core.project.scores import add_scores

if TYPE_CHECKING:
    from collections.abc import Callable

    from banana100_core.project import Project
    from banana100_core.project.records import NewScore

BATCH_SECONDS = 0.25

log = logging.getLogger(__name__)


class Keeper:
    """A thread that stores scores; `stored` hears of those on disk, `lost` of those that can't be stored."""

    def __init__(
        self,
        project: Project,
        stored: Callable[[list[NewScore]], None],
        lost: Callable[[list[NewScore], str], None],
    ) -> None:
        self._project = project
        self._stored = stored
        self._lost = lost
        self._condition = threading.Condition()
        self._waiting: list[NewScore] = []
        self._closing = False
        self._thread = threading.Thread(target=self._run, name="scoring: keeper", daemon=True)

    def start(self) -> None:
        """Begin to store."""
        self._thread.start()

    def put(self, score: NewScore) -> None:
        """Store a score soon."""
        with self._condition:
            self._waiting.append(score)
            self._condition.notify()

    def close(self) -> None:
        """Store what waits, and end."""
        with self._condition:
            self._closing = True
            self._condition.notify()
        if self._thread.is_alive():
            self._thread.join()

    def _run(self) -> None:
        while True:
            with self._condition:
                self._condition.wait_for(lambda: self._waiting or self._closing)
                if not self._waiting:
                    return
                if not self._closing:
                    self._condition.wait_for(lambda: self._closing, timeout=BATCH_SECONDS)
                batch, self._waiting = self._waiting, []
            self._store(batch)

    def _store(self, batch: list[NewScore]) -> None:
        try:
            add_scores(self._project, batch)
        except ProjectError as error:
            if len(batch) == 1:
                log.error("A score can't be stored: %s", error)  # noqa: TRY400 - the message says it all
                self._lost(batch, str(error))
                return
            # One of them may be of an image that is gone: it must not take the others with it.
            for score in batch:
                self._store([score])
        else:
            self._stored(batch)
