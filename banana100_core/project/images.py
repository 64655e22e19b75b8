"""The images of a project: received bytes, referenced files, thumbnails."""

from __future__ import annotations

import contextlib
import hashlib
import os
import secrets
import sqlite3
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from banana100_core.errors import ImageError, ProjectError
from banana100_core.project.database import connect_read_only, explained
from banana100_core.project.project import ImageStorage, Project
from banana100_core.project.records import Image, InitialImage, Storage
from banana100_core.project.rows import from_json, text, to_json

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sqlite_utils import Database

CHANGES = frozenset({"image"})
IMAGE_COLUMNS = "image.sha256, image.width, image.height, image.media_type, image.byte_size, image.notes"


@dataclass(frozen=True, slots=True)
class NewImage:
    """An image to be stored: as received bytes (`data`), or as a reference to the user's own `file`."""

    image: Image
    data: bytes | None = None
    file: Path | None = None

    def __post_init__(self) -> None:
        if (self.data is None) == (self.file is None):
            raise ValueError("a NewImage has either data or a file")


@dataclass(frozen=True, slots=True)
class ImageLocation:
    """Where an image's bytes are; may be sent to another process, which reads them by itself.

    `file` is None where they are in the project file.
    """

    sha256: str
    project_path: Path
    file: Path | None

    def read(self) -> bytes:
        """The image's bytes, those that its SHA-256 names; ImageError when they are gone or changed."""
        return self._read_blob() if self.file is None else self._read_file(self.file)

    def _read_file(self, file: Path) -> bytes:
        try:
            data = file.read_bytes()
        except OSError as error:
            raise ImageError(
                f"The image {file} can't be read: {error.strerror}. Put it back, or import it again."
            ) from None
        if hashlib.sha256(data).hexdigest() != self.sha256:
            raise ImageError(
                f"The image {file} was changed since it was imported. Restore it, or import it again."
            )
        return data

    def _read_blob(self) -> bytes:
        try:
            with contextlib.closing(connect_read_only(self.project_path)) as connection:
                return blob(connection, self.sha256, self.project_path)
        except sqlite3.Error as error:
            raise explained(error, self.project_path) from error


def image_bytes(project: Project, sha256: str) -> bytes:
    """The bytes of an image, as received or as in its file; ImageError when they are gone or changed."""
    location = image_location(project, sha256)
    if location.file is not None:
        return location.read()
    with project.reading() as connection:
        return blob(connection, sha256, project.path)


def image_location(project: Project, sha256: str) -> ImageLocation:
    """Where to read an image; ImageError when the project doesn't know it."""
    with project.reading() as connection:
        row = connection.execute("SELECT storage, path FROM image WHERE sha256 = ?", (sha256,)).fetchone()
    if row is None:
        raise ImageError(f"{project.path} has no image {sha256}.")
    return ImageLocation(sha256, project.path, located(project.path, sha256, *row))


def located(project_path: Path, sha256: str, storage: str, path: str | bytes | None) -> Path | None:
    """The file that an image's row speaks of; None for one in the project file."""
    match Storage(storage):
        case Storage.BLOB:
            return None
        case Storage.FOLDER:
            return in_folder(project_path, sha256)
        case Storage.FILE:
            # Joining leaves an absolute path as it is.
            return project_path.parent / (os.fsdecode(path) if isinstance(path, bytes) else str(path))


def image_folder(project_path: Path) -> Path:
    """The folder beside a project that keeps received images."""
    return project_path.with_name(project_path.stem + ".images")


def in_folder(project_path: Path, sha256: str) -> Path:
    """The file of one received image in that folder."""
    return image_folder(project_path) / sha256[:2] / sha256


def blob(connection: sqlite3.Connection, sha256: str, project_path: Path) -> bytes:
    """The bytes of an image in the project file."""
    row = connection.execute("SELECT rowid FROM blob WHERE sha256 = ?", (sha256,)).fetchone()
    if row is None:
        raise ImageError(
            f"The bytes of image {sha256} are missing from {project_path}. Restore it from a copy."
        )
    # A value of a query's row would be copied twice, and no other thread could run Python meanwhile.
    with connection.blobopen("blob", "bytes", row[0], readonly=True) as opened:
        data: bytes = opened.read()
    return data


def prepared(project: Project, new: NewImage) -> dict[str, Any]:
    """The row of a new image; bytes for the images folder are on disk before the row is."""
    image = new.image
    row: dict[str, Any] = {
        "sha256": image.sha256,
        "width": image.width,
        "height": image.height,
        "media_type": image.media_type,
        "byte_size": image.byte_size,
        "notes": to_json(image.notes),
        "path": None,
    }
    if new.file is not None:
        return row | {"storage": Storage.FILE.value, "path": _path_to_keep(project.path, new.file)}
    if project.images is ImageStorage.FOLDER and new.data is not None:
        _write_to_folder(in_folder(project.path, image.sha256), new.data)
        return row | {"storage": Storage.FOLDER.value}
    return row | {"storage": Storage.BLOB.value}


def store(database: Database, row: dict[str, Any], data: bytes | None) -> None:
    """Put an image's row, and its bytes where they belong in the project file; part of a write.

    Equal pictures are kept once. Received bytes take the place of a reference, a newer reference that of an
    older one.
    """
    database.execute(
        "INSERT INTO image (sha256, width, height, media_type, byte_size, notes, storage, path)"
        " VALUES (:sha256, :width, :height, :media_type, :byte_size, :notes, :storage, :path)"
        " ON CONFLICT (sha256) DO UPDATE SET storage = excluded.storage, path = excluded.path"
        " WHERE image.storage = 'file'",
        row,
    )
    if row["storage"] == Storage.BLOB:
        database.execute(
            "INSERT INTO blob (sha256, bytes)"
            " SELECT sha256, ? FROM image WHERE sha256 = ? AND storage = 'blob' ON CONFLICT DO NOTHING",
            (data, row["sha256"]),
        )


def thumbnail(project: Project, sha256: str) -> bytes | None:
    """An image's thumbnail as an encoded picture, None when there is none yet."""
    return thumbnails(project, [sha256]).get(sha256)


def thumbnails(project: Project, sha256s: Sequence[str]) -> dict[str, bytes]:
    """Those thumbnails that there are, by image."""
    with project.reading() as connection:
        rows = connection.execute(
            "SELECT sha256, bytes FROM thumbnail WHERE sha256 IN (SELECT value FROM json_each(?))",
            (to_json(list(sha256s)),),
        ).fetchall()
    return {row["sha256"]: row["bytes"] for row in rows}


def add_thumbnails(project: Project, thumbnails: Mapping[str, bytes]) -> None:
    """Keep thumbnails by image; those of unknown images are passed over."""

    def work(database: Database) -> None:
        database.conn.executemany(
            "INSERT INTO thumbnail (sha256, bytes) SELECT sha256, ? FROM image WHERE sha256 = ?"
            " ON CONFLICT (sha256) DO UPDATE SET bytes = excluded.bytes",
            [(data, sha256) for sha256, data in thumbnails.items()],
        )

    if thumbnails:
        project.write(work, changes={"thumbnail"})


def add_initial_image(project: Project, name: str, image: NewImage, credit: str = "") -> None:
    """Keep an initial image under its name; the same again changes nothing.

    Raises ProjectError when another image has that name.
    """
    row = prepared(project, image)

    def work(database: Database) -> None:
        store(database, row, image.data)
        put_initial_image(database, project, name, row["sha256"], credit)

    project.write(work, changes=CHANGES | {"initial_image"})


def put_initial_image(database: Database, project: Project, name: str, sha256: str, credit: str = "") -> None:
    """Name an image of the project as an initial one, as part of a write; see `add_initial_image`."""
    database.execute(
        "INSERT INTO initial_image (name, sha256, credit) VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
        (text(name), sha256, text(credit)),
    )
    kept = database.execute("SELECT sha256 FROM initial_image WHERE name = ?", (text(name),)).fetchone()
    if kept[0] != sha256:
        raise ProjectError(
            f"{project.path} has another initial image named {name!r}. Give this one another name."
        )


def initial_images(project: Project) -> list[InitialImage]:
    """All initial images, in the order in which they came."""
    with project.reading() as connection:
        rows = connection.execute(
            f"SELECT initial_image.name, initial_image.credit, {IMAGE_COLUMNS} FROM initial_image"  # noqa: S608
            " JOIN image USING (sha256) ORDER BY initial_image.rowid"
        ).fetchall()
    return [InitialImage(row["name"], image_of(row), row["credit"]) for row in rows]


def image_of(row: sqlite3.Row) -> Image:
    """The image in a row that has `IMAGE_COLUMNS`."""
    return Image(
        row["sha256"],
        row["width"],
        row["height"],
        row["media_type"],
        row["byte_size"],
        tuple(from_json(row["notes"])),
    )


def _path_to_keep(project_path: Path, file: Path) -> str | bytes:
    # Of the file itself the name stays as it is, even if it is a link; its folder is followed, so that ".."
    # in the relative path means what it says.
    real = Path(os.path.realpath(file.parent)) / file.name
    try:
        path = Path(os.path.relpath(real, project_path.parent)).as_posix()
    except ValueError:  # on another drive
        path = real.as_posix()
    try:
        path.encode()
    except UnicodeEncodeError:
        return os.fsencode(path)
    return path


def _write_to_folder(file: Path, data: bytes) -> None:
    if file.exists():
        return
    unfinished = file.with_name(f".{file.name}.{secrets.token_hex(4)}")
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with unfinished.open("xb") as stream:
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
        unfinished.replace(file)
        _sync_folder(file.parent)
    except OSError as error:
        raise ProjectError(
            f"The image {file} can't be written: {error.strerror}. Free space or permit writing, then go on."
        ) from error
    finally:
        with contextlib.suppress(OSError):
            unfinished.unlink(missing_ok=True)


def _sync_folder(folder: Path) -> None:
    if os.name == "nt":  # a rename is durable there, and folders can't be opened
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
