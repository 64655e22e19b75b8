"""Whether a project is whole: SQLite's own checks, image hashes, and what nothing refers to."""

from __future__ import annotations

import hashlib
import sqlite3
from collections import defaultdict
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from banana100_core.project.images import image_folder, located
from banana100_core.project.project import Project
from banana100_core.project.records import Storage
from banana100_core.project.rows import text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from banana100_core.progress import Progress

_CHUNK = 2**20
_MOST_INTEGRITY_ERRORS = 20


class Severity(StrEnum):
    """Whether something is lost, or only untidy."""

    ERROR = "error"
    WARNING = "warning"


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that is not as it should be: what, the reason, and the way out."""

    severity: Severity
    what: str
    reason: str
    way_out: str


def check(path: Path, progress: Progress | None = None) -> list[Finding]:
    """Check a project without changing it, also while it is open elsewhere; no findings: it is whole.

    Reads every image once. Raises what `Project.open` raises when the file can't be opened at all.
    """
    with Project.open(path, read_only=True) as project, project.reading() as connection:
        parts = (
            _database(connection),
            _references(connection),
            _runs(connection),
            _unused(connection),
            _images(connection, project.path, progress),
            _strays(connection, project.path),
        )
        findings = [finding for part in parts for finding in _as_far_as_it_goes(part, project.path)]
    return list(dict.fromkeys(findings))


def _as_far_as_it_goes(part: Iterator[Finding], path: Path) -> Iterator[Finding]:
    try:
        yield from part
    except sqlite3.DatabaseError as error:
        yield _error(str(path), f"it is damaged ({error})", "Restore it from a copy.")


def _database(connection: sqlite3.Connection) -> Iterator[Finding]:
    for (message,) in connection.execute(f"PRAGMA integrity_check({_MOST_INTEGRITY_ERRORS})"):
        if message != "ok":
            yield _error("The project file", f"SQLite finds it damaged: {message}", "Restore it from a copy.")


def _references(connection: sqlite3.Connection) -> Iterator[Finding]:
    rows = connection.execute(
        "SELECT child, parent, count(*) FROM"
        ' (SELECT "table" AS child, parent FROM pragma_foreign_key_check()) GROUP BY child, parent'
    )
    for child, parent, count in rows:
        yield _error(
            f"{count} of the rows of {child}",
            f"they refer to a {parent} that isn't there",
            "Another program has changed the file: restore it from a copy.",
        )


def _runs(connection: sqlite3.Connection) -> Iterator[Finding]:
    rows = connection.execute(
        "SELECT run.id, count(step.id), ifnull(max(step.number) - sum(step.number > 0), 0)"
        " FROM run LEFT JOIN step ON step.run_id = run.id GROUP BY run.id"
    )
    for run_id, steps, missing in rows:
        if not steps:
            yield _warning(f"Run {run_id}", "it has no steps", "Resume it, or import its steps again.")
        elif missing:
            reason = f"{missing} of the steps before its last one are missing"
            yield _warning(f"Run {run_id}", reason, "Import them again.")


def _unused(connection: sqlite3.Connection) -> Iterator[Finding]:
    untidy = "Nothing is lost; they only take space."
    images = connection.execute(
        "SELECT sha256 FROM image"
        " WHERE NOT EXISTS (SELECT 1 FROM step WHERE step.image_sha256 = image.sha256)"
        " AND NOT EXISTS (SELECT 1 FROM initial_image WHERE initial_image.sha256 = image.sha256)"
    )
    yield from _listed(Severity.WARNING, "images", "no step uses them", untidy, (row[0] for row in images))
    for table in ("blob", "thumbnail"):
        orphans = f"SELECT sha256 FROM {table} WHERE sha256 NOT IN (SELECT sha256 FROM image)"  # noqa: S608
        rows = connection.execute(orphans)
        reason = "there is no image of that SHA-256"
        yield from _listed(Severity.WARNING, f"{table}s", reason, untidy, (row[0] for row in rows))


def _images(connection: sqlite3.Connection, path: Path, progress: Progress | None) -> Iterator[Finding]:
    rows = connection.execute(
        "SELECT image.sha256, image.storage, image.path, blob.rowid AS blob_rowid FROM image"
        " LEFT JOIN blob ON blob.sha256 = image.sha256 AND image.storage = 'blob'"
        " ORDER BY image.storage, image.path"
    ).fetchall()
    missing: defaultdict[Path, list[str]] = defaultdict(list)
    for done, row in enumerate(rows):
        if progress is not None:
            progress(done, len(rows), row["sha256"])
        file = located(path, row["sha256"], row["storage"], row["path"])
        try:
            found = _sha256_of_file(file) if file else _sha256_of_blob(connection, row["blob_rowid"])
        except FileNotFoundError:
            missing[path if file is None else file.parent].append(
                row["sha256"] if file is None else file.name
            )
            continue
        except OSError as error:
            yield _error(f"The image {file}", f"it can't be read: {error.strerror}", "Check its permissions.")
            continue
        if found != row["sha256"]:
            yield _changed(file or f"{row['sha256']} in the project file", row["storage"])
    for folder, names in missing.items():
        way_out = "Put them back, or import them again."
        yield from _listed(Severity.ERROR, f"images in {folder}", "they are missing", way_out, names)
    if progress is not None:
        progress(len(rows), len(rows), "")


def _strays(connection: sqlite3.Connection, path: Path) -> Iterator[Finding]:
    kept = {row[0] for row in connection.execute("SELECT sha256 FROM image WHERE storage = 'folder'")}
    folder = image_folder(path)
    strays = sorted(file.name for file in folder.glob("??/*") if file.name not in kept)
    way_out = "They are left from interrupted work and can be removed."
    yield from _listed(Severity.WARNING, f"files in {folder}", "no image has that name", way_out, strays)


def _sha256_of_file(file: Path) -> str:
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _sha256_of_blob(connection: sqlite3.Connection, rowid: int | None) -> str:
    if rowid is None:
        raise FileNotFoundError
    digest = hashlib.sha256()
    with connection.blobopen("blob", "bytes", rowid, readonly=True) as blob:
        while chunk := blob.read(_CHUNK):
            digest.update(chunk)
    return digest.hexdigest()


def _changed(what: Path | str, storage: str) -> Finding:
    reason = "its bytes are not those that its SHA-256 names: it was changed or is damaged"
    way_out = "Restore it" + (", or import it again." if storage == Storage.FILE else " from a copy.")
    return _error(f"The image {what}", reason, way_out)


def _listed(
    severity: Severity, what: str, reason: str, way_out: str, names: Iterable[str]
) -> Iterator[Finding]:
    if names := list(names):
        some = text(", ".join(names[:3]) + (", ..." if len(names) > 3 else ""))
        yield Finding(severity, f"{len(names)} {what}: {some}", reason, way_out)


def _error(what: str, reason: str, way_out: str) -> Finding:
    return Finding(Severity.ERROR, what, reason, way_out)


def _warning(what: str, reason: str, way_out: str) -> Finding:
    return Finding(Severity.WARNING, what, reason, way_out)
