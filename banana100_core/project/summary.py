"""What a project holds, in numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from banana100_core.project.database import unpacked_version
from banana100_core.project.records import RunState, Storage

if TYPE_CHECKING:
    import sqlite3

    from banana100_core.project.project import Project


@dataclass(frozen=True, slots=True)
class ImageCount:
    """Images kept in one way; `byte_size` is that of the encoded pictures."""

    storage: Storage
    images: int
    byte_size: int


@dataclass(frozen=True, slots=True)
class ScoreCount:
    """Scores of a metric by one method; `missing` images belong to steps and were not tried."""

    metric: str
    method_version: str
    scored: int
    failed: int
    missing: int


@dataclass(frozen=True, slots=True)
class TagCount:
    """Tags of one annotator, and in how many runs."""

    annotator: str
    tags: int
    runs: int


@dataclass(frozen=True, slots=True)
class Summary:
    """What a project holds; steps are counted without the initial images."""

    schema_version: str
    runs: dict[RunState, int]
    steps_done: int
    steps_failed: int
    steps_planned: int
    initial_images: int
    images: tuple[ImageCount, ...]
    scores: tuple[ScoreCount, ...]
    tags: tuple[TagCount, ...]
    calls: int
    failed_calls: int
    cost_usd: float | None


def summary(project: Project) -> Summary:
    """Count what a project holds."""
    with project.reading() as connection:

        def row(sql: str, *values: object) -> sqlite3.Row:
            first: sqlite3.Row = connection.execute(sql, values).fetchone()
            return first

        major, minor = unpacked_version(row("PRAGMA user_version")[0])
        states = dict(connection.execute("SELECT state, count(*) FROM run GROUP BY state").fetchall())
        planned = row("SELECT ifnull(sum(steps_planned), 0) FROM run")[0]
        done, failed, used = row(
            "SELECT count(*) FILTER (WHERE outcome = 'done'), count(*) FILTER (WHERE outcome = 'failed'),"
            " count(DISTINCT image_sha256) FROM step"
        )
        # Imported runs name theirs without keeping it as one to make runs from.
        initial_images = row(
            "SELECT count(*) FROM (SELECT name FROM initial_image UNION SELECT initial_image FROM run)"
        )[0]
        images = connection.execute(
            "SELECT storage, count(*), sum(byte_size) FROM image GROUP BY storage ORDER BY storage"
        ).fetchall()
        scores = connection.execute(
            "SELECT metric, method_version, count(score), count(error),"
            " ? - sum(EXISTS (SELECT 1 FROM step WHERE step.image_sha256 = score.image_sha256))"
            " FROM score GROUP BY metric, method_version ORDER BY metric, method_version",
            (used,),
        ).fetchall()
        tags = connection.execute(
            "SELECT annotator, count(*), count(DISTINCT run_id) FROM tag"
            " GROUP BY annotator ORDER BY annotator"
        ).fetchall()
        calls, failed_calls, cost_usd = row(
            "SELECT ifnull(sum(calls), 0), ifnull(sum(failed_calls), 0), sum(cost_usd) FROM run_costs"
        )
    return Summary(
        schema_version=f"{major}.{minor}",
        runs={state: states.get(state.value, 0) for state in RunState},
        steps_done=done,
        steps_failed=failed,
        steps_planned=planned,
        initial_images=initial_images,
        images=tuple(ImageCount(Storage(storage), *counts) for storage, *counts in images),
        scores=tuple(ScoreCount(*counts) for counts in scores),
        tags=tuple(TagCount(*counts) for counts in tags),
        calls=calls,
        failed_calls=failed_calls,
        cost_usd=cost_usd,
    )
