"""The append-only log of edits to tags, read as a stack for undo and redo.

An undo takes the edit that it names from its annotator's stack, a redo (the undo of an undo) puts it back.
Both searches go from the newest entry towards older ones, and jump: once an entry is taken back, all stands
as it did before that entry. So nothing but the log is kept, and undo has no limit and outlives the program.
"""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING, Any

from banana100_core.project.records import Edit
from banana100_core.project.rows import columns_of, from_json, now, text, to_json

if TYPE_CHECKING:
    from sqlite_utils import Database

Row = dict[str, Any]


def append(
    database: Database,
    annotator: str,
    action: str,
    tag_uuid: str,
    before: Row | None,
    after: Row | None,
    undoes: int | None = None,
) -> Edit:
    """Log what an annotator did to a tag, whose row was `before` and is `after`; None for no such row."""
    at = now()
    row = {
        "at": at,
        "annotator": text(annotator),
        "action": action,
        "tag_uuid": tag_uuid,
        "before": None if before is None else to_json(before),
        "after": None if after is None else to_json(after),
        "undoes": undoes,
    }
    edit_id: int = database["edit"].insert(row).last_pk
    return Edit(edit_id, at, annotator, action, tag_uuid, before, after, undoes)


def last_standing(database: Database, annotator: str) -> Edit | None:
    """The annotator's last edit that was not undone."""
    entry = _last(database, annotator)
    while entry is not None and entry.undoes is not None:
        undone_id = entry.undoes
        if entry.action == "redo":
            undone = _entry(database, undone_id)
            return None if undone is None or undone.undoes is None else _entry(database, undone.undoes)
        entry = _last(database, annotator, undone_id)
    return entry


def last_undo(database: Database, annotator: str) -> Edit | None:
    """The annotator's last undo that was not redone and that no edit followed."""
    entry = _last(database, annotator)
    while entry is not None and entry.action == "redo":
        entry = _last(database, annotator, entry.undoes)
    return entry if entry is not None and entry.action == "undo" else None


def edit_of(row: sqlite3.Row) -> Edit:
    """The entry in a row of the log."""
    values = columns_of(row, Edit)
    for name in ("before", "after"):
        values[name] = None if values[name] is None else from_json(values[name])
    return Edit(**values)


def _last(database: Database, annotator: str, before: int | None = None) -> Edit | None:
    where = "annotator = ? AND id < ifnull(?, id + 1) ORDER BY id DESC LIMIT 1"
    return _select(database, where, (text(annotator), before))


def _entry(database: Database, edit_id: int) -> Edit | None:
    return _select(database, "id = ?", (edit_id,))


def _select(database: Database, where: str, values: tuple[object, ...]) -> Edit | None:
    cursor = database.conn.cursor()
    cursor.row_factory = sqlite3.Row
    row = cursor.execute(f"SELECT * FROM edit WHERE {where}", values).fetchone()  # noqa: S608
    return None if row is None else edit_of(row)
