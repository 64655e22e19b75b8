"""Reads scores off the UI thread and answers with curves; one reading at a time, of what can have changed."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from app.plots.series import Curve, Question, ScoreTable, chosen_version, curves
from banana100_core.project.scores import step_scores

if TYPE_CHECKING:
    from app.session import Session
    from banana100_core.project import Project
    from banana100_core.scoring.methods import MetricStatus


@dataclass(frozen=True, slots=True)
class Answer:
    """Curves for a question, and of every metric asked for which method versions there are."""

    question: Question
    curves: list[Curve]
    versions: dict[str, list[str]]
    shown_versions: dict[str, str]
    scored: list[str]  # metrics that have a row for these runs, among those read


@dataclass(slots=True)
class _Reading:
    """What was read of some runs; handed to the background for one answer at a time."""

    project: Project
    run_ids: tuple[int, ...]
    table: ScoreTable = field(default_factory=ScoreTable)
    metrics: set[str] = field(default_factory=set)
    everything: bool = False


class ScoreSource(QObject):
    """Answers the latest question; earlier ones that were not begun are dropped."""

    answered = Signal(object)
    statuses_read = Signal(object)

    def __init__(self, session: Session, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._reading: _Reading | None = None
        self._question: Question | None = None
        self._asked = self._busy = self._stale = False
        self.statuses: dict[str, MetricStatus] = {}
        session.scores_updated.connect(self._scores_changed)
        session.project_closed.connect(self._forget)

    @property
    def settled(self) -> bool:
        """Whether the latest question has its answer."""
        waiting = (self._asked or self._stale) and self._question is not None
        return not self._busy and not (waiting and self._session.project is not None)

    @property
    def ready(self) -> dict[str, str]:
        """Metrics that can score here, with the method version they would use."""
        return {key: each.method_version for key, each in self.statuses.items() if each.method_version}

    def read_statuses(self) -> None:
        """Find out which metrics can score here."""
        from banana100_core.scoring.methods import statuses

        self._session.in_background(statuses, self._take_statuses)

    def ask(self, question: Question) -> None:
        """Ask for curves; `answered` follows."""
        self._question = question
        self._asked = True
        self._go_on()

    def _scores_changed(self) -> None:
        self._stale = True
        self._go_on()

    def _forget(self) -> None:
        self._reading = self._question = None
        self._asked = self._busy = self._stale = False

    def _take_statuses(self, statuses: dict[str, MetricStatus]) -> None:
        self.statuses = statuses
        self.statuses_read.emit(statuses)

    def _go_on(self) -> None:
        project, question = self._session.project, self._question
        if self._busy or project is None or question is None or not (self._asked or self._stale):
            return
        reading = self._reading
        if reading is None or reading.project is not project or reading.run_ids != question.run_ids:
            reading = self._reading = _Reading(project, question.run_ids)
        counts = self._image_counts(question.run_ids)
        ready, stale = self.ready, self._stale
        self._busy, self._asked, self._stale = True, False, False
        self._session.in_background(
            lambda: _answer(reading, question, ready, counts, stale=stale),
            lambda answer: self._take(reading, answer),
            self._give_up,
            once=True,
        )

    def _give_up(self) -> None:
        """What was read of a table may be half of it."""
        self._reading, self._busy = None, False
        self._go_on()

    def _take(self, reading: _Reading, answer: Answer) -> None:
        if reading.project is not self._session.project:
            return
        self._busy = False
        if reading is self._reading:
            self.answered.emit(answer)
        self._go_on()

    def _image_counts(self, run_ids: tuple[int, ...]) -> dict[int, int]:
        """How many images each run has: the initial one and those of its finished steps."""
        return {run.id: run.steps_done + 1 for run in self._session.runs if run.id in run_ids}


def _answer(
    reading: _Reading, question: Question, ready: dict[str, str], counts: dict[int, int], *, stale: bool
) -> Answer:
    table = reading.table
    wanted = _to_read(reading, question, ready, counts, stale=stale)
    if wanted is None or wanted:
        found = step_scores(reading.project, question.run_ids, wanted)
        table.replace(found, wanted)
        if stale:  # what was not read now may be out of date
            reading.everything, reading.metrics = False, set(question.metrics)
        reading.everything |= wanted is None
        reading.metrics.update(wanted or ())
    metrics = question.metrics or tuple(table.metrics())
    versions = {metric: table.versions(metric) for metric in metrics}
    shown = {metric: chosen_version(table, question, metric, ready) for metric in metrics}
    return Answer(
        question,
        curves(table, question, ready),
        versions,
        {metric: version for metric, version in shown.items() if version},
        table.metrics(),
    )


def _to_read(
    reading: _Reading, question: Question, ready: dict[str, str], counts: dict[int, int], *, stale: bool
) -> tuple[str, ...] | None:
    """Metrics to read (None: all). While scores arrive, those that are complete are not read again.

    A question without metrics asks what there is, to choose from.
    """
    if not question.run_ids:
        return ()
    if not question.metrics:
        return None if stale or not reading.everything else ()
    unread = tuple(m for m in question.metrics if m not in reading.metrics and not reading.everything)
    if not stale:
        return unread
    incomplete = tuple(
        metric
        for metric in question.metrics
        if not reading.table.complete(metric, _version(reading, question, metric, ready), counts)
    )
    # Nothing is incomplete, yet something changed: a method version came, or scores were forgotten.
    return incomplete or question.metrics


def _version(reading: _Reading, question: Question, metric: str, ready: dict[str, str]) -> str:
    return chosen_version(reading.table, question, metric, ready) or ""
