"""Joining what copies of a project did to the taxonomy: for each failure mode the newest change holds.

A mode that one side merged away stays, retired, with the tags that other copies still bring for it: merging
it again takes them along.
"""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from typing import TYPE_CHECKING

from banana100_core.project.failure_modes import COLUMNS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from sqlite_utils import Database

    from banana100_core.project.edit_log import Row

_REFERENCES = ("parent", "merged_into")


@dataclass(frozen=True, slots=True)
class ModeChange:
    """A failure mode that is as another copy has it from now on, and in what it differed."""

    key: str
    name: str
    other: str
    fields: tuple[str, ...]


def newer_modes(mine: dict[str, Row], theirs: dict[str, Row], other: str) -> list[tuple[Row, ModeChange]]:
    """Their failure modes that were changed later than mine, or that somebody added to the taxonomy there."""
    found = []
    for key, row in theirs.items():
        here = mine.get(key)
        if not row["modified_at"] or (here is not None and row["modified_at"] <= (here["modified_at"] or "")):
            continue
        fields = tuple(name for name in COLUMNS if here is not None and row[name] != here[name])
        if here is None or fields:
            found.append((row, ModeChange(key, row["name"], other, fields)))
    return found


def add_missing_modes(database: Database, modes: Mapping[str, Row]) -> None:
    """Add failure modes, given parents first; a letter that is taken here goes."""
    taken = {row[0] for row in database.execute("SELECT shortcut FROM failure_mode").fetchall()}
    position = database.execute("SELECT ifnull(max(position), -1) FROM failure_mode").fetchone()[0]
    names = ("key", "name", "level", "definition", "example", "shortcut", "parent")
    for row in modes.values():
        position += 1
        kept = {name: row[name] for name in names} | {"position": position}
        if kept["shortcut"] in taken:
            kept["shortcut"] = None
        taken.add(kept["shortcut"])
        database["failure_mode"].insert(kept)


def put_newer(database: Database, rows: Iterable[Row]) -> None:
    """Write failure modes as another copy has them; a letter that another mode has here is left out."""
    given = list(rows)
    known = {row[0] for row in database.execute("SELECT key FROM failure_mode").fetchall()}
    # First all without what they refer to, since any order may come.
    add_missing_modes(
        database, {row["key"]: row | {"parent": None} for row in given if row["key"] not in known}
    )
    database.conn.executemany("UPDATE failure_mode SET shortcut = NULL WHERE key = :key", given)
    for row in given:
        if not _free(database, row):
            row = row | {"shortcut": None}  # noqa: PLW2901 - what is written of it
        assignments = ", ".join(f"{name} = :{name}" for name in (*COLUMNS[1:], "modified_at"))
        update = f"UPDATE failure_mode SET {assignments} WHERE key = :key"  # noqa: S608
        database.execute(update, _with_known(database, row))
    # Each side may have made a kind of what the other side made a kind.
    database.execute(
        "UPDATE failure_mode SET parent = NULL WHERE parent IN"
        " (SELECT key FROM failure_mode AS above WHERE above.parent IS NOT NULL)"
    )


def put_log(database: Database, entries: Iterable[Row]) -> None:
    """Append what another copy's log tells of the taxonomy and this one's doesn't."""
    known = {_identity(entry) for entry in read_log(database.conn)}
    database["failure_mode_edit"].insert_all(entry for entry in entries if _identity(entry) not in known)


def read_log(connection: sqlite3.Connection) -> list[Row]:
    """The log of the taxonomy, oldest first."""
    cursor = connection.cursor()
    cursor.row_factory = sqlite3.Row
    rows = cursor.execute(
        "SELECT at, annotator, failure_mode, before, after FROM failure_mode_edit ORDER BY id"
    )
    return [dict(row) for row in rows]


def _free(database: Database, row: Row) -> bool:
    return not database.execute(
        "SELECT 1 FROM failure_mode WHERE shortcut = :shortcut AND key <> :key", row
    ).fetchone()


def _with_known(database: Database, row: Row) -> Row:
    known = {each[0] for each in database.execute("SELECT key FROM failure_mode").fetchall()}
    return row | {name: row[name] if row[name] in known else None for name in _REFERENCES}


def _identity(entry: Row) -> tuple[object, ...]:
    return tuple(entry[name] for name in ("at", "annotator", "failure_mode", "before", "after"))
