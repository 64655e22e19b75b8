"""Runs that only another copy of a project has: told of, and taken over with their pictures and scores."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from banana100_core.errors import ImageError
from banana100_core.project.images import IMAGE_COLUMNS, NewImage, image_bytes, image_location, image_of
from banana100_core.project.images import prepared as prepared_image
from banana100_core.project.images import store as store_image
from banana100_core.project.records import Storage

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from sqlite_utils import Database

    from banana100_core.progress import Progress
    from banana100_core.project.edit_log import Row
    from banana100_core.project.project import Project

CHANGES = frozenset({"run", "step", "image", "initial_image", "score", "call", "verdict"})


@dataclass(frozen=True, slots=True)
class OtherRun:
    """A run that another copy has and the project has not; `reason` says why it can't be added, if so."""

    uuid: str
    other: str
    initial_image: str
    model: str
    protocol: str
    repeat: int
    steps: int
    tags: int
    byte_size: int
    reason: str = ""


def runs_beyond(project: Project, other: Project, name: str) -> list[OtherRun]:
    """The runs of another copy whose UUIDs the project doesn't know."""
    with project.reading() as connection:
        known = {row[0] for row in connection.execute("SELECT uuid FROM run")}
        sources = {row[0] for row in connection.execute("SELECT source FROM run WHERE source IS NOT NULL")}
    with other.reading() as connection:
        rows = connection.execute(
            "SELECT run.*, (SELECT count(*) FROM step WHERE run_id = run.id AND number > 0) AS steps,"
            " (SELECT count(*) FROM tag WHERE run_id = run.id) AS tags,"
            " (SELECT ifnull(sum(byte_size), 0) FROM image WHERE sha256 IN"
            " (SELECT image_sha256 FROM step WHERE run_id = run.id)) AS byte_size FROM run ORDER BY run.id"
        ).fetchall()
    return [
        OtherRun(
            uuid=row["uuid"],
            other=name,
            **{key: row[key] for key in ("initial_image", "model", "protocol", "repeat")},
            **{key: row[key] for key in ("steps", "tags", "byte_size")},
            reason=_reason_against(other, row, sources),
        )
        for row in rows
        if row["uuid"] not in known
    ]


def add_runs_of(
    project: Project,
    other: Project,
    uuids: Collection[str],
    progress: Progress | None = None,
    stop: Callable[[], bool] | None = None,
) -> int:
    """Add runs of another copy, each whole or not at all; returns how many. `stop` is asked between runs.

    Received images are copied in, the user's own files are named by path as they were.
    """
    added = 0
    for done, uuid in enumerate(sorted(uuids)):
        if stop is not None and stop():
            break
        if progress is not None:
            progress(done, len(uuids), "runs")
        added += project.write(partial(_add, project=project, other=other, uuid=uuid), changes=CHANGES)
    return added


def _reason_against(other: Project, run: sqlite3.Row, sources: set[str]) -> str:
    if run["source"] in sources:
        return f"the project has imported it by itself, from {run['source']}"
    with other.reading() as connection:
        missing = next(
            (
                row["sha256"]
                for row in connection.execute(
                    "SELECT sha256 FROM image WHERE storage <> ? AND sha256 IN"
                    " (SELECT image_sha256 FROM step WHERE run_id = ?)",
                    (Storage.BLOB, run["id"]),
                ).fetchall()
                if not _is_there(other, row["sha256"])
            ),
            None,
        )
    if missing is None:
        return ""
    where = image_location(other, missing).file
    return (
        f"its picture {where} is not here; have that copy packed (`banana100 pack`) and merge the packed one"
    )


def _is_there(project: Project, sha256: str) -> bool:
    file = image_location(project, sha256).file
    return file is None or file.is_file()


def _add(database: Database, project: Project, other: Project, uuid: str) -> int:
    with other.reading() as connection:
        cursor = connection.cursor()
        cursor.row_factory = sqlite3.Row
        run = cursor.execute("SELECT * FROM run WHERE uuid = ?", (uuid,)).fetchone()
        known = database.execute("SELECT 1 FROM run WHERE uuid = ?", (uuid,)).fetchone()
        if run is None or known is not None:
            return 0
        steps = [
            dict(row)
            for row in cursor.execute("SELECT * FROM step WHERE run_id = ? ORDER BY number", (run["id"],))
        ]
        calls = [dict(row) for row in cursor.execute("SELECT * FROM call WHERE run_id = ?", (run["id"],))]
    run_id = database["run"].insert(_without_id(dict(run))).last_pk
    _add_initial_image(database, project, other, run["initial_image"])
    for step in steps:
        if step["image_sha256"] is not None:
            _add_image(database, project, other, step["image_sha256"])
        step_id = database["step"].insert(_without_id(step) | {"run_id": run_id}).last_pk
        _add_verdicts(database, other, step["id"], step_id)
    database["call"].insert_all(_without_id(call) | {"run_id": run_id} for call in calls)
    return 1


def _add_image(database: Database, project: Project, other: Project, sha256: str) -> None:
    if database.execute("SELECT 1 FROM image WHERE sha256 = ?", (sha256,)).fetchone() is None:
        with other.reading() as connection:
            row = connection.execute(
                f"SELECT {IMAGE_COLUMNS}, storage FROM image WHERE sha256 = ?",  # noqa: S608
                (sha256,),
            ).fetchone()
        new = _to_store(other, row)
        store_image(database, prepared_image(project, new), new.data)
    metrics = {row[0] for row in database.execute("SELECT key FROM metric").fetchall()}
    with other.reading() as connection:
        scores = connection.execute("SELECT * FROM score WHERE image_sha256 = ?", (sha256,)).fetchall()
    database["score"].insert_all((dict(row) for row in scores if row["metric"] in metrics), ignore=True)


def _to_store(other: Project, row: sqlite3.Row) -> NewImage:
    image = image_of(row)
    if row["storage"] == Storage.FILE:
        file = image_location(other, image.sha256).file
        if file is None or not file.is_file():
            raise ImageError(f"The image {file} is not here. Have the other copy packed, and merge that.")
        return NewImage(image, file=file)
    return NewImage(image, image_bytes(other, image.sha256))


def _add_initial_image(database: Database, project: Project, other: Project, name: str) -> None:
    with other.reading() as connection:
        row = connection.execute(
            "SELECT sha256, credit FROM initial_image WHERE name = ?", (name,)
        ).fetchone()
    # Where the project has another initial image of that name, the run keeps its own as step 0.
    if row is not None and not database["initial_image"].count_where("name = ?", [name]):
        _add_image(database, project, other, row["sha256"])
        database["initial_image"].insert({"name": name, **dict(row)})


def _add_verdicts(database: Database, other: Project, step_id: int, new_id: int) -> None:
    with other.reading() as connection:
        rows = connection.execute("SELECT * FROM verdict WHERE step_id = ?", (step_id,)).fetchall()
    database["verdict"].insert_all(dict(row) | {"step_id": new_id} for row in rows)


def _without_id(row: Row) -> Row:
    return {name: value for name, value in row.items() if name != "id"}
