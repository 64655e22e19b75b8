"""Suggestions: what the program takes for failure modes, kept apart from tags until an annotator decides."""

from __future__ import annotations

import sqlite3
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING
from uuid import uuid4

from banana100_core.errors import ProjectError
from banana100_core.project import suggestion_rows, tag_rows
from banana100_core.project.records import NewSuggestion, NewTag, Suggestion, SuggestionState, Tag
from banana100_core.project.rows import columns_of, now, text
from banana100_core.project.tags import CHANGES, log_acceptance, put_new_tag, tag_that_holds

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sqlite_utils import Database

    from banana100_core.project.project import Project

_CHANGES = frozenset({"suggestion"})


@dataclass(frozen=True, slots=True)
class Acceptance:
    """How many suggestions of a failure mode were decided on, and how."""

    failure_mode: str
    open: int
    accepted: int
    rejected: int

    @property
    def rate(self) -> float | None:
        """Share of accepted ones among those decided on; None before any was."""
        decided = self.accepted + self.rejected
        return self.accepted / decided if decided else None


def replace_suggestions(project: Project, run_ids: Iterable[int], found: Iterable[NewSuggestion]) -> int:
    """Put what was found in place of the open suggestions of these runs; returns how many are new or changed.

    What an annotator decided on stays decided.
    """
    chosen, new = list(run_ids), list(found)
    moment = now()

    def work(database: Database) -> int:
        old = {row[0]: tuple(row[1:]) for row in _open_rows(database, chosen)}
        database.conn.executemany(
            "DELETE FROM suggestion WHERE state = 'open' AND run_id = ?", [(run_id,) for run_id in chosen]
        )
        changed = 0
        for suggestion in new:
            row = asdict(suggestion) | {"reason": text(suggestion.reason), "uuid": str(uuid4()), "at": moment}
            kept = database.execute(
                "INSERT INTO suggestion"
                " (uuid, run_id, failure_mode, onset, figure, reason, method, state, created_at)"
                " VALUES (:uuid, :run_id, :failure_mode, :onset, :figure, :reason, :method, 'open', :at)"
                " ON CONFLICT (run_id, failure_mode) DO NOTHING",
                row,
            ).rowcount
            before = old.get(f"{suggestion.run_id} {suggestion.failure_mode}")
            changed += kept > 0 and before != (suggestion.onset, suggestion.figure)
        return changed

    return project.write(work, changes=_CHANGES)


def suggestions(
    project: Project, run_id: int | None = None, state: SuggestionState | None = None
) -> list[Suggestion]:
    """The suggestions of a run, or all, by run and onset."""
    with project.reading() as connection:
        rows = connection.execute(
            "SELECT * FROM suggestion WHERE (:run IS NULL OR run_id = :run)"
            " AND (:state IS NULL OR state = :state) ORDER BY run_id, onset, failure_mode",
            {"run": run_id, "state": state},
        ).fetchall()
    return [
        Suggestion(**columns_of(row, Suggestion) | {"state": SuggestionState(row["state"])}) for row in rows
    ]


def accept_suggestion(project: Project, annotator: str, uuid: str, onset: int | None = None) -> Tag:
    """Make a suggestion the annotator's tag, from another `onset` if they say so; both or nothing.

    Undoing it opens the suggestion again. Where the annotator has a tag of that failure mode which holds at
    the onset, that one stays as it is and is what was accepted. Raises ProjectError where there is none of
    that UUID or it is decided.
    """

    def work(database: Database) -> Tag:
        row = _need_open(database, uuid)
        wanted = row["onset"] if onset is None else onset
        new = NewTag(row["run_id"], row["failure_mode"], wanted)
        tag = tag_that_holds(database, annotator, new)
        if tag is None:
            tag = put_new_tag(database, annotator, new, uuid)
        else:
            log_acceptance(database, annotator, tag.uuid, uuid)
        _decide(database, uuid, SuggestionState.ACCEPTED, annotator, tag.uuid)
        return tag

    return project.write(work, changes=_CHANGES | CHANGES)


def reject_suggestion(project: Project, annotator: str, uuid: str) -> None:
    """Say that a suggestion is wrong; it won't come again. Raises as `accept_suggestion` does."""

    def work(database: Database) -> None:
        _need_open(database, uuid)
        _decide(database, uuid, SuggestionState.REJECTED, tag_rows.named(annotator), None)

    project.write(work, changes=_CHANGES)


def reopen_suggestion(project: Project, uuid: str) -> None:
    """Leave a suggestion that was decided on to be decided on again; an accepted one's tag stays.

    Raises ProjectError when there is none of that UUID, or it is open.
    """

    def work(database: Database) -> None:
        if not suggestion_rows.reopen(database, uuid):
            raise ProjectError(f"There is no decision on a suggestion {uuid} to take back.")

    project.write(work, changes=_CHANGES)


def acceptance(project: Project) -> list[Acceptance]:
    """How suggestions were decided on, by failure mode."""
    with project.reading() as connection:
        rows = connection.execute(
            "SELECT failure_mode, sum(state = 'open'), sum(state = 'accepted'), sum(state = 'rejected')"
            " FROM suggestion GROUP BY failure_mode ORDER BY failure_mode"
        ).fetchall()
    return [Acceptance(*row) for row in rows]


def _open_rows(database: Database, run_ids: list[int]) -> list[tuple[str, int, float]]:
    chosen = set(run_ids)
    rows = database.execute(
        "SELECT run_id, failure_mode, onset, figure FROM suggestion WHERE state = 'open'"
    ).fetchall()
    return [(f"{row[0]} {row[1]}", row[2], row[3]) for row in rows if row[0] in chosen]


def _need_open(database: Database, uuid: str) -> sqlite3.Row:
    cursor = database.conn.cursor()
    cursor.row_factory = sqlite3.Row
    row: sqlite3.Row | None = cursor.execute("SELECT * FROM suggestion WHERE uuid = ?", (uuid,)).fetchone()
    if row is None:
        raise ProjectError(f"There is no suggestion {uuid}; it may have been replaced. Read them again.")
    if row["state"] != SuggestionState.OPEN:
        raise ProjectError(
            f"{row['annotator']} has {row['state']} the suggestion {uuid} already. Change the tag by hand."
        )
    return row


def _decide(
    database: Database, uuid: str, state: SuggestionState, annotator: str, tag_uuid: str | None
) -> None:
    database.execute(
        "UPDATE suggestion SET state = ?, annotator = ?, tag_uuid = ?, decided_at = ? WHERE uuid = ?",
        (state.value, text(annotator), tag_uuid, now(), uuid),
    )
