"""A copy of a project's tables as they are at one moment, without the received images."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from banana100_core.project.database import connect, sibling, uri_of

if TYPE_CHECKING:
    import sqlite3
    from pathlib import Path

# Nearly all of a study's bytes, of a shape that no migration changes; and what triggers fill in the copy.
LEFT_OUT = frozenset({"blob", "reasoning_change"})


def back_up(connection: sqlite3.Connection, to: Path) -> None:
    """Copy all tables but those of `LEFT_OUT`, which stay empty, to the file `to`, replacing it.

    SQLite's own backup call copies pages, so it can't leave a table out: rows are copied instead, from one
    snapshot, so that the newest commit is there whatever the journal mode. Raises sqlite3.Error.
    """
    unfinished = sibling(to, ".new")
    unfinished.unlink(missing_ok=True)
    try:
        tables = _make_empty(connection, unfinished)
        connection.execute("PRAGMA foreign_keys=OFF")
        connection.execute("ATTACH ? AS backup", (uri_of(unfinished, "rw"),))
        try:
            connection.execute("BEGIN IMMEDIATE")
            for table in tables:
                connection.execute(f'INSERT INTO backup."{table}" SELECT * FROM main."{table}"')  # noqa: S608
            connection.execute("COMMIT")
        finally:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            connection.execute("DETACH backup")
            connection.execute("PRAGMA foreign_keys=ON")
        unfinished.replace(to)
    finally:
        unfinished.unlink(missing_ok=True)


def _make_empty(source: sqlite3.Connection, to: Path) -> list[str]:
    """Make a database of the same schema; returns the tables whose rows are to be copied."""
    # A full-text index makes the tables that it needs, and is filled anew when the copy is opened.
    own = dict(
        source.execute(
            "SELECT name, type FROM pragma_table_list WHERE schema = 'main' AND type IN ('virtual', 'shadow')"
        ).fetchall()
    )
    schema = source.execute(
        "SELECT type, name, sql FROM sqlite_schema"
        " WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY type = 'trigger', rowid"
    ).fetchall()
    with contextlib.closing(connect(to, "rwc")) as target:
        target.execute("PRAGMA auto_vacuum=INCREMENTAL")
        target.execute("BEGIN")
        for name in ("application_id", "user_version"):
            target.execute(f"PRAGMA {name} = {source.execute(f'PRAGMA {name}').fetchone()[0]}")
        for _, name, sql in schema:
            if own.get(name) != "shadow":
                target.execute(sql)
        target.execute("COMMIT")
    return [name for kind, name, _ in schema if kind == "table" and name not in LEFT_OUT | own.keys()]
