"""The command that scores: score."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from banana100_core.cli.console import AsJson, complain, count, note, say, say_json, table
from banana100_core.cli.display import WorkDisplay, wait_for
from banana100_core.cli.exits import Exit
from banana100_core.cli.options import Metrics, ProjectFile, Runs
from banana100_core.cli.terms import AcceptTerms, accept_terms, ask_for_terms
from banana100_core.errors import MetricError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from banana100_core.project import Project
    from banana100_core.scoring.pool import ScoringPool, ScoringProgress

_NAMED = 3  # metrics, while work goes on


def score(
    project: ProjectFile,
    metric: Metrics = None,
    run: Runs = None,
    device: Annotated[
        list[str] | None,
        typer.Option(
            metavar="DEVICE", help="Only this one: cpu, cuda:0 ...; can be repeated.", show_default=False
        ),
    ] = None,
    max_memory: Annotated[
        float | None,
        typer.Option(min=0.1, metavar="GB", help="Memory that each worker may use.", show_default=False),
    ] = None,
    backend: Annotated[
        str | None,
        typer.Option(
            metavar="BACKEND", help="Compute by this one: native, pyiqa or adapter.", show_default=False
        ),
    ] = None,
    yes: AcceptTerms = False,
    retry: Annotated[bool, typer.Option("--retry", help="Try again what failed before.")] = False,
    as_json: AsJson = False,
) -> None:
    """Score every image that has no score yet.

    Scores that were made before are kept; what failed before stays failed unless --retry is given.
    """
    from banana100_core.project import Project
    from banana100_core.project.runs import run as find_run
    from banana100_core.project.scores import forget_failed
    from banana100_core.scoring.devices import need_devices
    from banana100_core.scoring.pool import ScoringPool

    need_devices(device or ())
    accept_terms(asked_for=yes)
    backends = _backends(metric, backend)
    methods = _methods(metric, backends)
    with Project.open(project) as opened:
        for run_id in run or ():
            find_run(opened, run_id)
        for key in methods if retry else ():
            forget_failed(opened, key)
        pool = ScoringPool(
            opened,
            metrics=list(methods),
            devices=device or None,
            max_memory=None if max_memory is None else int(max_memory * 1e9),
            backends={key: name for key, name in backends.items() if key in methods},
            follow=False,
        )
        problem = _work(pool, run or None)
        outcome = _Outcome.of(opened, methods, run or None, problem)
    if as_json:
        say_json(outcome)
    else:
        rows = [(row.metric, row.scored, row.failed, row.method_version) for row in outcome.metrics]
        say(table(["METRIC", "SCORED", "FAILED", "METHOD VERSION"], rows, numbers={"SCORED", "FAILED"}))
    for failure in outcome.failures:
        where = f"{failure.initial_image}, repeat {failure.repeat}, step {failure.step}"
        complain(f"{where} (run {failure.run_id}): {failure.metric}: {failure.reason}")
    if outcome.failures:
        note("What failed stays so until it is tried again: --retry")
    if outcome.unscored:
        complain(f"{count(outcome.unscored, 'image')} could not be scored. {problem}")
    if outcome.failures or outcome.unscored:
        raise typer.Exit(Exit.SOME_FAILED)


def _backends(asked: Sequence[str] | None, backend: str | None) -> dict[str, str]:
    """The backend for each metric asked for, or for each that has it; none where the default will do."""
    from banana100_core.catalog.metrics import metrics
    from banana100_core.scoring.methods import available_backends

    if backend is None:
        return {}
    chosen = {key: backend for key in asked or metrics() if asked or backend in available_backends(key)}
    if not chosen:
        known = sorted({name for key in metrics() for name in available_backends(key)})
        raise MetricError(f"There is no backend {backend!r}. There are: {', '.join(known)}.")
    return chosen


def _methods(asked: Sequence[str] | None, backends: Mapping[str, str]) -> dict[str, str]:
    """Method versions of the metrics to score with; MetricError when one asked for, or none at all, can."""
    from banana100_core.catalog.metrics import metric as find_metric
    from banana100_core.scoring.methods import State, statuses
    from banana100_core.scoring.terms import WAY_OUT, TermsNotAcceptedError

    for key in asked or ():
        find_metric(key)
    found = statuses(backends)
    waiting = [key for key in asked or backends or found if found[key].state is State.TERMS]
    if waiting and ask_for_terms():
        found = statuses(backends)
    elif waiting and not asked:
        note(f"{', '.join(waiting)}: not scored, as pyiqa's terms have not been accepted. {WAY_OUT}")
    for key in asked or ():
        if found[key].method_version is None:
            kind = TermsNotAcceptedError if found[key].state is State.TERMS else MetricError
            raise kind(f"{key} can't score. {found[key].reason} {found[key].way_out}")
    methods = {
        key: status.method_version
        for key, status in found.items()
        if status.method_version is not None and key in (asked or backends or found)
    }
    if not methods:
        raise MetricError("None of these metrics can score here. `banana100 metrics` says why.")
    return methods


def _work(pool: ScoringPool, run_ids: Sequence[int] | None) -> str:
    """Score what is missing; returns why it came to a halt before its end, if it did."""
    with WorkDisplay("scoring") as display:

        def show(progress: ScoringProgress) -> None:
            display(
                progress.done,
                progress.total,
                ", ".join(
                    filter(None, [f"{progress.failed:,} failed" if progress.failed else "", _left(progress)])
                ),
                rate=progress.rate or None,
                seconds_left=progress.seconds_left,
            )

        unsubscribe = pool.subscribe(show)
        try:
            pool.start()
            pool.request_missing(run_ids)
            wait_for(pool)
            return pool.progress().problem
        finally:
            unsubscribe()
            pool.close()


def _left(progress: ScoringProgress) -> str:
    """Say which metrics are not done; of many, those that have most to do."""
    left = {key: total - done for key, (done, total) in progress.per_metric.items() if done < total}
    named = sorted(left, key=lambda key: -left[key])[:_NAMED]
    more = f" and {len(left) - _NAMED} more" if len(left) > _NAMED else ""
    return ", ".join(f"{key} {left[key]:,} left" for key in named) + more


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
    problem: str

    @classmethod
    def of(
        cls, project: Project, methods: dict[str, str], run_ids: Sequence[int] | None, problem: str
    ) -> _Outcome:
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
            problem=problem,
        )
