"""The small curves beside runs: one metric's normalised scores over steps.

Those of the rows on screen are read first, the others ahead of need: while somebody scrolls, nothing is read.
"""

from __future__ import annotations

import contextlib
import math
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer, Signal

from banana100_core.catalog.metrics import metrics
from banana100_core.errors import BananaError
from banana100_core.project.run_facts import run_curves, scores_by_metric

if TYPE_CHECKING:
    from app.session import Session
    from banana100_core.project import Project

_NO_SPAN = (0.0, 100.0)

REST_MS = 1000
"""Scores arrive by the dozen a second; curves this small need not follow each of them."""
AHEAD = 32
"""So many runs are read at a time ahead of need."""


@dataclass(frozen=True)
class Curve:
    """Points of a curve as (step, normalised score), in order of steps."""

    metric: str
    points: tuple[tuple[int, float], ...]

    @cached_property
    def span(self) -> tuple[float, float]:
        """Lowest and highest point."""
        values = [value for _step, value in self.points]
        return min(values), max(values)


@dataclass(slots=True)
class _Reading:
    run_ids: list[int]
    metric: str | None
    curves: dict[int, Curve] = field(default_factory=dict)


class Sparklines(QObject):
    """Answers at once with the curve it has; asks for a newer one in the background."""

    updated = Signal(object)
    """Carries the ids of the runs whose curves have changed, or None when all may look different."""

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self._session = session
        self._metric: str | None = None
        self._curves: dict[int, Curve] = {}
        self._span = _NO_SPAN
        self._fresh: set[int] = set()
        self._wanted: set[int] = set()
        self._reads = False
        self._reading = QTimer(self)
        self._reading.setSingleShot(True)
        self._reading.timeout.connect(self._read)
        self._resting = QTimer(self)
        self._resting.setSingleShot(True)
        self._resting.setInterval(REST_MS)
        self._resting.timeout.connect(self._age)
        for changed in (session.scores_updated, session.steps_updated):
            changed.connect(self._rest)
        session.project_closed.connect(self._forget)
        session.blinding_changed.connect(lambda: self.updated.emit(None))

    @property
    def metric(self) -> str | None:
        """The metric shown; None until there are scores, and while they are hidden."""
        return None if self._session.blinding.scores else self._metric

    @property
    def span(self) -> tuple[float, float]:
        """Lowest and highest point of all curves, so that runs are drawn on one scale."""
        return self._span

    def curve(self, run_id: int) -> Curve | None:
        """The curve of a run as far as it is known; none while scores are hidden."""
        if self._session.blinding.scores:
            return None
        if run_id not in self._fresh and run_id not in self._wanted:
            self._wanted.add(run_id)
            self._reading.start(0)
        return self._curves.get(run_id)

    @property
    def settled(self) -> bool:
        """Whether all that was asked for has been read."""
        return not self._wanted and not self._resting.isActive()

    def _rest(self) -> None:
        if not self._resting.isActive():
            self._resting.start()

    def _age(self) -> None:
        """Have the curves on screen asked for again."""
        self._fresh.clear()
        self.updated.emit(None)

    def _forget(self) -> None:
        self._reading.stop()
        self._resting.stop()
        self._reads = False
        self._metric = None
        self._curves.clear()
        self._span = _NO_SPAN
        self._fresh.clear()
        self._wanted.clear()

    def _read(self) -> None:
        project, metric = self._session.project, self._metric
        if project is None or self._reads:
            return
        runs = sorted(self._wanted) or self._ahead()
        if runs:
            self._reads = True
            self._session.in_background(
                lambda: _read(project, runs, metric), self._take, lambda: self._end_reading(runs), once=True
            )

    def _ahead(self) -> list[int]:
        """Runs that were never read; what has changed since is read when it is on screen again."""
        if self._metric is None or self._session.blinding.scores:
            return []
        ids = (run.id for run in self._session.runs)
        unread = (run_id for run_id in ids if run_id not in self._curves and run_id not in self._fresh)
        return list(islice(unread, AHEAD))

    def _end_reading(self, runs: list[int]) -> None:
        """What failed is asked for again when scores come."""
        self._reads = False
        self._fresh.update(runs)
        self._wanted.difference_update(runs)
        self._reading.start(0)

    def _take(self, reading: _Reading) -> None:
        changed = {run_id for run_id, curve in reading.curves.items() if self._curves.get(run_id) != curve}
        before = self._metric, self._span
        self._end_reading(reading.run_ids)
        self._metric = reading.metric
        self._curves.update(reading.curves)
        spans = [curve.span for curve in self._curves.values() if curve.points]
        self._span = (
            _wide(min(low for low, _ in spans), max(high for _, high in spans)) if spans else _NO_SPAN
        )
        if (self._metric, self._span) != before:
            self.updated.emit(None)
        elif changed:
            self.updated.emit(changed)


def _wide(low: float, high: float) -> tuple[float, float]:
    """The span that holds a curve, rounded outwards so that a further curve seldom changes all others."""
    unit = 10 ** math.floor(math.log10(high - low)) / 2 if high > low else 1.0
    return math.floor(low / unit) * unit, math.ceil(high / unit) * unit


def _read(project: Project, run_ids: list[int], metric: str | None) -> _Reading:
    """What can't be read has no curve for now: it is asked for again when scores come."""
    reading = _Reading(run_ids, metric)
    with contextlib.suppress(BananaError):
        reading.metric = metric = metric or _metric_to_show(project, run_ids)
        if metric is not None:
            found = run_curves(project, run_ids, metric)
            reading.curves = {run_id: Curve(metric, tuple(found.get(run_id, ()))) for run_id in run_ids}
    return reading


def _metric_to_show(project: Project, run_ids: list[int]) -> str | None:
    """The metric with most scores in the first run that has any; the catalog's order decides a tie."""
    order = {key: place for place, key in enumerate(metrics())}
    for run_id in run_ids:
        counts = scores_by_metric(project, run_id)
        if counts:
            return min(counts, key=lambda key: (-counts[key], order.get(key, len(order))))
    return None
