"""Scores in words: which way is better, a point's figures, why a score failed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from app.plots.series import run_title
from banana100_core.catalog.metrics import metric

if TYPE_CHECKING:
    from collections.abc import Sequence

    from app.plots.series import Curve, FailedScore
    from banana100_core.catalog.metrics import Metric
    from banana100_core.project.records import Run


@dataclass(frozen=True, slots=True)
class AxisWords:
    """What the vertical axis shows; the typical range only where all curves share it."""

    title: str
    typical_range: tuple[float, float] | None
    better: str


def arrow(each: Metric) -> str:
    """Give an arrow in the direction of better scores."""
    return "↓" if each.lower_is_better else "↑"


def direction(each: Metric) -> str:
    """Say which way is better."""
    return "lower is better" if each.lower_is_better else "higher is better"


def axis_in_words(shown: Sequence[Metric], *, normalised: bool) -> AxisWords:
    """Name the axis of these metrics' curves."""
    if normalised:
        return AxisWords("normalised score", (0.0, 100.0), "↑ higher is better")
    ways = {f"{arrow(each)} {direction(each)}" for each in shown}
    better = ways.pop() if len(ways) == 1 else "↑ ↓ better as the legend's arrows say"
    if len(shown) == 1:
        return AxisWords(shown[0].title, (shown[0].low, shown[0].high), better)
    return AxisWords("score", None, better if shown else "")


def point_in_words(curve: Curve, index: int, *, normalised: bool, averaged: bool, several: bool) -> str:
    """Give a point's figures; with its runs' title where `several` groups of runs are shown."""
    figure = f"{curve.values[index]:.4g}"
    count = int(curve.counts[index])
    if averaged:
        figure += f" ± {curve.spread[index]:.2g} (mean of {count})" if count > 1 else " (one repeat)"
    where = f"\n{curve.group.title}" if several else ""
    kind = "normalised " if normalised else ""
    step = int(curve.steps[index])
    return f"{metric(curve.metric).title}, step {step}: {kind}{figure}{where}\n{curve.method_version}"


def failure_in_words(curve: Curve, failed: FailedScore, run: Run | None) -> str:
    """Say which score failed, and why."""
    which = f", {run_title(run)}" if run is not None else ""
    return f"{metric(curve.metric).title} has no score for step {failed.step}{which}\n{failed.reason}"
