"""Bringing the runs of a preview into a project: in batches, so that it can be stopped and gone on with."""

from __future__ import annotations

import os
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from banana100_core.errors import ImageError
from banana100_core.exchange.preview import ImportReport, Remark
from banana100_core.exchange.scan import reason_of
from banana100_core.imaging.decode import inspect, sha256
from banana100_core.project.images import NewImage
from banana100_core.project.records import NewRun, NewStep, Outcome, RunState
from banana100_core.project.runs import add_run, add_steps, runs, steps

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from banana100_core.exchange.preview import FoundRun, FoundStep, ImportPreview
    from banana100_core.progress import Progress
    from banana100_core.project import Project
    from banana100_core.project.records import Run

MAX_FILE_BYTES = 2**30
_BATCH_STEPS = 256
_BATCH_BYTES = 128 * 2**20  # of pictures that are copied in, and so held in memory
_WORKERS = min(4, os.cpu_count() or 1)


@dataclass(frozen=True, slots=True)
class _Job:
    run: FoundRun
    step: FoundStep
    failed_before: str | None  # the reason, when the project has this step as a failed one


@dataclass(slots=True)
class _Tally:
    added: set[str] = field(default_factory=set)
    completed: set[str] = field(default_factory=set)
    steps: int = 0
    failed: list[Remark] = field(default_factory=list)


def import_runs(
    project: Project,
    preview: ImportPreview,
    *,
    copy: bool = False,
    progress: Progress | None = None,
    stop: Callable[[], bool] | None = None,
) -> ImportReport:
    """Add what a preview found: new runs, and steps that runs from the same source lack.

    Pictures are referenced where they lie, or with `copy` taken into the project. One that can't be read
    becomes a failed step with its reason, and is tried again by a later import. `stop` is asked between
    batches; what was added until then stays, and the same import goes on from there.
    """
    there = {run.source: run for run in runs(project) if run.source is not None}
    jobs = [job for found in preview.runs for job in _missing(project, found, there.get(found.source))]
    total = preview.step_count
    done = total - len(jobs)
    tally = _Tally()
    run_ids = {source: run.id for source, run in there.items()}
    stopped = False
    pool = ThreadPoolExecutor(_WORKERS, "import")
    try:
        batches = _batches(jobs, copy=copy)
        reading = _submit(pool, next(batches, []), copy=copy)
        while reading:
            if stop is not None and stop():
                stopped = True
                break
            # The next batch is read while this one is written.
            coming = _submit(pool, next(batches, []), copy=copy)
            _add(project, reading, run_ids, tally)
            done += len(reading)
            if progress is not None:
                progress(done, total, reading[-1][0].run.title)
            reading = coming
    finally:
        pool.shutdown(wait=True, cancel_futures=True)
    touched = tally.added | tally.completed
    asked = {found.source for found in preview.runs}
    return ImportReport(
        runs_added=len(tally.added),
        runs_completed=len(tally.completed),
        runs_unchanged=len((asked & there.keys()) - touched),
        steps_added=tally.steps,
        failed=tuple(tally.failed),
        stopped=stopped,
    )


def _missing(project: Project, found: FoundRun, run: Run | None) -> list[_Job]:
    if run is None:
        return [_Job(found, step, None) for step in found.steps]
    there = {step.number: step for step in steps(project, run.id)}
    return [
        _Job(found, step, there[step.number].reason if step.number in there else None)
        for step in found.steps
        if step.number not in there or there[step.number].outcome is Outcome.FAILED
    ]


def _batches(jobs: list[_Job], *, copy: bool) -> Iterator[list[_Job]]:
    batch: list[_Job] = []
    size = 0
    for job in jobs:
        if batch and (len(batch) == _BATCH_STEPS or (copy and size + job.step.byte_size > _BATCH_BYTES)):
            yield batch
            batch, size = [], 0
        batch.append(job)
        size += job.step.byte_size
    if batch:
        yield batch


_Reading = list[tuple[_Job, "Future[NewImage | str]"]]


def _submit(pool: ThreadPoolExecutor, batch: list[_Job], *, copy: bool) -> _Reading:
    return [(job, pool.submit(_read, job.step, copy=copy)) for job in batch]


def _read(step: FoundStep, *, copy: bool) -> NewImage | str:
    """Read and describe a picture; the reason when that can't be done."""
    try:
        size = step.file.stat().st_size
        if size > MAX_FILE_BYTES:
            return f"the file has {size / 2**30:.1f} GB, above the limit of {MAX_FILE_BYTES // 2**30} GB"
        data = step.file.read_bytes()
        image = inspect(data, sha256=sha256(data))
    except (ImageError, OSError) as error:
        return reason_of(error)
    return NewImage(image, data=data) if copy else NewImage(image, file=step.file)


def _add(project: Project, reading: _Reading, run_ids: dict[str, int], tally: _Tally) -> None:
    rows: list[tuple[NewStep, NewImage | None]] = []
    for job, future in reading:
        result = future.result()
        if isinstance(result, str):
            tally.failed.append(Remark(job.step.file, result))
            if result == job.failed_before:
                continue
        if job.run.source not in run_ids:
            run_ids[job.run.source] = add_run(project, _new_run(job.run))
            tally.added.add(job.run.source)
        elif job.run.source not in tally.added:
            tally.completed.add(job.run.source)
        tally.steps += 1
        rows.append((_new_step(run_ids[job.run.source], job.step, result), _image(result)))
    if rows:
        add_steps(project, rows)


def _image(result: NewImage | str) -> NewImage | None:
    return None if isinstance(result, str) else result


def _new_run(found: FoundRun) -> NewRun:
    return NewRun(
        initial_image=found.initial_image,
        provider=found.provider,
        model=found.model,
        protocol=found.protocol,
        repeat=found.repeat,
        steps_planned=found.last or 0,
        seed=found.seed,
        settings=found.settings,
        session_mode=found.session_mode,
        branch=found.branch,
        source=found.source,
        state=RunState.DONE,
    )


def _new_step(run_id: int, step: FoundStep, result: NewImage | str) -> NewStep:
    failed = isinstance(result, str)
    notes = step.notes
    return NewStep(
        run_id=run_id,
        number=step.number,
        outcome=Outcome.FAILED if failed else Outcome.INITIAL if step.number == 0 else Outcome.DONE,
        reason=result if isinstance(result, str) else "",
        prompt=notes.prompt,
        reasoning=notes.reasoning,
        settings=notes.settings | {"source_path": str(step.file)},
        model_version=notes.model_version,
        finish_reason=notes.finish_reason,
        input_tokens=notes.input_tokens,
        output_tokens=notes.output_tokens,
        cost_usd=notes.cost_usd,
        seconds=notes.seconds,
    )
