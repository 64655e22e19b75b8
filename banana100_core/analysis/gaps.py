"""Gaps: how much better or worse a metric finds later steps than step 1 (paper, section 4.1)."""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass
from statistics import fmean, stdev
from typing import TYPE_CHECKING

from banana100_core.catalog.metrics import metrics as catalog_metrics
from banana100_core.project.runs import runs
from banana100_core.project.scores import step_scores

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from banana100_core.project import Project
    from banana100_core.project.records import StepScore

GAP_STEPS = (5, 10, 20)
FIRST_STEP = 1


@dataclass(frozen=True, slots=True)
class Gap:
    """The gaps of one run by one method.

    `deltas` maps steps 5, 10 and 20 to the normalised score there minus that of step 1, in points of the
    typical range mapped to [0, 100], never clipped; None where a score is missing or failed. `failures`
    counts the positive ones, where the metric calls the worn picture better.
    """

    run_id: int
    initial_image: str
    model: str
    protocol: str
    repeat: int
    metric: str
    method_version: str
    deltas: dict[int, float | None]
    failures: int


@dataclass(frozen=True, slots=True)
class Spread:
    """Mean and sample standard deviation over repeats; `sd` is None for a single one."""

    mean: float
    sd: float | None
    repeats: int


@dataclass(frozen=True, slots=True)
class GapSummary:
    """The gaps of equal runs, repeats of one another, by one method; `failures` counts positive means."""

    initial_image: str
    model: str
    protocol: str
    metric: str
    method_version: str
    deltas: dict[int, Spread | None]
    failures: int


def gaps(
    project: Project, metrics: Sequence[str] | None = None, run_ids: Sequence[int] | None = None
) -> list[Gap]:
    """The gaps of every run by every method that scored it, by run and in the order of Table 2."""
    by_method: dict[tuple[int, str, str], list[StepScore]] = defaultdict(list)
    for score in step_scores(project, run_ids, metrics):
        by_method[score.run_id, score.metric, score.method_version].append(score)
    known_runs = {run.id: run for run in runs(project)}
    order = {key: place for place, key in enumerate(catalog_metrics())}
    found = []
    for run_id, metric, method_version in sorted(
        by_method, key=lambda key: (key[0], order.get(key[1], len(order)), key[2])
    ):
        run = known_runs[run_id]
        scores = by_method[run_id, metric, method_version]
        deltas = deltas_of({score.step: score.normalised for score in scores})
        found.append(
            Gap(
                run_id,
                run.initial_image,
                run.model,
                run.protocol,
                run.repeat,
                metric,
                method_version,
                deltas,
                count_failures(deltas.values()),
            )
        )
    return found


def deltas_of(normalised: Mapping[int, float | None]) -> dict[int, float | None]:
    """Gaps at steps 5, 10 and 20 from normalised scores by step."""
    first = normalised.get(FIRST_STEP)
    return {step: _difference(normalised.get(step), first) for step in GAP_STEPS}


def count_failures(deltas: Iterable[float | None]) -> int:
    """How many gaps are positive."""
    return sum(delta is not None and delta > 0 for delta in deltas)


def summarise(found: Iterable[Gap]) -> list[GapSummary]:
    """Mean and standard deviation of gaps over repeats, in the order in which equal runs first come."""
    equal_runs: dict[tuple[str, str, str, str, str], list[Gap]] = defaultdict(list)
    for gap in found:
        key = (gap.initial_image, gap.model, gap.protocol, gap.metric, gap.method_version)
        equal_runs[key].append(gap)
    summaries = []
    for key, repeats in equal_runs.items():
        deltas = {step: spread(gap.deltas[step] for gap in repeats) for step in GAP_STEPS}
        failures = count_failures(None if delta is None else delta.mean for delta in deltas.values())
        summaries.append(GapSummary(*key, deltas, failures))
    return summaries


def spread(values: Iterable[float | None]) -> Spread | None:
    """Mean and sample standard deviation of the values that are there; None without any."""
    present = [value for value in values if value is not None and math.isfinite(value)]
    if not present:
        return None
    return Spread(fmean(present), stdev(present) if len(present) > 1 else None, len(present))


def _difference(later: float | None, first: float | None) -> float | None:
    return None if later is None or first is None else later - first
