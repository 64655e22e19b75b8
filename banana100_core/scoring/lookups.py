"""What the pool asks a project: which images came, and which of some lack a score."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from banana100_core.project import Project


def last_step_id(project: Project) -> int:
    """Give the id of the newest step, 0 without any."""
    with project.reading() as connection:
        newest: int = connection.execute("SELECT ifnull(max(id), 0) FROM step").fetchone()[0]
    return newest


def images_of_steps_after(project: Project, step_id: int) -> tuple[list[str], int]:
    """Give the images of steps that came after one, in their order, and the id of the newest step."""
    with project.reading() as connection:
        rows = connection.execute(
            "SELECT id, image_sha256 FROM step WHERE id > ? ORDER BY id", (step_id,)
        ).fetchall()
    images = dict.fromkeys(row[1] for row in rows if row[1] is not None)
    return list(images), rows[-1][0] if rows else step_id


def unscored_among(
    project: Project, methods: Mapping[str, str], sha256s: Sequence[str]
) -> list[tuple[str, tuple[str, ...]]]:
    """Give those of some images that lack a score or failure by one of `methods`, with the metrics to do.

    `methods` are method versions by metric. Images that the project doesn't know are left out.
    """
    with project.reading() as connection:
        rows = connection.execute(
            "SELECT wanted.value, method.key FROM json_each(:images) AS wanted"
            " JOIN image ON image.sha256 = wanted.value"
            " CROSS JOIN json_each(:methods) AS method"
            " WHERE NOT EXISTS (SELECT 1 FROM score WHERE score.image_sha256 = wanted.value"
            "  AND score.metric = method.key AND score.method_version = method.value)"
            " ORDER BY wanted.id, method.id",
            {"images": json.dumps(list(dict.fromkeys(sha256s))), "methods": json.dumps(dict(methods))},
        ).fetchall()
    missing: dict[str, list[str]] = {}
    for sha256, metric in rows:
        missing.setdefault(sha256, []).append(metric)
    return [(sha256, tuple(metrics)) for sha256, metrics in missing.items()]


def sizes_of(project: Project, sha256s: Sequence[str]) -> dict[str, tuple[int, int]]:
    """Give width and height of images, in pixels."""
    with project.reading() as connection:
        rows = connection.execute(
            "SELECT sha256, width, height FROM image WHERE sha256 IN (SELECT value FROM json_each(?))",
            (json.dumps(list(sha256s)),),
        ).fetchall()
    return {sha256: (width, height) for sha256, width, height in rows}


def failed_images(project: Project, metric: str | None = None) -> list[str]:
    """Give the images that have a failure by a metric, or by any."""
    with project.reading() as connection:
        rows = connection.execute(
            "SELECT DISTINCT image_sha256 FROM score"
            " WHERE score IS NULL AND (:metric IS NULL OR metric = :metric) ORDER BY image_sha256",
            {"metric": metric},
        )
        return [row[0] for row in rows]
