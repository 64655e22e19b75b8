"""Which step a pane shows: each pane has a rule, and follows the current step by it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from app.stepping import nearest, place_of
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
    OTHER_MODEL = "other-model"


@dataclass(frozen=True, slots=True)
class Rule:
    """A pane's rule; `number` belongs to a pinned step, `run_id` to the same step of another run.

    `model`, a provider and its model, belongs to the same step of the run by it that is most like this one.
    """

    shows: Shows
    number: int = 0
    run_id: int | None = None
    model: tuple[str, str] | None = None

    @property
    def elsewhere(self) -> bool:
        """Whether it shows a step of another run."""
        return self.run_id is not None or self.model is not None

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
    """The number of the step that a rule asks for; the nearest to it there is of `steps`, in their order."""
    if not steps:
        return 0
    if rule.shows is Shows.PREVIOUS:
        return steps[max(place_of(steps, current) - 1, 0)].number
    wanted = {Shows.INITIAL: 0, Shows.FIRST: 1, Shows.PINNED: rule.number}.get(rule.shows, current)
    return nearest(steps, wanted)


def counterpart(runs: Sequence[Run], here: Run | None, model: tuple[str, str]) -> Run | None:
    """The run by a model from the same initial image; of the same protocol and repeat if there is one."""
    if here is None:
        return None
    like = [
        run
        for run in runs
        if run.id != here.id
        and run.initial_image == here.initial_image
        and (run.provider, run.model) == model
    ]
    return min(
        like,
        key=lambda run: (
            run.protocol != here.protocol,
            run.repeat != here.repeat,
            run.branch != here.branch,
            run.id,
        ),
        default=None,
    )


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
        for changed in (session.runs_updated, session.run_changed):
            changed.connect(self._read_others)
        session.project_closed.connect(self._forget)

    def rule(self, pane: int) -> Rule:
        """The rule of a pane."""
        return self._rules[pane]

    def set_rule(self, pane: int, rule: Rule) -> None:
        """Give a pane another rule."""
        if rule == self._rules[pane]:
            return
        self._rules[pane] = rule
        other = self.other_run(pane)
        if other is not None and other.id not in self._others:
            self._read(other.id)
        self.changed.emit()

    def number(self, pane: int) -> int:
        """The number of the step that a pane shows."""
        return ruled_number(self._rules[pane], self._session.steps, self._session.step)

    def step(self, pane: int) -> Step | None:
        """The step that a pane shows, if it is known."""
        if not self._rules[pane].elsewhere:
            return self._session.step_numbered(self.number(pane))
        other = self.other_run(pane)
        others = self._others.get(other.id, []) if other is not None else []
        return next((step for step in others if step.number == self._session.step), None)

    def name(self, pane: int) -> str:
        """What a pane's picture is called in a few words."""
        step, other = self.step(pane), self.other_run(pane)
        if self._session.blinding.steps:
            name = "Current" if pane == CURRENT_PANE else f"Pane {pane + 1}" if pane else "Reference"
        else:
            name = f"Step {self.number(pane) if step is None else step.number}"
        return name + (f" · {other.initial_image}, repeat {other.repeat}" if other else "")

    def missing(self, pane: int) -> str:
        """Why a pane shows no step, if the other run has none of this number."""
        rule, run = self._rules[pane], self.other_run(pane)
        if rule.model is not None and run is None and self._session.run is not None:
            return (
                f"No run here\n\n{model_title(*rule.model)} has no run of {self._session.run.initial_image}."
            )
        if (
            not rule.elsewhere
            or (run is not None and run.id not in self._others)
            or self.step(pane) is not None
        ):
            return ""
        blinding = self._session.blinding
        name = run_title(blinding.of_run(run)) if run else "The other run"
        which = "such step" if blinding.steps else f"step {self._session.step}"
        return f"No {which} here\n\n{name} has no step of this number."

    def other_run(self, pane: int) -> Run | None:
        """The run that a pane shows in place of the current one."""
        rule, runs = self._rules[pane], self._session.runs
        if rule.model is not None:
            return counterpart(runs, self._session.run, rule.model)
        return next((run for run in runs if run.id == rule.run_id), None)

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

    def models_to_choose(self) -> list[tuple[str, str]]:
        """The other models that have a run of this initial image; none while their names are hidden."""
        here = self._session.run
        if here is None or self._session.blinding.models:
            return []
        same, _others = self.runs_to_choose()
        models = dict.fromkeys((run.provider, run.model) for run in same)
        models.pop((here.provider, here.model), None)
        return list(models)

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
        others = (self.other_run(pane) for pane, rule in enumerate(self._rules) if rule.elsewhere)
        for run_id in {run.id for run in others if run is not None}:
            self._read(run_id)

    def _forget(self) -> None:
        self._others.clear()
        self._rules = [
            first if rule.elsewhere else rule for rule, first in zip(self._rules, FIRST_RULES, strict=True)
        ]
