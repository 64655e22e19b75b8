"""What went wrong with calls to editors, as the log of calls has it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from banana100_core.project import Project


@dataclass(frozen=True, slots=True)
class FailedCall:
    """A call that gave no image, and why; `at` is when it was logged."""

    run_id: int
    step: int
    attempt: int
    reason: str
    at: str


def failed_calls(project: Project, run_ids: Sequence[int], limit: int = 20) -> list[FailedCall]:
    """The last calls of these runs that failed, newest first."""
    marks = ",".join("?" * len(run_ids))
    with project.reading() as connection:
        rows = connection.execute(
            "SELECT run_id, step, attempt, reason, created_at FROM call "  # noqa: S608 - only question marks
            f"WHERE outcome = 'failed' AND run_id IN ({marks}) ORDER BY id DESC LIMIT ?",
            (*run_ids, limit),
        ).fetchall()
    return [FailedCall(*row) for row in rows]
