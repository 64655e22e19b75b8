"""The suggestion that a tag was accepted from, as the log of edits keeps it and undo and redo follow it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from banana100_core.project.rows import now

if TYPE_CHECKING:
    from sqlite_utils import Database

    from banana100_core.project.edit_log import Row
    from banana100_core.project.records import Edit

SUGGESTION = "suggestion"  # the key under which a logged tag names the suggestion that it was accepted from


def named(row: Row, suggestion: str | None) -> Row:
    """A tag's row for the log, with its suggestion."""
    return row if suggestion is None else row | {SUGGESTION: suggestion}


def follow(
    database: Database, edit: Edit, before: Row | None, after: Row | None
) -> tuple[Row | None, Row | None]:
    """Open the suggestion that the edit taken back had accepted, accept the one that it had opened.

    Gives both states of the tag for the log, so that the next redo or undo knows the suggestion too.
    """
    if before is not None and (suggestion := (edit.after or {}).get(SUGGESTION)):
        reopen(database, suggestion)
        return named(before, suggestion), after
    if after is not None and (suggestion := (edit.before or {}).get(SUGGESTION)):
        # Found again since, it has another UUID; of a run and a failure mode there is only one.
        database.execute(
            "UPDATE suggestion SET state = 'accepted', annotator = ?, tag_uuid = ?, decided_at = ?"
            " WHERE state = 'open' AND run_id = ? AND failure_mode = ?",
            (after["annotator"], after["uuid"], now(), after["run_id"], after["failure_mode"]),
        )
        return before, named(after, suggestion)
    return before, after


def reopen(database: Database, uuid: str) -> bool:
    """Leave a suggestion to be decided on again; False when there is none decided of that UUID."""
    done: int = database.execute(
        "UPDATE suggestion SET state = 'open', annotator = NULL, tag_uuid = NULL, decided_at = NULL"
        " WHERE uuid = ? AND state <> 'open'",
        (uuid,),
    ).rowcount
    return done > 0
