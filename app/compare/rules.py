"""Which step a pane shows: each pane has a rule, and follows the current step by it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from banana100_core.catalog.models import model_title

if TYPE_CHECKING:
    from collections.abc import Sequence

    from app.blinding import Blinding
    from app.session import Session
    from banana100_core.project.records import Run, Step

CURRENT_PANE = 1
PANE_COUNT = 4


class Shows(StrEnum):
    """What a pane shows when the current step changes."""

    CURRENT = "current"
    INITIAL = "initial"
    FIRST = "first"
    PREVIOUS = "previous"
    PINNED = "pinned"
    OTHER_RUN = "other-run"


@dataclass(frozen=True, slots=True)
class Rule:
    """A pane's rule; `number` belongs to a pinned step, `run_id` to the same step of another run."""

    shows: Shows
    number: int = 0
    run_id: int | None = None

    @property
    def role(self) -> str:
        """In few words why a pane shows what it shows."""
        return {
            Shows.INITIAL: "reference",
            Shows.FIRST: "reference",
            Shows.PREVIOUS: "the step before",
            Shows.PINNED: "pinned",
        }.get(self.shows, "")


FIRST_RULES = (Rule(Shows.FIRST), Rule(Shows.CURRENT), Rule(Shows.PREVIOUS), Rule(Shows.INITIAL))


def ruled_number(rule: Rule, steps: Sequence[Step], current: int) -> int:
    """The number of the step that a rule asks for; the nearest to it there is."""
    numbers = [step.number for step in steps]
    if not numbers:
        return 0
    if rule.shows is Shows.PREVIOUS:
        return max((number for number in numbers if number < current), default=numbers[0])
    wanted = {Shows.INITIAL: 0, Shows.FIRST: 1, Shows.PINNED: rule.number}.get(rule.shows, current)
    return min(numbers, key=lambda number: abs(number - wanted))


def run_title(run: Run) -> str:
    """What tells a run from the others."""
    parts = (run.initial_image, run.protocol, model_title(run.provider, run.model), f"repeat {run.repeat}")
    return " · ".join(part for part in (*parts, run.branch) if part)


class PaneSteps(QObject):
    """The rules of all panes and the steps that they come to; steps of other runs are read when needed."""

    changed = Signal()
    """A rule is another, or the steps of another run have arrived."""

    def __init__(self, session: Session, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._rules = list(FIRST_RULES)
        self._others: dict[int, list[Step]] = {}
        session.runs_updated.connect(self._read_others)
        session.project_closed.connect(self._forget)

    def rule(self, pane: int) -> Rule:
        """The rule of a pane."""
        return self._rules[pane]

    def set_rule(self, pane: int, rule: Rule) -> None:
        """Give a pane another rule."""
        if rule == self._rules[pane]:
            return
        self._rules[pane] = rule
        if rule.run_id is not None and rule.run_id not in self._others:
            self._read(rule.run_id)
        self.changed.emit()

    def number(self, pane: int) -> int:
        """The number of the step that a pane shows."""
        return ruled_number(self._rules[pane], self._session.steps, self._session.step)

    def step(self, pane: int) -> Step | None:
        """The step that a pane shows, if it is known."""
        run_id = self._rules[pane].run_id
        if run_id is None:
            return self._session.step_numbered(self.number(pane))
        others = self._others.get(run_id, [])
        return next((step for step in others if step.number == self._session.step), None)

    def missing(self, pane: int) -> str:
        """Why a pane shows no step, if the other run has none of this number."""
        run_id = self._rules[pane].run_id
        if run_id is None or run_id not in self._others or self.step(pane) is not None:
            return ""
        run = self.other_run(pane)
        blinding = self._session.blinding
        name = run_title(blinding.of_run(run)) if run else "The other run"
        which = "such step" if blinding.steps else f"step {self._session.step}"
        return f"No {which} here\n\n{name} has no step of this number."

    def other_run(self, pane: int) -> Run | None:
        """The run that a pane shows in place of the current one."""
        run_id = self._rules[pane].run_id
        return next((run for run in self._session.runs if run.id == run_id), None)

    @property
    def blinding(self) -> Blinding:
        """What is not to be told of steps and runs."""
        return self._session.blinding

    def runs_to_choose(self) -> tuple[list[Run], list[Run]]:
        """All other runs: those of the same initial image, then the rest."""
        here = self._session.run
        if here is None:
            return [], []
        others = [run for run in self._session.runs if run.id != here.id]
        same = [run for run in others if run.initial_image == here.initial_image]
        return same, [run for run in others if run.initial_image != here.initial_image]

    def _read(self, run_id: int) -> None:
        from banana100_core.project.runs import steps

        project = self._session.project
        if project is None:
            return

        def take(found: list[Step]) -> None:
            if found != self._others.get(run_id):
                self._others[run_id] = found
                self.changed.emit()

        self._session.in_background(lambda: steps(project, run_id), take)

    def _read_others(self) -> None:
        for run_id in {rule.run_id for rule in self._rules if rule.run_id is not None}:
            self._read(run_id)

    def _forget(self) -> None:
        self._others.clear()
        self._rules = [
            first if rule.run_id is not None else rule
            for rule, first in zip(self._rules, FIRST_RULES, strict=True)
        ]
