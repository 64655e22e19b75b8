"""What the list tells of runs beside their counts, read in the background and again after changes."""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer, Signal

from banana100_core.project.failure_modes import failure_modes
from banana100_core.project.run_facts import RunFacts, missing_scores, run_facts

if TYPE_CHECKING:
    from app.browser.listed import Listed
    from app.session import Session
    from banana100_core.project import Project
    from banana100_core.project.records import Run

REST_MS = 1000
PAUSE = 10
"""Between two readings lie so many times what one took, so that a large project is not read without end."""


@dataclass(frozen=True, slots=True)
class Reading:
    """What was read at one time; `names` are those of failure modes."""

    facts: dict[int, RunFacts] = field(default_factory=dict)
    missing: dict[int, int] = field(default_factory=dict)
    names: dict[str, str] = field(default_factory=dict)
    seconds: float = 0.0


class Facts(QObject):
    """Answers at once with what was read last."""

    updated = Signal()

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self._session = session
        self._last = Reading()
        self._entries: dict[int, Listed] = {}
        self._reads = self._stale = False
        self._rest = QTimer(self)
        self._rest.setSingleShot(True)
        self._rest.timeout.connect(self._read_if_stale)
        session.project_opened.connect(self._read)
        session.project_closed.connect(self._forget)
        session.blinding_changed.connect(self.updated)
        for changed in (
            session.runs_updated,
            session.scores_updated,
            session.tags_updated,
            session.reviews_updated,
        ):
            changed.connect(self._become_stale)
        self._read()

    @property
    def names(self) -> dict[str, str]:
        """Names of failure modes by key."""
        return self._last.names

    @property
    def settled(self) -> bool:
        """Whether all that has changed has been read."""
        return not self._reads and not self._stale

    def entries(self, runs: list[Run]) -> list[Listed]:
        """The entries of runs; those in which nothing has changed are the same objects as before."""
        from app.browser.listed import listed

        entries = {}
        blinding = self._session.blinding
        for each in runs:
            facts, missing = self._last.facts.get(each.id), self._last.missing.get(each.id, 0)
            run = blinding.of_run(each)
            if blinding.scores:
                facts, missing = replace(facts or RunFacts(), scores={}), 0
            if blinding.tags:
                facts = replace(
                    facts or RunFacts(), failure_modes=(), annotators=(), reviews=frozenset(), said=()
                )
                run = replace(run, tag_count=0)
            before = self._entries.get(run.id)
            same = before is not None and before.run == run and before.missing == missing
            if before is None or not same or before.facts != (facts or RunFacts()):
                before = listed(run, facts, missing, self._last.names)
            entries[run.id] = before
        self._entries = entries
        return list(entries.values())

    def _become_stale(self) -> None:
        self._stale = True
        if not self._reads and not self._rest.isActive():
            self._rest.start(REST_MS)

    def _read_if_stale(self) -> None:
        if self._stale:
            self._read()

    def _read(self) -> None:
        project = self._session.project
        if project is not None and not self._reads:
            self._reads, self._stale = True, False
            self._session.in_background(lambda: _read(project), self._take, self._end_reading, once=True)

    def _end_reading(self, seconds: float = 0.0) -> None:
        self._reads = False
        if self._stale:
            self._rest.start(max(REST_MS, round(1000 * PAUSE * seconds)))

    def _take(self, reading: Reading) -> None:
        renamed = reading.names != self._last.names
        self._last = reading
        self._end_reading(reading.seconds)
        if renamed:
            self._entries.clear()
        self.updated.emit()

    def _forget(self) -> None:
        self._rest.stop()
        self._last = Reading()
        self._entries.clear()
        self._reads = self._stale = False


def _read(project: Project) -> Reading:
    begun = time.perf_counter()
    facts, missing = run_facts(project), missing_scores(project)
    names = {mode.key: mode.name for mode in failure_modes(project)}
    return Reading(facts, missing, names, time.perf_counter() - begun)
