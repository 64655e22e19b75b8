"""The command that lists metrics: metrics."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from banana100_core.cli.console import AsJson, columns, in_bytes, plain, say, say_json, table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from banana100_core.catalog.metrics import Metric
    from banana100_core.scoring.methods import MetricStatus


def metrics(
    project: Annotated[
        Path | None, typer.Argument(metavar="PROJECT", help="Count its scores too.", show_default=False)
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Show the 23 metrics.

    Typical range, direction, what computes them, weights that are missing and where to put them.
    """
    from banana100_core.catalog.metrics import metrics as catalog
    from banana100_core.scoring.methods import statuses

    found = statuses()
    rows = [(metric, found[key]) for key, metric in catalog().items()]
    scored = None if project is None else _scored(project)
    if as_json:
        _say_as_json(rows, scored)
        return
    say(
        table(
            [
                "METRIC",
                "TITLE",
                "RANGE",
                "BETTER",
                "BACKEND",
                "STATE",
                "WEIGHTS",
                *([] if scored is None else ["SCORED"]),
            ],
            [
                (
                    metric.key,
                    metric.title,
                    f"{metric.low:g} to {metric.high:g}",
                    "lower" if metric.lower_is_better else "higher",
                    status.backend,
                    status.state,
                    _size_of_weights(metric),
                    *([] if scored is None else [scored.get(metric.key, 0)]),
                )
                for metric, status in rows
            ],
            numbers={"WEIGHTS"} if project is None else {"WEIGHTS", "SCORED"},
        )
    )
    told = _say_weights(rows)
    _say_other_reasons([status for _, status in rows if status.metric not in told])


def _size_of_weights(metric: Metric) -> str:
    """Say how large the weights are that are there."""
    from banana100_core.scoring.weights import find

    size = sum(find(file).byte_size or 0 for file in metric.weights)
    return in_bytes(size) if size else ""


def _scored(path: Path) -> dict[str, int]:
    from banana100_core.project import Project
    from banana100_core.project.summary import summary

    counts: dict[str, int] = {}
    with Project.open(path, read_only=True) as project:
        for row in summary(project).scores:
            counts[row.metric] = counts.get(row.metric, 0) + row.scored
    return counts


def _say_as_json(rows: Sequence[tuple[Metric, MetricStatus]], scored: dict[str, int] | None) -> None:
    from banana100_core.scoring.weights import find

    say_json(
        [
            {
                "metric": metric.key,
                "title": metric.title,
                "low": metric.low,
                "high": metric.high,
                "lower_is_better": metric.lower_is_better,
                "range_note": metric.range_note,
                "smallest_side": metric.smallest_side,
                "measures": metric.measures,
                "finding": metric.finding,
                "state": status.state,
                "backend": status.backend,
                "method_version": status.method_version,
                "reason": status.reason,
                "way_out": status.way_out,
                "weights": [find(file) for file in metric.weights],
                **({} if scored is None else {"scored": scored.get(metric.key, 0)}),
            }
            for metric, status in rows
        ]
    )


def _say_weights(rows: Sequence[tuple[Metric, MetricStatus]]) -> set[str]:
    """Say which files are missing, and give the metrics that need them."""
    from banana100_core.scoring.methods import State
    from banana100_core.scoring.weights import find

    wanted: dict[tuple[str, Path], dict[tuple[str, str], list[str]]] = {}
    for metric, status in rows:
        if status.state in {State.WEIGHTS_MISSING, State.WEIGHTS_WRONG}:
            for found in map(find, metric.weights):
                if not found.usable:
                    files = wanted.setdefault((found.file.source, found.path.parent), {})
                    files.setdefault((found.file.file or found.file.name, found.state), []).append(metric.key)
    if wanted:
        say()
        say("Weights are missing. Type: banana100 weights fetch [METRIC]...")
        say("Without a network: put the files into a folder DIR and type: banana100 weights add DIR")
    for (source, folder), files in wanted.items():
        say()
        say(plain(f"from {source}"))
        say(plain(f"to   {folder}"))
        say(columns(("", *file, ", ".join(metrics)) for file, metrics in files.items()))
    return {key for files in wanted.values() for metrics in files.values() for key in metrics}


def _say_other_reasons(statuses: Sequence[MetricStatus]) -> None:
    from banana100_core.scoring.methods import State

    by_reason: dict[tuple[str, str], list[str]] = {}
    for status in statuses:
        if status.state is not State.READY:
            by_reason.setdefault((status.reason, status.way_out), []).append(status.metric)
    for (reason, way_out), keys in by_reason.items():
        say()
        say(f"{', '.join(keys)}: {plain(reason)} {plain(way_out)}")
