"""Putting a backup back: all tables as they were, in one transaction; received images stay where they are.

A backup has no received images (`backup.LEFT_OUT`), so the project itself is what it is put back into. Images
that came after the backup stay there too: what was in the project before can be put back in the same way.
"""

from __future__ import annotations

import contextlib
import sqlite3
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from banana100_core.errors import NotAProjectError, ProjectError
from banana100_core.project.backup import LEFT_OUT, back_up
from banana100_core.project.database import (
    connect,
    connect_read_only,
    explained,
    recognise,
    sibling,
    unpacked_version,
    uri_of,
)
from banana100_core.project.lock import ProjectLock
from banana100_core.project.project import Project
from banana100_core.project.rows import file_moment

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_COUNTS = {"runs": "run", "steps": "step", "tags": "tag", "edits": "edit"}


@dataclass(frozen=True, slots=True)
class Held:
    """What a project or a backup of one holds; `at` is when the file was last written, in UTC."""

    path: Path
    at: str
    version: str
    uuid: str
    runs: int
    steps: int
    tags: int
    edits: int


@dataclass(frozen=True, slots=True)
class Restored:
    """What the project held before and holds now; `kept` is the backup of what it held before."""

    before: Held
    now: Held
    kept: Path | None  # None of a dry run


def held(path: Path) -> Held:
    """Count what a project or a backup holds; raises as `Project.open` does."""
    recognise(path)
    try:
        with contextlib.closing(connect_read_only(path)) as connection:
            return _held(connection, path)
    except sqlite3.Error as error:
        raise explained(error, path) from error


def backups_of(path: Path) -> list[Held]:
    """The backups beside a project, the newest first; what is no backup of it is left out."""
    uuid = held(path).uuid
    found = []
    for file in path.resolve().parent.glob("*.bak"):
        if file.name.startswith(f"{path.resolve().name}."):
            with contextlib.suppress(ProjectError):
                found.append(held(file))
    return sorted((each for each in found if each.uuid == uuid), key=lambda each: each.at, reverse=True)


def restore(path: Path, backup: Path, *, dry_run: bool = False) -> Restored:
    """Make a project what its backup says, after a backup of what it is; nothing is changed if that fails.

    The project must not be open elsewhere. One that an older version wrote is brought up to date when it is
    opened next. Raises ProjectError where the backup is damaged, is another project's, or names received
    images that the project has not got.
    """
    path = path.resolve()
    before = held(path)
    if not backup.exists():
        raise ProjectError(
            f"There is no backup {backup}. `banana100 restore {path.name}` lists those there are."
        )
    wanted = held(backup)
    if before.uuid != wanted.uuid:
        raise ProjectError(f"{backup} is a backup of another project. Name one of {path.name}.")
    if dry_run:
        with _together(path, backup, "ro") as connection:
            _verify(connection, path, backup)
        return Restored(before, wanted, None)
    lock = ProjectLock(path)
    try:
        kept = sibling(path, f".before-restore-{file_moment()}.bak")
        with _together(path, backup, "rw") as connection:
            _verify(connection, path, backup)
            back_up(connection, kept)
            _replace(connection)
    finally:
        lock.release()
    with Project.open(path):  # brought up to date, its full-text index made anew
        pass
    return Restored(before, held(path), kept)


@contextlib.contextmanager
def _together(path: Path, backup: Path, mode: str) -> Iterator[sqlite3.Connection]:
    """A connection to a project to which its backup is attached as "taken"."""
    try:
        with contextlib.closing(connect(path, mode)) as connection:
            connection.execute("ATTACH ? AS taken", (uri_of(backup, "ro"),))
            yield connection
    except sqlite3.Error as error:
        raise explained(error, path) from error


def _verify(connection: sqlite3.Connection, path: Path, backup: Path) -> None:
    found = connection.execute("PRAGMA taken.quick_check(1)").fetchone()[0]
    if found != "ok":
        raise NotAProjectError(f"{backup} is damaged ({found}). Choose another backup.")
    if connection.execute("PRAGMA taken.foreign_key_check").fetchone() is not None:
        raise NotAProjectError(f"{backup} is not whole: rows refer to what is not there. Choose another one.")
    missing = connection.execute(
        "SELECT count(*) FROM taken.image WHERE storage = 'blob'"
        " AND sha256 NOT IN (SELECT sha256 FROM main.blob) AND sha256 NOT IN (SELECT sha256 FROM taken.blob)"
    ).fetchone()[0]
    if missing:
        raise ProjectError(
            f"{path.name} has not got {missing:,} of the received images that {backup.name} names, and no "
            "backup has them. Restore into the project that the backup was made of."
        )


def _replace(connection: sqlite3.Connection) -> None:
    """Put all tables of "taken" in place of the project's own, but for received images: these are added."""
    connection.execute("PRAGMA foreign_keys=OFF")
    connection.execute("BEGIN IMMEDIATE")
    try:
        for kind, name in _own(connection):
            connection.execute(f'DROP {kind} IF EXISTS main."{name}"')
        tables, others = [], _made_by_others(connection, "taken")
        for kind, name, sql in connection.execute(
            "SELECT type, name, sql FROM taken.sqlite_schema WHERE sql IS NOT NULL"
            " AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY type = 'trigger', rowid"
        ).fetchall():
            if name != "blob" and name not in others:
                connection.execute(sql)
                if kind == "table" and name not in LEFT_OUT and not sql.upper().startswith("CREATE VIRTUAL"):
                    tables.append(name)
        for table in tables:
            connection.execute(f'INSERT INTO main."{table}" SELECT * FROM taken."{table}"')  # noqa: S608
        connection.execute("INSERT OR IGNORE INTO main.blob SELECT * FROM taken.blob")
        version = connection.execute("PRAGMA taken.user_version").fetchone()[0]
        connection.execute(f"PRAGMA main.user_version = {version}")
        connection.execute("COMMIT")
    finally:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        connection.execute("DETACH taken")
        connection.execute("PRAGMA foreign_keys=ON")


def _own(connection: sqlite3.Connection) -> list[tuple[str, str]]:
    """Kind and name of all that is to be dropped, in an order in which it can be."""
    others = _made_by_others(connection, "main")
    rows = connection.execute(
        "SELECT type, name FROM main.sqlite_schema WHERE type IN ('trigger', 'view', 'table')"
        " AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' AND name <> 'blob'"
        " ORDER BY type = 'table', type = 'view', rowid DESC"
    ).fetchall()
    return [(kind, name) for kind, name in rows if name not in others]


def _made_by_others(connection: sqlite3.Connection, schema: str) -> set[str]:
    """Tables that a full-text index makes and drops by itself."""
    rows = connection.execute(
        "SELECT name FROM pragma_table_list WHERE schema = ? AND type = 'shadow'", (schema,)
    )
    return {name for (name,) in rows}


def _held(connection: sqlite3.Connection, path: Path) -> Held:
    try:
        uuid = connection.execute("SELECT value FROM project_setting WHERE key = 'uuid'").fetchone()[0]
        counts = {
            name: connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0]  # noqa: S608
            for name, table in _COUNTS.items()
        }
    except (sqlite3.OperationalError, TypeError) as error:
        raise NotAProjectError(f"{path} lacks what a project has ({error}). Name another file.") from None
    major, minor = unpacked_version(connection.execute("PRAGMA user_version").fetchone()[0])
    at = datetime.fromtimestamp(path.stat().st_mtime, UTC).isoformat(timespec="seconds")
    return Held(path, at, f"{major}.{minor}", uuid, **counts)
