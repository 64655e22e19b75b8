"""When reasoning summaries begin to admit degradation (section 4.3)."""

from __future__ import annotations

import statistics
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from banana100_core.project.records import Run
    from banana100_core.project.verdicts import Verdict


@dataclass(frozen=True, slots=True)
class Admission:
    """The step of a run's first "yes", and of the first of two in a row; None where there is none."""

    run: Run
    judged: int
    first: int | None
    first_of_two: int | None


@dataclass(frozen=True, slots=True)
class AdmissionSpread:
    """Mean and sample standard deviation over the repeats that admit; sd is None for fewer than two."""

    initial_image: str
    model: str
    protocol: str
    repeats: int
    admitting: int
    mean: float | None
    sd: float | None


def first_admission(admits: Mapping[int, bool], *, in_a_row: int = 1) -> int | None:
    """The first step that begins `in_a_row` consecutive steps which all admit."""
    return next(
        (step for step in sorted(admits) if all(admits.get(step + more, False) for more in range(in_a_row))),
        None,
    )


def admissions(runs: Iterable[Run], verdicts: Iterable[Verdict]) -> list[Admission]:
    """What the verdicts of one judge say of each run that it has judged."""
    by_run: dict[int, dict[int, bool]] = {}
    for verdict in verdicts:
        by_run.setdefault(verdict.run_id, {})[verdict.step] = verdict.admits
    return [
        Admission(run, len(found), first_admission(found), first_admission(found, in_a_row=2))
        for run in runs
        if (found := by_run.get(run.id))
    ]


def admission_spreads(found: Sequence[Admission], *, of_two: bool = False) -> list[AdmissionSpread]:
    """Mean and sd over repeats, of the first "yes" or of the first of two in a row."""
    groups: dict[tuple[str, str, str], list[int | None]] = {}
    for each in found:
        key = each.run.initial_image, each.run.model, each.run.protocol
        groups.setdefault(key, []).append(each.first_of_two if of_two else each.first)
    spreads = []
    for key, steps in groups.items():
        there = [step for step in steps if step is not None]
        mean = statistics.mean(there) if there else None
        sd = statistics.stdev(there) if len(there) > 1 else None
        spreads.append(AdmissionSpread(*key, len(steps), len(there), mean, sd))
    return spreads
