"""Scores: of image content by a metric in one method version."""

from __future__ import annotations

import math
from dataclasses import fields
from typing import TYPE_CHECKING, Any

from banana100_core.errors import ProjectError
from banana100_core.project.records import NewScore, StepScore
from banana100_core.project.rows import now, text, to_json
from banana100_core.project.views import NORMALISED

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sqlite_utils import Database

    from banana100_core.project.project import Project

_CHANGES = frozenset({"score"})


def add_scores(project: Project, scores: Sequence[NewScore]) -> None:
    """Keep scores in one transaction; a number that is none is kept as a failure.

    The same score again takes the older one's place, its replies too, but a failure never that of a score.
    Raises ProjectError for an image or a metric that the project doesn't know.
    """
    rows = [_row_of(score) for score in scores]

    def work(database: Database) -> None:
        _need_known(database, project, "image", "sha256", {row["image_sha256"] for row in rows})
        _need_known(database, project, "metric", "key", {row["metric"] for row in rows})
        for row, score in zip(rows, scores, strict=True):
            taken = database.conn.execute(
                "INSERT INTO score"
                " (image_sha256, metric, method_version, score, error, device, seconds, created_at) VALUES"
                " (:image_sha256, :metric, :method_version, :score, :error, :device, :seconds, :created_at)"
                " ON CONFLICT DO UPDATE SET score = excluded.score, error = excluded.error,"
                " device = excluded.device, seconds = excluded.seconds, created_at = excluded.created_at"
                " WHERE excluded.score IS NOT NULL OR score.score IS NULL",
                row,
            ).rowcount
            if taken:
                _keep_replies(database, row, score.replies)

    if rows:
        project.write(work, changes=_CHANGES)


def step_scores(
    project: Project, run_ids: Sequence[int] | None = None, metrics: Sequence[str] | None = None
) -> list[StepScore]:
    """Scores by run, step and metric, failed ones among them; None asks for all runs or all metrics."""
    with project.reading() as connection:
        rows = connection.execute(
            "SELECT step.run_id, step.number, score.image_sha256, score.metric,"  # noqa: S608
            f" score.method_version, score.score, {NORMALISED} AS normalised, score.error"
            " FROM step JOIN score ON score.image_sha256 = step.image_sha256"
            " JOIN metric ON metric.key = score.metric"
            " WHERE (:runs IS NULL OR step.run_id IN (SELECT value FROM json_each(:runs)))"
            " AND (:metrics IS NULL OR score.metric IN (SELECT value FROM json_each(:metrics)))"
            " ORDER BY step.run_id, step.number, score.metric, score.method_version",
            {"runs": _list(run_ids), "metrics": _list(metrics)},
        ).fetchall()
    return [StepScore(*row) for row in rows]


def replies(project: Project, image_sha256: str, metric: str, method_version: str) -> list[str]:
    """What a vision-language metric answered about an image, one reply for each sample."""
    with project.reading() as connection:
        rows = connection.execute(
            "SELECT text FROM reply WHERE image_sha256 = ? AND metric = ? AND method_version = ?"
            " ORDER BY sample",
            (image_sha256, metric, method_version),
        )
        return [row[0] for row in rows]


def scored(project: Project, metric: str, method_version: str) -> set[str]:
    """The images that have a score or a failure by this method."""
    with project.reading() as connection:
        rows = connection.execute(
            "SELECT image_sha256 FROM score WHERE metric = ? AND method_version = ?", (metric, method_version)
        )
        return {row[0] for row in rows}


def forget_failed(project: Project, metric: str | None = None) -> int:
    """Remove failures, so that they are tried again; returns how many there were."""

    def work(database: Database) -> int:
        removed: int = database.execute(
            "DELETE FROM score WHERE score IS NULL AND (:metric IS NULL OR metric = :metric)",
            {"metric": metric},
        ).rowcount
        return removed

    return project.write(work, changes=_CHANGES)


def unscored_images(
    project: Project, methods: Mapping[str, str], run_ids: Sequence[int] | None = None
) -> list[tuple[str, tuple[str, ...]]]:
    """Images that lack a score or failure by one of `methods`, with the metrics to do.

    `methods` are method versions by metric. The images come in the order of runs and steps.
    """
    with project.reading() as connection:
        rows = connection.execute(
            "WITH used AS ("
            "  SELECT image_sha256, min(run_id) AS run_id, min(number) AS number FROM step"
            "  WHERE image_sha256 IS NOT NULL"
            "  AND (:runs IS NULL OR run_id IN (SELECT value FROM json_each(:runs)))"
            "  GROUP BY image_sha256"
            ")"
            " SELECT used.image_sha256, method.key FROM used CROSS JOIN json_each(:methods) AS method"
            " WHERE NOT EXISTS (SELECT 1 FROM score WHERE score.image_sha256 = used.image_sha256"
            "  AND score.metric = method.key AND score.method_version = method.value)"
            " ORDER BY used.run_id, used.number, used.image_sha256",
            {"runs": _list(run_ids), "methods": to_json(dict(methods))},
        ).fetchall()
    missing: dict[str, list[str]] = {}
    for sha256, metric in rows:
        missing.setdefault(sha256, []).append(metric)
    order = list(methods)
    return [(sha256, tuple(sorted(metrics, key=order.index))) for sha256, metrics in missing.items()]


def _row_of(score: NewScore) -> dict[str, Any]:
    row = {field.name: getattr(score, field.name) for field in fields(score) if field.name != "replies"}
    row |= {"error": None if score.error is None else text(score.error), "created_at": now()}
    if score.score is None:
        return row | {"error": row["error"] or "the metric gave no score"}
    if not math.isfinite(score.score):
        return row | {"score": None, "error": row["error"] or f"the metric gave {score.score}"}
    return row | {"score": float(score.score), "error": None}


def _keep_replies(database: Database, row: dict[str, Any], replies: tuple[str, ...]) -> None:
    score = (row["image_sha256"], row["metric"], row["method_version"])
    database.conn.execute(
        "DELETE FROM reply WHERE image_sha256 = ? AND metric = ? AND method_version = ?", score
    )
    database.conn.executemany(
        "INSERT INTO reply (image_sha256, metric, method_version, sample, text) VALUES (?, ?, ?, ?, ?)",
        [(*score, sample, text(reply)) for sample, reply in enumerate(replies, start=1)],
    )


def _need_known(database: Database, project: Project, table: str, column: str, wanted: set[str]) -> None:
    unknown = database.execute(
        f"SELECT value FROM json_each(?) WHERE value NOT IN (SELECT {column} FROM {table})",  # noqa: S608
        (to_json(sorted(wanted)),),
    ).fetchone()
    if unknown is not None:
        raise ProjectError(f"{project.path} has no {table} {unknown[0]}, so its scores can't be kept.")


def _list(values: Sequence[object] | None) -> str | None:
    return None if values is None else to_json(list(values))
