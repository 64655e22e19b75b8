"""One file to hand over: a copy of a project with all images copied in."""

from __future__ import annotations

import contextlib
import os
import sqlite3
from typing import TYPE_CHECKING

from banana100_core.errors import ImageError, ProjectError
from banana100_core.project.database import connect, explained, sibling
from banana100_core.project.images import image_bytes
from banana100_core.project.project import ImageStorage, Project
from banana100_core.project.records import Storage

if TYPE_CHECKING:
    from pathlib import Path

    from banana100_core.progress import Progress

_PAGES_A_STEP = 4096


def pack(project: Project, out: Path, progress: Progress | None = None) -> None:
    """Write a copy of the project, all images in it, to the new file `out`; the original stays as it is.

    Raises ProjectError when `out` exists, or when images are missing or were changed; `out` is then not made.
    """
    out = out.resolve()
    if out.exists():
        raise ProjectError(f"{out} exists already. Choose another name.")
    if not out.parent.is_dir():
        raise ProjectError(f"There is no folder {out.parent}. Make it first, or choose another place.")
    if not os.access(out.parent, os.W_OK | os.X_OK):
        raise ProjectError(f"The folder {out.parent} can't be written. Choose another place for {out.name}.")
    unfinished = sibling(out, ".new")
    try:
        unfinished.unlink(missing_ok=True)
        with contextlib.closing(connect(unfinished, "rwc")) as copy:
            _copy_database(project, copy, out, progress)
            _copy_images_in(project, copy, progress)
        unfinished.replace(out)
    except sqlite3.Error as error:
        raise explained(error, out) from error
    except OSError as error:
        raise ProjectError(f"{out} can't be written: {error.strerror}. Choose another place.") from error
    finally:
        for suffix in ("", "-journal", "-wal", "-shm"):
            sibling(unfinished, suffix).unlink(missing_ok=True)


def _copy_database(project: Project, copy: sqlite3.Connection, out: Path, progress: Progress | None) -> None:
    def tell(_status: int, remaining: int, total: int) -> None:
        if progress is not None:
            progress(total - remaining, total, "pages of the project file")

    with project.reading() as connection:
        # One snapshot: without it each commit of the writer would begin the copy anew.
        connection.execute("BEGIN")
        try:
            connection.backup(copy, pages=_PAGES_A_STEP, progress=tell)
        except (
            sqlite3.OperationalError
        ) as error:  # of the copy: what is wrong with the original is no such error
            raise explained(error, out) from error
        finally:
            connection.execute("ROLLBACK")
    copy.execute("PRAGMA journal_mode=DELETE")


def _copy_images_in(project: Project, copy: sqlite3.Connection, progress: Progress | None) -> None:
    elsewhere = [
        row[0]
        for row in copy.execute("SELECT sha256 FROM image WHERE storage <> ? ORDER BY rowid", [Storage.BLOB])
    ]
    unreadable: list[str] = []
    copy.execute("BEGIN")
    for done, sha256 in enumerate(elsewhere):
        if progress is not None:
            progress(done, len(elsewhere), "images outside the project file")
        try:
            data = image_bytes(project, sha256)
        except ImageError as error:
            unreadable.append(str(error))
            continue
        copy.execute("INSERT INTO blob (sha256, bytes) VALUES (?, ?)", (sha256, data))
        copy.execute("UPDATE image SET storage = ?, path = NULL WHERE sha256 = ?", (Storage.BLOB, sha256))
    if unreadable:
        more = f" and {len(unreadable) - 1} more" if len(unreadable) > 1 else ""
        raise ProjectError(f"{project.path} can't be packed: {unreadable[0]} (This image{more}.)")
    copy.execute("UPDATE project_setting SET value = ? WHERE key = 'images'", (ImageStorage.INSIDE,))
    copy.execute("COMMIT")
