"""Commands about scores: metrics, weights, score."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from banana100_core.cli.console import AsJson, complain, count, plain, say, say_json, table
from banana100_core.cli.display import WorkDisplay, wait_for
from banana100_core.cli.exits import Exit
from banana100_core.cli.options import Metrics, ProjectFile, Runs
from banana100_core.errors import MetricError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from banana100_core.project import Project
    from banana100_core.scoring.pool import ScoringPool, ScoringProgress

weights = typer.Typer(help="Weights of learned metrics.", no_args_is_help=True, rich_markup_mode=None)


def metrics(
    project: Annotated[
        Path | None,
        typer.Argument(metavar="PROJECT", help="Count this project's scores too.", show_default=False),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Show the 23 metrics.

    Typical range, direction, what computes them, weights that are missing and where to put them.
    """
    from banana100_core.catalog.metrics import metrics as catalog
    from banana100_core.scoring.methods import State, statuses

    found = statuses()
    scored = _scored(project) if project else {}
    rows = [(metric, found[key]) for key, metric in catalog().items()]
    if as_json:
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
                    "state": status.state,
                    "backend": status.backend,
                    "method_version": status.method_version,
                    "reason": status.reason,
                    "way_out": status.way_out,
                    "weights": metric.weights,
                    **({"scored": scored.get(metric.key, 0)} if project else {}),
                }
                for metric, status in rows
            ]
        )
        return
    headings = ["METRIC", "TITLE", "RANGE", "BETTER", "BACKEND", "STATE", *(["SCORED"] if project else [])]
    say(
        table(
            headings,
            [
                (
                    metric.key,
                    metric.title,
                    f"{metric.low:g} to {metric.high:g}",
                    "lower" if metric.lower_is_better else "higher",
                    status.backend,
                    status.state,
                    *([scored.get(metric.key, 0)] if project else []),
                )
                for metric, status in rows
            ],
            numbers={"SCORED"},
        )
    )
    for metric, status in rows:
        if status.state is not State.READY:
            say()
            say(f"{metric.key}: {plain(status.reason)}")
            for line in status.way_out.splitlines():
                say(f"  {plain(line)}")


def _scored(path: Path) -> dict[str, int]:
    from banana100_core.project import Project
    from banana100_core.project.summary import summary

    counts: dict[str, int] = {}
    with Project.open(path, read_only=True) as project:
        for row in summary(project).scores:
            counts[row.metric] = counts.get(row.metric, 0) + row.scored
    return counts


def score(
    project: ProjectFile,
    metric: Metrics = None,
    run: Runs = None,
    device: Annotated[
        list[str] | None,
        typer.Option(metavar="DEVICE", help="cpu, cuda:0, mps ...; can be repeated.", show_default="all"),
    ] = None,
    max_memory: Annotated[
        float | None,
        typer.Option(min=0.5, metavar="GB", help="Memory of each device to use.", show_default="most of it"),
    ] = None,
    backend: Annotated[
        str | None, typer.Option(metavar="BACKEND", help="Only metrics that this backend computes.")
    ] = None,
    retry: Annotated[bool, typer.Option("--retry", help="Try again what failed before.")] = False,
    as_json: AsJson = False,
) -> None:
    """Score every image that has no score yet.

    Scores that were made before are kept; what failed before stays failed unless --retry is given.
    """
    from banana100_core.project import Project
    from banana100_core.project.runs import run as find_run
    from banana100_core.project.scores import forget_failed
    from banana100_core.scoring.pool import ScoringPool

    methods = _methods(metric, backend)
    with Project.open(project) as opened:
        for run_id in run or ():
            find_run(opened, run_id)
        for key in methods if retry else ():
            forget_failed(opened, key)
        memory = None if max_memory is None else int(max_memory * 1e9)
        pool = ScoringPool(opened, metrics=list(methods), devices=device or None, max_memory=memory)
        _work(pool, run or None)
        outcome = _Outcome.of(opened, methods, run or None)
    if as_json:
        say_json(outcome)
    else:
        say(
            table(
                ["METRIC", "SCORED", "FAILED", "METHOD VERSION"],
                [(row.metric, row.scored, row.failed, row.method_version) for row in outcome.metrics],
                numbers={"SCORED", "FAILED"},
            )
        )
    for failure in outcome.failures:
        where = f"{failure.initial_image}, repeat {failure.repeat}, step {failure.step}"
        complain(f"{where} (run {failure.run_id}): {failure.metric}: {failure.reason}")
    if outcome.unscored:
        complain(f"{count(outcome.unscored, 'image')} could not be scored; see above, and try again")
    if outcome.failures or outcome.unscored:
        raise typer.Exit(Exit.SOME_FAILED)


def _methods(metrics: Sequence[str] | None, backend: str | None) -> dict[str, str]:
    """Method versions of the metrics asked for, by metric; MetricError when one can't score."""
    from banana100_core.catalog.metrics import metric as find_metric
    from banana100_core.scoring.methods import State, statuses

    found = statuses()
    for key in metrics or ():
        find_metric(key)
        if found[key].state is not State.READY:
            raise MetricError(f"{key} can't score: {found[key].reason} {found[key].way_out}")
    methods = {
        key: status.method_version
        for key, status in found.items()
        if status.method_version is not None
        and status.state is State.READY
        and (not metrics or key in metrics)
        and backend in {None, status.backend}
    }
    if not methods:
        known = ", ".join(sorted({status.backend for status in found.values()}))
        raise MetricError(f"No metric is left to score with. Backends are: {known}; see `banana100 metrics`.")
    return methods


def _work(pool: ScoringPool, run_ids: Sequence[int] | None) -> None:
    with WorkDisplay("scoring") as display:

        def show(progress: ScoringProgress) -> None:
            failed = f"{progress.failed:,} failed" if progress.failed else ""
            display(
                progress.done, progress.total, failed, rate=progress.rate, seconds_left=progress.seconds_left
            )

        unsubscribe = pool.subscribe(show)
        try:
            pool.start()
            pool.request_missing(run_ids)
            wait_for(pool)
        except KeyboardInterrupt:
            pool.cancel()
            raise
        finally:
            unsubscribe()
            pool.close()


@dataclass(frozen=True, slots=True)
class _MetricCount:
    metric: str
    method_version: str
    scored: int
    failed: int


@dataclass(frozen=True, slots=True)
class _Failure:
    run_id: int
    initial_image: str
    repeat: int
    step: int
    metric: str
    reason: str


@dataclass(frozen=True, slots=True)
class _Outcome:
    metrics: list[_MetricCount]
    failures: list[_Failure]
    unscored: int

    @classmethod
    def of(cls, project: Project, methods: dict[str, str], run_ids: Sequence[int] | None) -> _Outcome:
        from banana100_core.project.runs import run as find_run
        from banana100_core.project.scores import step_scores, unscored_images

        scores = [
            row
            for row in step_scores(project, run_ids, list(methods))
            if row.method_version == methods[row.metric]
        ]
        failed = [row for row in scores if row.score is None]
        runs = {run_id: find_run(project, run_id) for run_id in {row.run_id for row in failed}}
        return cls(
            metrics=[
                _MetricCount(
                    key,
                    version,
                    len({row.image_sha256 for row in scores if row.metric == key and row.score is not None}),
                    len({row.image_sha256 for row in failed if row.metric == key}),
                )
                for key, version in methods.items()
            ],
            failures=[
                _Failure(
                    row.run_id,
                    runs[row.run_id].initial_image,
                    runs[row.run_id].repeat,
                    row.step,
                    row.metric,
                    row.error or "",
                )
                for row in failed
            ],
            unscored=len(unscored_images(project, methods, run_ids)),
        )
