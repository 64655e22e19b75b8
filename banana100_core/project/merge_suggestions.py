"""Joining decisions on suggestions: one that was decided on in a copy is decided here, where it is open."""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sqlite_utils import Database

    from banana100_core.project.edit_log import Row


def read_suggestions(connection: sqlite3.Connection) -> list[Row]:
    """All suggestions as they stand; they are the same in two copies that have a UUID in common."""
    cursor = connection.cursor()
    cursor.row_factory = sqlite3.Row
    rows = cursor.execute("SELECT uuid, state, annotator, tag_uuid, decided_at FROM suggestion ORDER BY uuid")
    return [dict(row) for row in rows]


def new_decisions(mine: list[Row], theirs: list[Row]) -> list[Row]:
    """What they decided on and mine has open."""
    still_open = {row["uuid"] for row in mine if row["state"] == "open"}
    return [row for row in theirs if row["state"] != "open" and row["uuid"] in still_open]


def put_decisions(database: Database, rows: Iterable[Row]) -> None:
    """Write decisions of other copies."""
    database.conn.executemany(
        "UPDATE suggestion SET state = :state, annotator = :annotator, tag_uuid = :tag_uuid,"
        " decided_at = :decided_at WHERE uuid = :uuid AND state = 'open'",
        list(rows),
    )
