"""Scores as curves over steps: one curve for each metric and group of runs, repeats averaged. No Qt here."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from banana100_core.project.records import Run, StepScore


@dataclass(frozen=True, slots=True)
class Group:
    """Runs that make one curve: a single run, or all repeats of an initial image, model and protocol."""

    title: str
    run_ids: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Question:
    """What the plot shows; `versions` gives the method version of a metric where one was chosen."""

    metrics: tuple[str, ...]
    groups: tuple[Group, ...]
    normalised: bool = True
    versions: tuple[tuple[str, str], ...] = ()

    @property
    def run_ids(self) -> tuple[int, ...]:
        """Every run that takes part, each once."""
        return tuple(dict.fromkeys(run_id for group in self.groups for run_id in group.run_ids))


@dataclass(frozen=True, slots=True)
class FailedScore:
    """A step that a metric could not score, and why."""

    run_id: int
    step: int
    reason: str


@dataclass(frozen=True, slots=True, eq=False)
class Curve:
    """One curve: float arrays of one length, NaN where nothing is known. `spread` is the sd over repeats."""

    metric: str
    method_version: str
    group: Group
    steps: np.ndarray
    values: np.ndarray
    spread: np.ndarray
    counts: np.ndarray
    failed: tuple[FailedScore, ...] = ()

    @property
    def key(self) -> tuple[str, str, tuple[int, ...]]:
        """What stays the same while points arrive."""
        return self.metric, self.method_version, self.group.run_ids

    def same_points(self, other: Curve) -> bool:
        """Tell whether drawing `other` instead would change nothing."""
        return (
            self.failed == other.failed
            and np.array_equal(self.steps, other.steps)
            and np.array_equal(self.values, other.values, equal_nan=True)
            and np.array_equal(self.spread, other.spread, equal_nan=True)
        )


@dataclass(slots=True)
class _Scores:
    """Scores of one metric, method version and run."""

    raw: dict[int, float] = field(default_factory=dict)
    normalised: dict[int, float] = field(default_factory=dict)
    failed: dict[int, str] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.raw) + len(self.failed)


class ScoreTable:
    """The scores that were read so far, by metric, method version and run."""

    def __init__(self) -> None:
        self._cells: dict[tuple[str, str], dict[int, _Scores]] = {}

    def replace(self, scores: Iterable[StepScore], metrics: Iterable[str] | None) -> None:
        """Take in what was read of `metrics` (None: of all), in place of what was known of them."""
        gone = None if metrics is None else set(metrics)
        self._cells = {
            key: runs for key, runs in self._cells.items() if gone is not None and key[0] not in gone
        }
        fresh: dict[tuple[str, str], dict[int, _Scores]] = defaultdict(lambda: defaultdict(_Scores))
        for score in scores:
            cell = fresh[score.metric, score.method_version][score.run_id]
            if score.score is None or score.normalised is None:
                cell.failed[score.step] = score.error or "no reason given"
            else:
                cell.raw[score.step] = score.score
                cell.normalised[score.step] = score.normalised
        for key, runs in fresh.items():
            self._cells[key] = dict(runs)

    def metrics(self) -> list[str]:
        """Metrics with a score or a failed score."""
        return list(dict.fromkeys(metric for metric, _ in self._cells))

    def versions(self, metric: str) -> list[str]:
        """Method versions that a metric was scored with, sorted."""
        return sorted(version for name, version in self._cells if name == metric)

    def count(self, metric: str, version: str) -> int:
        """How many scores and failed scores there are."""
        return sum(map(len, self._cells.get((metric, version), {}).values()))

    def complete(self, metric: str, version: str, images: Mapping[int, int]) -> bool:
        """Tell whether every run has as many scores as `images` counts for it."""
        runs = self._cells.get((metric, version), {})
        return bool(images) and all(len(runs.get(run_id, ())) >= count for run_id, count in images.items())

    def curve(self, metric: str, version: str, group: Group, *, normalised: bool) -> Curve | None:
        """Average a group's runs over each step; None when none of them has a row."""
        runs = self._cells.get((metric, version), {})
        found = [(run_id, runs[run_id]) for run_id in group.run_ids if run_id in runs]
        if not found:
            return None
        points = [cell.normalised if normalised else cell.raw for _, cell in found]
        steps = np.array(sorted(set().union(*points)), dtype=np.float64)
        table = np.full((len(points), len(steps)), np.nan)
        for row, known in enumerate(points):
            if known:
                columns = np.searchsorted(steps, np.fromiter(known, np.float64, len(known)))
                table[row, columns] = np.fromiter(known.values(), np.float64, len(known))
        values, spread, counts = mean_and_spread(table)
        failed = tuple(
            FailedScore(run_id, step, reason)
            for run_id, cell in found
            for step, reason in sorted(cell.failed.items())
        )
        return Curve(metric, version, group, *_with_breaks(steps, values, spread, counts), failed)


def mean_and_spread(table: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Mean, sample sd (NaN below two values) and count down the columns of `table`, ignoring NaN."""
    counts = np.count_nonzero(~np.isnan(table), axis=0)
    filled = np.nan_to_num(table, nan=0.0)
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = filled.sum(axis=0) / counts
        deviation = np.where(np.isnan(table), 0.0, table - mean)
        spread = np.sqrt((deviation**2).sum(axis=0) / (counts - 1))
    spread[counts < 2] = np.nan
    return mean, spread, counts


def chosen_version(
    table: ScoreTable, question: Question, metric: str, ready: Mapping[str, str]
) -> str | None:
    """Give the method version to show: the chosen one, else the one that scores now, else the commonest."""
    known = table.versions(metric)
    for wanted in (dict(question.versions).get(metric), ready.get(metric)):
        if wanted in known:
            return wanted
    return max(known, key=lambda version: (table.count(metric, version), version), default=None)


def curves(table: ScoreTable, question: Question, ready: Mapping[str, str]) -> list[Curve]:
    """Every curve that the question asks for and the table has."""
    found = []
    for metric in question.metrics:
        version = chosen_version(table, question, metric, ready)
        if version is None:
            continue
        for group in question.groups:
            curve = table.curve(metric, version, group, normalised=question.normalised)
            if curve is not None:
                found.append(curve)
    return found


def run_title(run: Run) -> str:
    """Name a run by all that tells it from others."""
    return " · ".join(_title_parts(run))


def repeats_of(run: Run, runs: Sequence[Run]) -> tuple[int, ...]:
    """Give the runs that repeat `run`, itself included: same initial image, model, protocol and branch."""
    return tuple(other.id for other in runs if _setting(other) == _setting(run))


def groups_for(
    shown: Sequence[Run],
    runs: Sequence[Run],
    *,
    averaged: bool,
    told: Callable[[Run], Run] = lambda run: run,
) -> tuple[Group, ...]:
    """Give one group for each run shown, or for each set of repeats among them.

    `told` gives a run as its title may tell of it.
    """
    members = {run.id: repeats_of(run, runs) if averaged else (run.id,) for run in shown}
    first = {members[run.id]: run for run in reversed(shown)}
    parts = {run_ids: _title_parts(told(run))[: -1 if averaged else 4] for run_ids, run in first.items()}
    order = dict.fromkeys(members[run.id] for run in shown)
    return tuple(Group(_short_title(parts[run_ids], list(parts.values())), run_ids) for run_ids in order)


def _title_parts(run: Run) -> list[str]:
    return [run.initial_image, run.model, run.protocol, f"r{run.repeat}"]


def _short_title(parts: list[str], others: list[list[str]]) -> str:
    """Leave out what all have in common, but for the initial image."""
    told = [
        part for place, part in enumerate(parts) if place == 0 or len({each[place] for each in others}) > 1
    ]
    return " · ".join(told)


def _setting(run: Run) -> tuple[str, str, str, str, str]:
    return run.initial_image, run.provider, run.model, run.protocol, run.branch


def _with_breaks(
    steps: np.ndarray, values: np.ndarray, spread: np.ndarray, counts: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Put a NaN where steps are missing, so that no line bridges what is not known."""
    gaps = np.flatnonzero(np.diff(steps) > 1) + 1
    if not len(gaps):
        return steps, values, spread, counts
    return (
        np.insert(steps, gaps, steps[gaps] - 0.5),
        np.insert(values, gaps, np.nan),
        np.insert(spread, gaps, np.nan),
        np.insert(counts, gaps, 0),
    )
