"""What steps took that an editor has made in this project: time, pixels, bytes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from banana100_core.project.project import Project

_LATEST = 500


@dataclass(frozen=True, slots=True)
class StepEffort:
    """What one step took; `resolution` is what was asked for, `pixels` and `byte_size` are the image's."""

    seconds: float
    resolution: str | None
    pixels: int
    byte_size: int


def step_efforts(project: Project, provider: str, model: str) -> list[StepEffort]:
    """The latest steps that the model made and that were timed, those of imported runs among them."""
    with project.reading() as connection:
        rows = connection.execute(
            "SELECT step.seconds, json_extract(step.settings, '$.resolution'), image.width * image.height,"
            " image.byte_size FROM step JOIN run ON run.id = step.run_id"
            " JOIN image ON image.sha256 = step.image_sha256"
            " WHERE run.provider = ? AND run.model = ? AND step.outcome = 'done' AND step.seconds > 0"
            " ORDER BY step.id DESC LIMIT ?",
            (provider, model, _LATEST),
        ).fetchall()
    return [StepEffort(*row) for row in rows]
