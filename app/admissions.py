"""From which step reasoning summaries admit degradation, as a judge found it; shared by all panels."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from banana100_core.analysis.admission import Admission, AdmissionSpread, admission_spreads, admissions
from banana100_core.project.verdicts import Verdict, verdicts

if TYPE_CHECKING:
    from app.session import Session
    from banana100_core.project import Project
    from banana100_core.project.records import Run

Judge = tuple[str, str]  # a model and a version of its prompt

FIRST = "Reasoning summary admits degradation for the first time"
FIRST_OF_TWO = "First of two reasoning summaries in a row that admit degradation"


@dataclass(frozen=True, slots=True)
class Findings:
    """What one judge found: of each run, over repeats, and of each step."""

    judge: Judge | None = None
    judges: tuple[Judge, ...] = ()  # all there are, the one with most verdicts first
    by_run: dict[int, Admission] = field(default_factory=dict)
    spreads: tuple[AdmissionSpread, ...] = ()
    spreads_of_two: tuple[AdmissionSpread, ...] = ()
    verdicts: dict[tuple[int, int], Verdict] = field(default_factory=dict)


class Admissions(QObject):
    """Reads the verdicts of the project's judges; `changed` tells of new ones."""

    changed = Signal()

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self._session = session
        self._wanted: Judge | None = None
        self._reading = self._stale = False
        self.found = Findings()
        session.project_opened.connect(self._read)
        session.verdicts_updated.connect(self._read)
        session.project_closed.connect(self._forget)
        self._read()

    @classmethod
    def of(cls, session: Session) -> Admissions:
        """Those of a session."""
        found = session.findChild(cls)
        return found if isinstance(found, cls) else cls(session)

    @property
    def settled(self) -> bool:
        """Whether all verdicts are read."""
        return not self._reading

    def choose(self, judge: Judge) -> None:
        """Show what another judge found."""
        if judge != self.found.judge:
            self._wanted = judge
            self._read()

    def steps_of(self, run_id: int) -> list[tuple[int, str]]:
        """Steps of a run to be marked, and what each mark says."""
        admission = self.found.by_run.get(run_id)
        if admission is None:
            return []
        marks = ((admission.first, FIRST), (admission.first_of_two, FIRST_OF_TWO))
        return [(step, text) for step, text in marks if step is not None]

    def _read(self) -> None:
        project, runs, wanted = self._session.project, self._session.runs, self._wanted
        if project is None:
            return
        if self._reading:
            self._stale = True
            return
        self._reading, self._stale = True, False
        self._session.in_background(
            lambda: _find(project, runs, wanted), self._take, self._give_up, once=True
        )

    def _give_up(self) -> None:
        self._reading = False
        if self._stale:
            self._read()

    def _take(self, found: Findings) -> None:
        self._reading = False
        if found != self.found:
            self.found = found
            self.changed.emit()
        if self._stale or (self._wanted is not None and found.judge != self._wanted in found.judges):
            self._read()

    def _forget(self) -> None:
        self._wanted = None
        self._reading = self._stale = False
        self.found = Findings()
        self.changed.emit()


def _find(project: Project, runs: list[Run], wanted: Judge | None) -> Findings:
    all_verdicts = verdicts(project)
    counts = Counter((each.model, each.prompt_version) for each in all_verdicts)
    judges = tuple(judge for judge, _count in counts.most_common())
    if not judges:
        return Findings()
    judge = wanted if wanted in judges else judges[0]
    of_judge = [each for each in all_verdicts if (each.model, each.prompt_version) == judge]
    found = admissions(runs, of_judge)
    return Findings(
        judge,
        judges,
        {each.run.id: each for each in found},
        tuple(admission_spreads(found)),
        tuple(admission_spreads(found, of_two=True)),
        {(each.run_id, each.step): each for each in of_judge},
    )
