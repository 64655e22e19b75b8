"""Where an annotator's work on a run stands: draft, done, accepted, or rejected with a comment.

An annotator marks a run done, also one where nothing was found; somebody else accepts or rejects it. Each
such word is an entry of an append-only table, and the last one about an annotator's run counts. The tags of
that annotator there carry its state.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from banana100_core.errors import ProjectError
from banana100_core.project import tag_rows
from banana100_core.project.records import ReviewState
from banana100_core.project.rows import now, text

if TYPE_CHECKING:
    from sqlite_utils import Database

    from banana100_core.project.project import Project

CHANGES = frozenset({"review", "tag"})


@dataclass(frozen=True, slots=True)
class Review:
    """Where the work of `annotator` on a run stands; `said_by` is who said so.

    `edited_since` tells that the annotator has edited tags there after that.
    """

    run_id: int
    annotator: str
    state: ReviewState
    said_by: str
    comment: str
    at: str
    tags: int
    edited_since: bool

    @property
    def finished(self) -> bool:
        """Whether the annotator has no more to do here."""
        return self.state in {ReviewState.DONE, ReviewState.ACCEPTED}

    @property
    def waits(self) -> bool:
        """Whether a reviewer is to look at it: it is done, or it was changed after it was accepted."""
        return self.state is ReviewState.DONE or (self.state is ReviewState.ACCEPTED and self.edited_since)


def reviews(project: Project, run_id: int | None = None) -> list[Review]:
    """Where work on a run stands, or on all, by run and annotator; nothing of runs nobody said a word of."""
    with project.reading() as connection:
        rows = connection.execute(
            "SELECT run_id, annotator, state, said_by, comment, at, tags FROM run_reviews"
            " WHERE :run IS NULL OR run_id = :run ORDER BY run_id, annotator",
            {"run": run_id},
        ).fetchall()
        edited = dict[tuple[int, str], str]()
        for found in (
            # Of tags that are there their own rows tell; of those that are gone only the log.
            connection.execute("SELECT run_id, annotator, max(modified_at) FROM tag GROUP BY 1, 2"),
            connection.execute(
                "SELECT json_extract(before, '$.run_id'), annotator, max(at) FROM edit"
                " WHERE after IS NULL AND at > ? GROUP BY 1, 2",
                (min((row["at"] for row in rows), default="~"),),
            ),
        ):
            for run, annotator, at in found:
                edited[run, annotator] = max(at, edited.get((run, annotator), ""))
    return [
        Review(
            row["run_id"],
            row["annotator"],
            ReviewState(row["state"]),
            row["said_by"],
            row["comment"],
            row["at"],
            row["tags"],
            edited.get((row["run_id"], row["annotator"]), "") > row["at"],
        )
        for row in rows
    ]


def mark_run(project: Project, annotator: str, run_id: int, state: ReviewState) -> None:
    """Say of one's own work on a run that it is done, or a draft again; ProjectError for other states."""
    if state not in {ReviewState.DRAFT, ReviewState.DONE}:
        raise ProjectError("Nobody accepts or rejects their own work: somebody else reviews it.")
    project.write(lambda database: _say(database, run_id, annotator, state, annotator, ""), changes=CHANGES)


def accept_run(project: Project, reviewer: str, run_id: int, annotator: str) -> None:
    """Accept an annotator's work on a run. Raises ProjectError when it is the reviewer's own."""
    _judge(project, reviewer, run_id, annotator, ReviewState.ACCEPTED, "")


def reject_run(project: Project, reviewer: str, run_id: int, annotator: str, comment: str) -> None:
    """Give an annotator's work on a run back, with a word about why. Raises ProjectError without one."""
    if not comment.strip():
        raise ProjectError("Say why, so that the annotator knows what to change.")
    _judge(project, reviewer, run_id, annotator, ReviewState.REJECTED, comment.strip())


def put_states(database: Database) -> None:
    """Have all tags carry the state of their annotator's run, after reviews were taken over."""
    database.execute(
        "UPDATE tag SET review_state = (SELECT state FROM run_reviews"
        " WHERE run_id = tag.run_id AND annotator = tag.annotator)"
        " WHERE EXISTS (SELECT 1 FROM run_reviews WHERE run_id = tag.run_id AND annotator = tag.annotator"
        " AND state <> tag.review_state AND at >= tag.modified_at)"
    )


def _judge(
    project: Project, reviewer: str, run_id: int, annotator: str, state: ReviewState, comment: str
) -> None:
    if text(reviewer) == text(annotator):
        raise ProjectError("Nobody accepts or rejects their own work: give the reviewer's name first.")

    def work(database: Database) -> None:
        known = database.execute(
            "SELECT 1 FROM tag WHERE run_id = :run AND annotator = :annotator"
            " UNION SELECT 1 FROM review WHERE run_id = :run AND annotator = :annotator",
            {"run": run_id, "annotator": text(annotator)},
        ).fetchone()
        if known is None:
            raise ProjectError(f"{annotator} has neither tagged nor finished run {run_id}: nothing to judge.")
        _say(database, run_id, annotator, state, reviewer, comment)

    project.write(work, changes=CHANGES)


def _say(
    database: Database, run_id: int, annotator: str, state: ReviewState, said_by: str, comment: str
) -> None:
    who = tag_rows.named(annotator)
    if database.execute("SELECT 1 FROM run WHERE id = ?", (run_id,)).fetchone() is None:
        raise ProjectError(f"There is no run {run_id}.")
    database["review"].insert(
        {
            "at": now(),
            "run_id": run_id,
            "annotator": who,
            "state": state.value,
            "said_by": tag_rows.named(said_by),
            "comment": text(comment),
        }
    )
    # Not an edit of theirs: it is not for undo to take back, and the entry above tells all there is to tell.
    database.execute(
        "UPDATE tag SET review_state = ? WHERE run_id = ? AND annotator = ?", (state.value, run_id, who)
    )
