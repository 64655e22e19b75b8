"""The failure modes of a project: those of the catalog, as its owner arranged them.

A mode is never removed: one that is no longer wanted is retired, which hides it where tags are made and
leaves the tags that it has. Every change is logged.
"""

from __future__ import annotations

import re
import sqlite3
from dataclasses import dataclass
from typing import TYPE_CHECKING

from banana100_core.catalog import failure_modes as catalog
from banana100_core.catalog.failure_modes import FailureMode, Level
from banana100_core.errors import ProjectError
from banana100_core.project.rows import from_json, now, text, to_json

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sqlite_utils import Database

    from banana100_core.project.edit_log import Row
    from banana100_core.project.project import Project

CHANGES = frozenset({"failure_mode"})
COLUMNS = ("key", "name", "level", "definition", "example", "shortcut", "parent", "retired", "merged_into")
_CHANGEABLE = frozenset({"name", "level", "definition", "example", "shortcut", "parent"})
_LEVELS = tuple(Level)


@dataclass(frozen=True, slots=True)
class NewMode:
    """A failure mode to be added; `shortcut` is one letter or nothing."""

    name: str
    level: Level
    definition: str = ""
    example: str = ""
    shortcut: str = ""
    parent: str | None = None


@dataclass(frozen=True, slots=True)
class ModeUse:
    """What hangs on a failure mode."""

    tags: int
    runs: int
    annotators: tuple[str, ...]


def failure_modes(project: Project) -> list[FailureMode]:
    """All failure modes, retired ones too, level by level, kinds after what they are kinds of."""
    with project.reading() as connection:
        rows = connection.execute("SELECT * FROM failure_mode ORDER BY position, key").fetchall()
    return in_order(
        FailureMode(
            key=row["key"],
            name=row["name"],
            level=Level(row["level"]),
            definition=row["definition"],
            example=row["example"],
            shortcut=row["shortcut"] or "",
            parent=row["parent"],
            retired=bool(row["retired"]),
            merged_into=row["merged_into"],
        )
        for row in rows
    )


def in_order(modes: Iterable[FailureMode]) -> list[FailureMode]:
    """Failure modes level by level, each kind after its parent, and otherwise as they came."""
    given = list(modes)
    keys = {mode.key for mode in given}
    kinds: dict[str | None, list[FailureMode]] = {}
    for mode in given:
        kinds.setdefault(mode.parent if mode.parent in keys else None, []).append(mode)
    roots = sorted(kinds.get(None, []), key=lambda mode: _LEVELS.index(mode.level))
    return [each for root in roots for each in (root, *kinds.get(root.key, []))]


def uses(project: Project) -> dict[str, ModeUse]:
    """How much each failure mode that has tags is used."""
    with project.reading() as connection:
        rows = connection.execute(
            "SELECT failure_mode, count(*) AS tags, count(DISTINCT run_id) AS runs,"
            " json_group_array(DISTINCT annotator) AS annotators FROM tag GROUP BY failure_mode"
        ).fetchall()
    return {
        row["failure_mode"]: ModeUse(row["tags"], row["runs"], tuple(sorted(from_json(row["annotators"]))))
        for row in rows
    }


def add_mode(project: Project, annotator: str, mode: NewMode) -> str:
    """Add a failure mode after the others and give its key; ProjectError names what can't be."""

    def work(database: Database) -> str:
        name = _name(mode.name)
        row: Row = {
            "key": _new_key(database, name),
            "name": name,
            "level": mode.level.value,
            "definition": text(mode.definition.strip()),
            "example": text(mode.example.strip()),
            "shortcut": _letter(mode.shortcut),
            "parent": mode.parent,
            "retired": 0,
            "merged_into": None,
        }
        row["position"] = (
            1 + database.execute("SELECT ifnull(max(position), -1) FROM failure_mode").fetchone()[0]
        )
        _validate(database, row)
        database["failure_mode"].insert(row | {"modified_at": now()})
        _log(database, annotator, None, row)
        return str(row["key"])

    return project.write(work, changes=CHANGES)


def change_mode(project: Project, annotator: str, key: str, **changes: object) -> None:
    """Change name, level, definition, example, shortcut or parent of a failure mode; its tags stay its own.

    Raises ProjectError where two would have one name or one letter, naming the other, and where a mode
    would be a kind of a kind. The kinds of a mode follow it to another level.
    """
    if unknown := changes.keys() - _CHANGEABLE:
        raise ProjectError(f"A failure mode's {', '.join(sorted(unknown))} can't be changed.")

    def work(database: Database) -> None:
        before = need_mode(database, key)
        after = before | {name: _stored(name, value) for name, value in changes.items()}
        parent = after["parent"]
        if parent is not None and "level" not in changes:
            after["level"] = need_mode(database, parent)["level"]
        if after == before:
            return
        _validate(database, after)
        put_mode(database, annotator, before, after)
        for (kind,) in database.execute("SELECT key FROM failure_mode WHERE parent = ?", (key,)).fetchall():
            row = need_mode(database, kind)
            if row["level"] != after["level"]:
                put_mode(database, annotator, row, row | {"level": after["level"]})

    project.write(work, changes=CHANGES)


def retire_mode(project: Project, annotator: str, key: str) -> None:
    """Hide a failure mode where tags are made, and free its letter; its tags stay, and count as before.

    Raises ProjectError while it has kinds that aren't retired.
    """

    def work(database: Database) -> None:
        before = need_mode(database, key)
        if before["retired"]:
            return
        kinds = database.execute(
            "SELECT group_concat(name, ', ') FROM failure_mode WHERE parent = ? AND NOT retired", (key,)
        ).fetchone()[0]
        if kinds:
            raise ProjectError(
                f"{before['name']} has kinds of its own: {kinds}. Retire these first, or make them kinds of "
                "another failure mode."
            )
        put_mode(database, annotator, before, before | {"retired": 1, "shortcut": None})

    project.write(work, changes=CHANGES)


def restore_mode(project: Project, annotator: str, key: str) -> None:
    """Bring a retired failure mode back, with the letter of the catalog if that is free."""

    def work(database: Database) -> None:
        before = need_mode(database, key)
        after = before | {"retired": 0, "merged_into": None}
        known = catalog.failure_modes().get(key)
        if before["retired"] and known is not None and not _holder(database, known.shortcut, key):
            after["shortcut"] = known.shortcut
        parent = after["parent"]
        if parent is not None and need_mode(database, parent)["retired"]:
            after["parent"] = None
        if after != before:
            put_mode(database, annotator, before, after)

    project.write(work, changes=CHANGES)


def need_mode(database: Database, key: str) -> Row:
    """A failure mode's row; ProjectError when there is none of that key."""
    cursor = database.conn.cursor()
    cursor.row_factory = sqlite3.Row
    row = cursor.execute("SELECT * FROM failure_mode WHERE key = ?", (key,)).fetchone()
    if row is None:
        raise ProjectError(f"There is no failure mode {key!r}. Add it first, or choose another.")
    return {name: row[name] for name in COLUMNS}


def put_mode(database: Database, annotator: str, before: Row, after: Row) -> None:
    """Write a failure mode's row in place of the older one, and log it."""
    assignments = ", ".join(f"{name} = :{name}" for name in COLUMNS if name != "key")
    database.execute(
        f"UPDATE failure_mode SET {assignments}, modified_at = :modified_at WHERE key = :key",  # noqa: S608
        after | {"modified_at": now()},
    )
    _log(database, annotator, before, after)


def _log(database: Database, annotator: str, before: Row | None, after: Row) -> None:
    database["failure_mode_edit"].insert(
        {
            "at": now(),
            "annotator": text(annotator),
            "failure_mode": after["key"],
            "before": None if before is None else to_json(before),
            "after": to_json(after),
        }
    )


def _validate(database: Database, row: Row) -> None:
    same = database.execute(
        "SELECT key, name, retired FROM failure_mode WHERE key <> ?", (row["key"],)
    ).fetchall()
    for _key, name, retired in same:
        if name.casefold() == row["name"].casefold():
            way_out = (
                " It is retired: bring it back." if retired else " Choose another name, or merge the two."
            )
            raise ProjectError(f"There is a failure mode {name} already.{way_out}")
    if row["shortcut"] and (holder := _holder(database, row["shortcut"], row["key"])):
        raise ProjectError(
            f"The key {row['shortcut']} is taken: it tags {holder}. Choose another letter, or give {holder} "
            "another one first."
        )
    if row["parent"] is not None:
        _validate_parent(database, row)


def _validate_parent(database: Database, row: Row) -> None:
    if row["parent"] == row["key"]:
        raise ProjectError(f"{row['name']} can't be a kind of itself.")
    parent = need_mode(database, row["parent"])
    if parent["retired"]:
        raise ProjectError(f"{parent['name']} is retired. Bring it back first, or choose another one.")
    if parent["parent"] is not None:
        raise ProjectError(
            f"{parent['name']} is a kind itself, and there are no kinds of kinds. Choose one that isn't."
        )
    if parent["level"] != row["level"]:
        raise ProjectError(f"{parent['name']} is of the {parent['level']} level, so its kinds are too.")
    kinds = database.execute("SELECT count(*) FROM failure_mode WHERE parent = ?", (row["key"],)).fetchone()
    if kinds[0]:
        raise ProjectError(f"{row['name']} has kinds of its own, so that it can't be a kind of another one.")


def _holder(database: Database, shortcut: str, but: str) -> str:
    """The name of the failure mode that a letter tags, other than `but`; nothing when there is none."""
    found = database.execute(
        "SELECT name FROM failure_mode WHERE upper(shortcut) = upper(?) AND key <> ?", (shortcut, but)
    ).fetchone()
    return str(found[0]) if found else ""


def _stored(field: str, value: object) -> object:
    match field:
        case "name":
            return _name(str(value))
        case "shortcut":
            return _letter(str(value or ""))
        case "level":
            return Level(str(value)).value
        case "parent":
            return value or None
        case _:
            return text(str(value).strip())


def _name(name: str) -> str:
    found = text(" ".join(name.split()))
    if not found:
        raise ProjectError("A failure mode needs a name.")
    return found


def _letter(shortcut: str) -> str | None:
    letter = shortcut.strip().upper()
    if not letter:
        return None
    if not re.fullmatch("[A-Z]", letter):
        raise ProjectError(f"The key {shortcut!r} can't be. It is one letter, A to Z, or none.")
    return letter


def _new_key(database: Database, name: str) -> str:
    stem = re.sub(r"[^a-z0-9]+", "_", name.casefold()).strip("_") or "mode"
    taken = {row[0] for row in database.execute("SELECT key FROM failure_mode").fetchall()}
    taken |= catalog.failure_modes().keys()
    key, number = stem, 1
    while key in taken:
        number += 1
        key = f"{stem}_{number}"
    return key
