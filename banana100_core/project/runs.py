"""Runs, their steps, and the calls that were made for them."""

from __future__ import annotations

import sqlite3
from dataclasses import fields
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from banana100_core.errors import ProjectError
from banana100_core.project import images
from banana100_core.project.reasoning import take_in
from banana100_core.project.records import (
    Call,
    NewRun,
    NewStep,
    Outcome,
    Run,
    RunCost,
    RunState,
    Step,
)
from banana100_core.project.rows import columns_of, from_json, now, text, to_json

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlite_utils import Database

    from banana100_core.project.images import NewImage
    from banana100_core.project.project import Project

# Answered from the index step_summary alone: the rows of steps carry prompts and reasoning summaries.
_RUNS = """
    SELECT run.*,
        ifnull(
            (SELECT image_sha256 FROM step WHERE run_id = run.id AND number = 0),
            (SELECT sha256 FROM initial_image WHERE name = run.initial_image)
        ) AS initial_sha256,
        (
            SELECT image_sha256 FROM step WHERE run_id = run.id AND image_sha256 IS NOT NULL
            ORDER BY number DESC LIMIT 1
        ) AS last_sha256,
        (SELECT count(*) FROM step WHERE run_id = run.id AND outcome = 'done') AS steps_done,
        (SELECT count(*) FROM step WHERE run_id = run.id AND outcome = 'failed') AS steps_failed,
        (SELECT count(*) FROM tag WHERE run_id = run.id) AS tag_count
    FROM run
"""
_STEPS = (
    f"SELECT step.*, {images.IMAGE_COLUMNS} FROM step LEFT JOIN image ON image.sha256 = step.image_sha256"  # noqa: S608
)


def add_run(project: Project, run: NewRun) -> int:
    """Add a run without steps and give its id; ProjectError when its source is in the project already."""
    row = {
        "uuid": str(uuid4()),
        "initial_image": text(run.initial_image),
        "provider": text(run.provider),
        "model": text(run.model),
        "protocol": text(run.protocol),
        "repeat": run.repeat,
        "branch": text(run.branch),
        "session_mode": text(run.session_mode),
        "seed": run.seed,
        "settings": to_json(run.settings),
        "source": None if run.source is None else text(run.source),
        "state": run.state.value,
        "steps_planned": run.steps_planned,
        "created_at": now(),
    }

    def work(database: Database) -> int:
        if run.source is not None and database["run"].count_where("source = ?", [row["source"]]):
            raise ProjectError(f"{project.path} has the run from {run.source} already. Nothing was added.")
        run_id: int = database["run"].insert(row).last_pk
        return run_id

    return project.write(work, changes={"run"})


def runs(project: Project) -> list[Run]:
    """All runs with their counts, in the order in which they were added."""
    with project.reading() as connection:
        return [_run_of(row) for row in connection.execute(f"{_RUNS} ORDER BY run.id")]


def run(project: Project, run_id: int) -> Run:
    """One run; ProjectError when there is none of that id."""
    with project.reading() as connection:
        row = connection.execute(f"{_RUNS} WHERE run.id = ?", (run_id,)).fetchone()
    if row is None:
        raise _no_run(project, run_id)
    return _run_of(row)


def run_by_source(project: Project, source: str) -> Run | None:
    """The run that was imported from `source`."""
    with project.reading() as connection:
        row = connection.execute(f"{_RUNS} WHERE run.source = ?", (text(source),)).fetchone()
    return None if row is None else _run_of(row)


def steps(project: Project, run_id: int) -> list[Step]:
    """A run's steps by number, the initial image as step 0 among them."""
    with project.reading() as connection:
        rows = connection.execute(f"{_STEPS} WHERE run_id = ? ORDER BY number", (run_id,)).fetchall()
    return [_step_of(row) for row in rows]


def step(project: Project, run_id: int, number: int) -> Step | None:
    """One step of a run, None where there is none of that number."""
    with project.reading() as connection:
        row = connection.execute(f"{_STEPS} WHERE run_id = ? AND number = ?", (run_id, number)).fetchone()
    return None if row is None else _step_of(row)


def made_from_text(project: Project, sha256: str) -> Step | None:
    """The first step 0 with a prompt that an initial image is of; None for one that was not made so."""
    with project.reading() as connection:
        row = connection.execute(
            f"{_STEPS} WHERE image_sha256 = ? AND number = 0 AND prompt <> '' ORDER BY run_id LIMIT 1",
            (sha256,),
        ).fetchone()
    return None if row is None else _step_of(row)


def add_step(
    project: Project,
    step: NewStep,
    image: NewImage | None,
    call: Call | None = None,
    *,
    initial_name: str | None = None,
) -> None:
    """Add a step with its image, all or nothing; on disk when this returns. See `add_steps`.

    `initial_name` also keeps the image as the project's initial image of that name.
    """
    add_steps(project, [(step, image)], () if call is None else [call], initial_name=initial_name)


def add_steps(
    project: Project,
    steps: Sequence[tuple[NewStep, NewImage | None]],
    calls: Sequence[Call] = (),
    *,
    initial_name: str | None = None,
) -> None:
    """Add steps with their images, and the calls that gave them, in one transaction.

    The image is None for a failed step. A step takes the place of a failed one of its number, never that of
    another: ProjectError, as for a run that isn't there.
    """
    rows = [
        _row_of(step, None if image is None else images.prepared(project, image)) for step, image in steps
    ]
    call_rows = [_call_row(call) for call in calls]

    def work(database: Database) -> None:
        for (step, image), (row, image_row) in zip(steps, rows, strict=True):
            if image is not None and image_row is not None:
                images.store(database, image_row, image.data)
            _put_step(database, project, step, row)
            if initial_name is not None and image_row is not None:
                images.put_initial_image(database, project, initial_name, image_row["sha256"])
        take_in(database)
        database["call"].insert_all(call_rows)

    changes = images.CHANGES | ({"step", "call"} if calls else {"step"})
    project.write(work, changes=changes | (set() if initial_name is None else {"initial_image"}))


def set_run_state(project: Project, run_id: int, state: RunState, reason: str = "") -> None:
    """Say where a run stands, and why."""

    def work(database: Database) -> None:
        if not database.execute(
            "UPDATE run SET state = ?, state_reason = ? WHERE id = ?", (state.value, text(reason), run_id)
        ).rowcount:
            raise _no_run(project, run_id)

    project.write(work, changes={"run"})


def set_run_model(project: Project, run_id: int, model: str) -> None:
    """Let a run go on with another model of its editor; which one made the steps so far is kept with it."""

    def work(database: Database) -> None:
        found = database.execute(
            "SELECT model, settings, "
            "(SELECT max(number) FROM step WHERE run_id = run.id AND outcome = 'done') FROM run WHERE id = ?",
            (run_id,),
        ).fetchone()
        if found is None:
            raise _no_run(project, run_id)
        earlier, settings, last = found[0], from_json(found[1]), found[2]
        if earlier == model:
            return
        if last:
            settings.setdefault("earlier_models", []).append({"model": earlier, "to_step": last})
        database.execute(
            "UPDATE run SET model = ?, settings = ? WHERE id = ?", (text(model), to_json(settings), run_id)
        )

    project.write(work, changes={"run"})


def add_call(project: Project, call: Call) -> None:
    """Log a call to an editor."""
    row = _call_row(call)

    def work(database: Database) -> None:
        _need_run(database, project, call.run_id)
        database["call"].insert(row)

    project.write(work, changes={"call"})


def run_costs(project: Project) -> list[RunCost]:
    """What each run has cost so far."""
    with project.reading() as connection:
        rows = connection.execute("SELECT * FROM run_costs ORDER BY run_id").fetchall()
    return [RunCost(**columns_of(row, RunCost)) for row in rows]


def _row_of(step: NewStep, image: dict[str, Any] | None) -> tuple[dict[str, Any], dict[str, Any] | None]:
    if (image is None) != (step.outcome is Outcome.FAILED):
        raise ValueError(f"a step that is {step.outcome.value} comes with{'out' if image else ''} an image")
    row = {field.name: getattr(step, field.name) for field in fields(step)}
    row |= {name: text(value) for name, value in row.items() if isinstance(value, str)}
    row |= {
        "outcome": step.outcome.value,
        "settings": to_json(step.settings),
        "image_sha256": None if image is None else image["sha256"],
        "created_at": now(),
    }
    return row, image


def _put_step(database: Database, project: Project, step: NewStep, row: dict[str, Any]) -> None:
    _need_run(database, project, step.run_id)
    database.execute(
        "DELETE FROM step WHERE run_id = ? AND number = ? AND outcome = 'failed'", (step.run_id, step.number)
    )
    try:
        database["step"].insert(row)
    except sqlite3.IntegrityError as error:
        if error.sqlite_errorcode != sqlite3.SQLITE_CONSTRAINT_UNIQUE:
            raise
        raise ProjectError(
            f"Run {step.run_id} has step {step.number} already. A finished step is never replaced."
        ) from None


def _call_row(call: Call) -> dict[str, Any]:
    row = {field.name: getattr(call, field.name) for field in fields(call)}
    return row | {"outcome": text(call.outcome), "reason": text(call.reason), "created_at": now()}


def _need_run(database: Database, project: Project, run_id: int) -> None:
    if database.execute("SELECT 1 FROM run WHERE id = ?", (run_id,)).fetchone() is None:
        raise _no_run(project, run_id)


def _no_run(project: Project, run_id: int) -> ProjectError:
    return ProjectError(f"{project.path} has no run {run_id}. `banana100 info` lists the runs there are.")


def _run_of(row: sqlite3.Row) -> Run:
    values = columns_of(row, Run)
    return Run(**values | {"settings": from_json(row["settings"]), "state": RunState(row["state"])})


def _step_of(row: sqlite3.Row) -> Step:
    values = columns_of(row, Step) | {
        "outcome": Outcome(row["outcome"]),
        "settings": from_json(row["settings"]),
        "image": None if row["image_sha256"] is None else images.image_of(row),
    }
    return Step(**values)
