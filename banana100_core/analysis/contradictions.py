"""Runs whose reasoning summaries claim success while tags or scores say failure (section 3.2)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from banana100_core.catalog.failure_modes import Level, failure_modes
from banana100_core.project.reasoning import evaluation
from banana100_core.project.records import Outcome, ReviewState
from banana100_core.project.runs import run as find_run
from banana100_core.project.runs import runs, steps
from banana100_core.project.scores import step_scores
from banana100_core.project.tags import tags

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from banana100_core.project import Project
    from banana100_core.project.records import Run, Tag
    from banana100_core.project.verdicts import Verdict

FALL = 10.0  # of a normalised score below that of step 1
_FLAW = r"(?:nois[eyi]|grain|art[ei]fact|blur|degrad|distort|tint|colou?r cast|loss|flaw|difference|error)\w*"
_DENIED = re.compile(
    rf"\b(?:(?:no|not any|without|free of|free from|zero)\s+(?:[\w-]+\s+){{0,3}}?{_FLAW}|{_FLAW}-free\b)",
    re.IGNORECASE,
)
_ADMITTED = re.compile(
    rf"\b(?:{_FLAW}|imperfect\w*|fail\w*|not (?:quite|exact\w*|perfect\w*))", re.IGNORECASE
)
_CLAIMED = re.compile(
    r"\b(?:succe(?:ss|ed)\w*|faithful\w*|identical\w*|exact\w*|perfect\w*|flawless\w*|seamless\w*|indistinguishable|"
    r"accura\w*|precise\w*|match(?:es|ed)?|fidelity|complete\w*|as requested|satisf\w*)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Fall:
    """How far a normalised score lies below that of step 1."""

    metric: str
    method_version: str
    by: float


@dataclass(frozen=True, slots=True)
class Contradiction:
    """Steps of a run whose evaluation claims success against what tags or scores say.

    What is told is of the first such step; `judged` when a judge found the claim, and not words alone.
    """

    run: Run
    steps: tuple[int, ...]
    claim: str
    judged: bool
    tags: tuple[Tag, ...]
    falls: tuple[Fall, ...]

    @property
    def step(self) -> int:
        """The first step."""
        return self.steps[0]


def claims_success(said: str) -> bool:
    """Whether words of an evaluation claim success and admit no flaw; flaws that are denied don't count."""
    denied = _DENIED.search(said) is not None
    rest = _DENIED.sub(" ", said)
    return (denied or _CLAIMED.search(rest) is not None) and _ADMITTED.search(rest) is None


def contradictions(
    project: Project,
    run_ids: Sequence[int] | None = None,
    verdicts: Iterable[Verdict] = (),
    *,
    fall: float = FALL,
) -> list[Contradiction]:
    """Find them, one for each run that has any, in the order of runs.

    `verdicts` are those of one judge; steps without one are judged by words. A step is said to have failed by
    a tag that holds there, but for rejected ones and those that are about the claim itself, or by a
    normalised score that fell by `fall` or more since step 1.
    """
    judged = {(each.run_id, each.step): not each.admits for each in verdicts}
    chosen = runs(project) if run_ids is None else [find_run(project, run_id) for run_id in run_ids]
    holding = _tags(project)
    found = (_of_run(project, run, judged, holding.get(run.id, []), fall) for run in chosen)
    return [each for each in found if each is not None]


def _of_run(
    project: Project, run: Run, judged: dict[tuple[int, int], bool], claimed: list[Tag], fall: float
) -> Contradiction | None:
    fallen = _falls(project, run.id, fall)
    if not claimed and not fallen:
        return None
    found: list[int] = []
    first: Contradiction | None = None
    for step in steps(project, run.id):
        if step.outcome is not Outcome.DONE or not step.reasoning.strip():
            continue
        there = [tag for tag in claimed if tag.onset <= step.number <= (tag.end_step or step.number)]
        falls = fallen.get(step.number, [])
        if not there and not falls:
            continue
        said = evaluation(step)
        by_judge = judged.get((run.id, step.number))
        if claims_success(said) if by_judge is None else by_judge:
            found.append(step.number)
            first = first or Contradiction(
                run,
                (),
                said,
                by_judge is not None,
                tuple(there),
                tuple(sorted(falls, key=lambda each: -each.by)),
            )
    if first is None:
        return None
    return Contradiction(run, tuple(found), first.claim, first.judged, first.tags, first.falls)


def _tags(project: Project) -> dict[int, list[Tag]]:
    about_the_claim = {mode.key for mode in failure_modes().values() if mode.level is Level.ATTRIBUTE}
    by_run: dict[int, list[Tag]] = {}
    for tag in tags(project):
        if tag.review_state is not ReviewState.REJECTED and tag.failure_mode not in about_the_claim:
            by_run.setdefault(tag.run_id, []).append(tag)
    return by_run


def _falls(project: Project, run_id: int, fall: float) -> dict[int, list[Fall]]:
    """The scores of each step that fell so far since step 1."""
    scores = [score for score in step_scores(project, [run_id]) if score.normalised is not None]
    first = {(each.metric, each.method_version): each.normalised for each in scores if each.step == 1}
    falls: dict[int, list[Fall]] = {}
    for each in scores:
        at_1 = first.get((each.metric, each.method_version))
        if at_1 is not None and each.normalised is not None and at_1 - each.normalised >= fall:
            falls.setdefault(each.step, []).append(
                Fall(each.metric, each.method_version, at_1 - each.normalised)
            )
    return falls
