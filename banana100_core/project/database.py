"""Connections to a project file, what its header says, and what SQLite's errors mean to a person."""

from __future__ import annotations

import contextlib
import os
import sqlite3
import stat
import struct
from typing import TYPE_CHECKING
from urllib.parse import quote

from banana100_core.errors import (
    NewerProjectError,
    NotAProjectError,
    ProjectClosedError,
    ProjectError,
    ProjectInUseError,
    ProjectReadOnlyError,
)

if TYPE_CHECKING:
    from pathlib import Path

APPLICATION_ID = 0x42313030  # "B100"
# An older program can read a file with a newer minor number, never one with a newer major.
MAJOR, MINOR = 1, 9
BUSY_SECONDS = 10.0
READ_ONLY_WAY_OUT = (
    "Copy it to a folder that you can write, or look at it as it is with `banana100 open --read-only`."
)

_MAGIC = b"SQLite format 3\x00"
_HEADER_SIZE = 100
_NO_PLACE_FOR_FILES = frozenset({sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY})


def packed_version(major: int, minor: int) -> int:
    """Both numbers in one, as `user_version` keeps them."""
    return major << 16 | minor


def unpacked_version(version: int) -> tuple[int, int]:
    """Major and minor number of a `user_version`."""
    return version >> 16, version & 0xFFFF


def sibling(path: Path, suffix: str) -> Path:
    """The file beside `path` whose name goes on with `suffix`, as SQLite names its journals."""
    return path.with_name(path.name + suffix)


def uri_of(path: Path, mode: str) -> str:
    """The address by which SQLite opens a file of any name, also of none in Unicode; see `connect`."""
    name = path.absolute().as_posix()
    # What follows two slashes is taken for a host: a drive or a network share goes after a third one.
    return f"file://{'' if name.startswith('/') else '/'}{quote(os.fsencode(name))}?mode={mode}"


def connect(path: Path, mode: str, *, immutable: bool = False) -> sqlite3.Connection:
    """Open a connection in autocommit mode; `mode` is SQLite's: ro, rw or rwc.

    It may be closed from another thread. Nothing in the file is trusted: its views and triggers can't call
    functions with side effects.
    """
    connection = sqlite3.connect(
        uri_of(path, mode) + ("&immutable=1" if immutable else ""),
        uri=True,
        timeout=BUSY_SECONDS,
        isolation_level=None,
        check_same_thread=False,
    )
    try:
        for setting in ("foreign_keys=ON", "trusted_schema=OFF", "cell_size_check=ON"):
            connection.execute(f"PRAGMA {setting}")
        if mode != "ro":
            connection.execute("PRAGMA synchronous=FULL")
    except BaseException:
        connection.close()
        raise
    return connection


def connect_read_only(path: Path) -> sqlite3.Connection:
    """Open a connection that can't write, in places too where SQLite can't put its own files.

    Raises sqlite3.Error; see `explained`.
    """
    connection = connect(path, "ro")
    try:
        connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()
    except sqlite3.OperationalError as error:
        connection.close()
        # A file left in write-ahead mode needs files beside it, unless SQLite is told that nothing will
        # change. With work in a journal that would be wrong: it would be left out.
        if primary_code(error) not in _NO_PLACE_FOR_FILES or has_journal(path):
            raise
        connection = connect(path, "ro", immutable=True)
    except BaseException:
        connection.close()
        raise
    connection.row_factory = sqlite3.Row
    connection.execute("PRAGMA query_only=ON")
    return connection


def has_journal(path: Path) -> bool:
    """Tell whether a journal with work in it lies beside the file."""
    for suffix in ("-wal", "-journal"):
        with contextlib.suppress(OSError):
            if sibling(path, suffix).stat().st_size:
                return True
    return False


def recognise(path: Path) -> None:
    """Refuse what is no project of this version, from the first 100 bytes alone; nothing is touched.

    Raises ProjectError, NotAProjectError or NewerProjectError.
    """
    try:
        status = path.stat()
        if stat.S_ISREG(status.st_mode):
            with path.open("rb") as file:
                header = file.read(_HEADER_SIZE)
    except FileNotFoundError:
        raise ProjectError(
            f"There is no project {path}. Check the path, or make one with `banana100 new`."
        ) from None
    except OSError as error:
        raise ProjectError(
            f"{path} can't be read: {error.strerror}. Check its permissions, or copy it elsewhere."
        ) from None
    if stat.S_ISDIR(status.st_mode):
        raise NotAProjectError(f"{path} is a folder, not a project. Name a .b100 file.")
    if not stat.S_ISREG(status.st_mode):
        raise NotAProjectError(f"{path} is not a regular file. Name a .b100 file.")
    if not header:
        raise NotAProjectError(f"{path} is empty (0 bytes). Restore it from a copy, or remove it.")
    if not header.startswith(_MAGIC[: len(header)]):
        raise NotAProjectError(f"{path} is not a Banana100 project (nor any SQLite file). Name a .b100 file.")
    if len(header) < _HEADER_SIZE:
        raise NotAProjectError(f"{path} is truncated to {len(header)} bytes. Restore it from a copy.")
    application_id, version = struct.unpack_from(">I", header, 68)[0], struct.unpack_from(">I", header, 60)[0]
    if application_id != APPLICATION_ID:
        raise NotAProjectError(
            f"{path} is an SQLite file of another program, not a Banana100 project. Name a .b100 file."
        )
    refuse_newer(path, version)
    _refuse_truncated(path, header, status.st_size)


def refuse_newer(path: Path, version: int) -> None:
    """Raise NewerProjectError when a `user_version` is one that this program can't know."""
    major, minor = unpacked_version(version)
    if major > MAJOR:
        raise NewerProjectError(
            f"{path} was written by a newer version of the program (file version {major}.{minor}, this "
            f"program knows {MAJOR}.x). Install the newer version to open it."
        )


def _refuse_truncated(path: Path, header: bytes, size: int) -> None:
    page_size, changes, pages, valid_for = (
        struct.unpack_from(">H", header, 16)[0],
        *struct.unpack_from(">II", header, 24),
        struct.unpack_from(">I", header, 92)[0],
    )
    expected = pages * (0x10000 if page_size == 1 else page_size)
    # SQLite's own rule for when the number of pages in the header holds; a journal may bring the rest.
    if changes == valid_for and size < expected and not has_journal(path):
        raise NotAProjectError(
            f"{path} is truncated: {size:,} of {expected:,} bytes are there. Restore it from a copy."
        )


def primary_code(error: sqlite3.Error) -> int:
    """SQLite's result code without its extension; 0 where the error did not come from SQLite."""
    code: int = getattr(error, "sqlite_errorcode", 0) or 0
    return code & 0xFF


def explained(error: sqlite3.Error, path: Path) -> Exception:  # noqa: PLR0911 - a table
    """What an SQLite error means to the person at the program; one that only a bug makes stays as it is."""
    match primary_code(error):
        case sqlite3.SQLITE_FULL:
            return ProjectError(
                f"There is no space left to write {path}. Finished work is safe; free some space and go on."
            )
        case sqlite3.SQLITE_BUSY | sqlite3.SQLITE_LOCKED:
            return ProjectInUseError(
                f"{path} is locked by another program ({error}). Close what else has it open and try again."
            )
        case sqlite3.SQLITE_READONLY | sqlite3.SQLITE_CANTOPEN | sqlite3.SQLITE_PERM:
            return ProjectReadOnlyError(_unopenable(error, path))
        case sqlite3.SQLITE_CORRUPT | sqlite3.SQLITE_NOTADB:
            return NotAProjectError(f"{path} is damaged ({error}). Restore it from a copy.")
        case sqlite3.SQLITE_IOERR:
            return ProjectError(
                f"{path} can't be read or written: {error}. Check the disk or the connection to it."
            )
        case sqlite3.SQLITE_INTERRUPT:
            return ProjectClosedError(f"{path} was closed.")
        case _:
            return error


def _unopenable(error: sqlite3.Error, path: Path) -> str:
    if has_journal(path):
        return (
            f"{path} has unfinished work beside it (-wal or -journal) that can't be taken in here ({error}). "
            "Copy the file together with it to a folder that you can write, and open it there."
        )
    return f"{path} can't be written ({error}). {READ_ONLY_WAY_OUT}"
