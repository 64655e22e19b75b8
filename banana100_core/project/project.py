"""A project that is open: its connections, its writer and its lock."""

from __future__ import annotations

import contextlib
import os
import sqlite3
from contextlib import AbstractContextManager
from datetime import UTC, datetime
from enum import StrEnum
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Self, TypeVar
from uuid import uuid4

from banana100_core.errors import NotAProjectError, OlderProjectError, ProjectError, ProjectReadOnlyError
from banana100_core.project.database import (
    MAJOR,
    MINOR,
    READ_ONLY_WAY_OUT,
    connect,
    connect_read_only,
    explained,
    has_journal,
    packed_version,
    recognise,
    refuse_newer,
    sibling,
)
from banana100_core.project.filesystem import is_local
from banana100_core.project.lock import ProjectLock
from banana100_core.project.readers import Readers
from banana100_core.project.writer import CLOSE_SECONDS, Listener, Writer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from concurrent.futures import Future
    from types import TracebackType

    import sqlite_utils

T = TypeVar("T")
_LOG_SIZE = 64 * 2**20  # bytes of the write-ahead log that are taken into the file at once: a few pictures
_PAGE_SIZE = 8192  # a picture of 10 MB takes half the time to write, and a fifth to read, of pages of 4096


class ImageStorage(StrEnum):
    """Where a project keeps the bytes that it receives."""

    INSIDE = "inside"  # in the project file
    FOLDER = "folder"  # in a folder beside it, named by SHA-256


class Project:
    """An open project file; made by `create` or `open`, and to be closed.

    All writing goes through one thread, one transaction for each piece of work; reading can be done on any
    thread. `journal_mode` is SQLite's: "wal", or "delete" where the file is on a network drive.
    """

    path: Path
    read_only: bool
    uuid: str
    images: ImageStorage
    journal_mode: str

    def __init__(
        self,
        path: Path,
        lock: ProjectLock | None,
        database: sqlite_utils.Database | None,
        settings: dict[str, str],
    ) -> None:
        """For `create` and `open`; `lock` and `database` are None for reading only."""
        self.path = path
        self.read_only = database is None
        self.uuid = settings["uuid"]
        self.images = ImageStorage(settings["images"])
        self.journal_mode = settings["journal_mode"]
        self._lock = lock
        self._database = database
        self._readers = Readers(path)
        self._writer = None if database is None else Writer(database, path)

    @classmethod
    def create(cls, path: Path, *, images: ImageStorage = ImageStorage.INSIDE) -> Project:
        """Make an empty project and open it.

        Raises ProjectError when the file exists or its folder doesn't, ProjectReadOnlyError when the folder
        can't be written.
        """
        path = _real(path)
        _need_new(path)
        lock = ProjectLock(path)
        try:
            _need_new(path)
            _build(path, images)
            return cls._open_for_writing(path, lock)
        except BaseException:
            lock.release()
            raise

    @classmethod
    def open(cls, path: Path, *, read_only: bool = False) -> Project:
        """Open a project; only one process at a time can have it open for writing.

        Raises NotAProjectError, NewerProjectError, ProjectInUseError, ProjectReadOnlyError or ProjectError.
        """
        path = _real(path)
        recognise(path)
        if not read_only:
            _need_writable(path)
        settings = _settings(path, read_only=read_only)
        if read_only:
            return cls(path, None, None, settings)
        lock = ProjectLock(path)
        try:
            return cls._open_for_writing(path, lock)
        except BaseException:
            lock.release()
            raise

    @classmethod
    def _open_for_writing(cls, path: Path, lock: ProjectLock) -> Project:
        from banana100_core.project.catalog import take_in_catalog
        from banana100_core.project.migrations import migrate
        from banana100_core.project.reasoning import take_in
        from banana100_core.project.sqlite_tools import Database

        try:
            connection = connect(path, "rw")
            try:
                database = Database(connection, execute_plugins=False)
                migrate(database, path)
                take_in_catalog(database)
                with database.atomic():
                    take_in(database)
                mode = "wal" if is_local(path.parent) else "delete"
                connection.execute(f"PRAGMA journal_mode={mode}")
                connection.execute(f"PRAGMA wal_autocheckpoint={_LOG_SIZE // _PAGE_SIZE}")
                connection.execute(f"PRAGMA journal_size_limit={_LOG_SIZE}")
                return cls(path, lock, database, _settings(path, read_only=False))
            except BaseException:
                connection.close()
                raise
        except sqlite3.Error as error:
            raise explained(error, path) from error

    def reading(self) -> AbstractContextManager[sqlite3.Connection]:
        """This thread's read-only connection, its rows sqlite3.Row; ProjectClosedError after `close`."""
        return self._readers.reading()

    def write(self, work: Callable[[sqlite_utils.Database], T], *, changes: Iterable[str] = ()) -> T:
        """Run `work` on the writer thread in one transaction, wait, and give its result or raise its error.

        `changes` names the tables that it changes, for those who subscribed. When this returns, the work is
        on disk.
        """
        return self._writing().write(work, frozenset(changes))

    def submit(self, work: Callable[[sqlite_utils.Database], T], *, changes: Iterable[str] = ()) -> Future[T]:
        """Like `write`, without waiting."""
        return self._writing().submit(work, frozenset(changes))

    def subscribe(self, listener: Listener) -> Callable[[], None]:
        """Tell `listener` the names of changed tables after each commit; returns how to unsubscribe.

        It is called on the writer thread and must not wait for the project. A project open for reading only
        never calls it.
        """
        return (lambda: None) if self._writer is None else self._writer.subscribe(listener)

    def close(self, timeout: float = CLOSE_SECONDS) -> None:
        """Finish all queued writes and leave one file; to close twice does nothing.

        Raises ProjectError when the writer takes longer than `timeout` seconds; nothing is given up then.
        """
        if self._writer is not None:
            self._writer.close(timeout)
        self._readers.close()
        if self._database is not None:
            _settle(self._database.conn)
            self._database.close()
            self._database = None
        if self._lock is not None:
            self._lock.release()
            self._lock = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _writing(self) -> Writer:
        if self._writer is None:
            raise ProjectReadOnlyError(
                f"{self.path} is open for reading only. Open it without --read-only to change it."
            )
        return self._writer


def _real(path: Path) -> Path:
    # One file reached by two names must have one lock and one journal.
    try:
        return Path(path).resolve()
    except (OSError, RuntimeError) as error:
        raise ProjectError(f"{path} can't be followed: {error}. Check the links on its way.") from None


def _need_new(path: Path) -> None:
    if path.exists():
        raise ProjectError(f"{path} exists already. Open it, or choose another name.")
    if has_journal(path):
        # SQLite would take it for the new file's.
        raise ProjectError(
            f"Beside {path} lies the journal (-wal or -journal) of a project of that name that is gone. Put "
            "the project back, remove the journal, or choose another name."
        )
    if not path.parent.is_dir():
        raise ProjectError(f"There is no folder {path.parent}. Make it first, or choose another place.")
    if not os.access(path.parent, os.W_OK | os.X_OK):
        raise ProjectReadOnlyError(
            f"The folder {path.parent} can't be written. Choose another place for {path.name}."
        )


def _need_writable(path: Path) -> None:
    if not os.access(path, os.W_OK):
        raise ProjectReadOnlyError(f"{path} can't be written: it is read-only for you. {READ_ONLY_WAY_OUT}")
    if not os.access(path.parent, os.W_OK | os.X_OK):
        raise ProjectReadOnlyError(
            f"{path} can't be written: its folder is read-only for you. {READ_ONLY_WAY_OUT}"
        )


def _build(path: Path, images: ImageStorage) -> None:
    from banana100_core.project.migrations import migrate
    from banana100_core.project.sqlite_tools import Database

    # Under its own name the file is whole from the first moment.
    building = sibling(path, ".new")
    try:
        building.unlink(missing_ok=True)
        with contextlib.closing(connect(building, "rwc")) as connection:
            connection.execute(f"PRAGMA page_size={_PAGE_SIZE}")
            connection.execute("PRAGMA auto_vacuum=INCREMENTAL")
            database = Database(connection, execute_plugins=False)
            migrate(database, building)
            settings = {
                "uuid": str(uuid4()),
                "images": images.value,
                "created_at": datetime.now(UTC).isoformat(timespec="seconds"),
                "created_by": f"banana100-inspector {_program_version()}",
            }
            database["project_setting"].insert_all(
                {"key": key, "value": value} for key, value in settings.items()
            )
        building.replace(path)
    except sqlite3.Error as error:
        raise explained(error, path) from error
    except OSError as error:
        raise ProjectError(f"{path} can't be made: {error.strerror}. Choose another place.") from error
    finally:
        with contextlib.suppress(OSError):
            building.unlink(missing_ok=True)


def _settings(path: Path, *, read_only: bool) -> dict[str, str]:
    """What is set in the file, with its journal mode; refuses a file that can't be used."""
    try:
        with contextlib.closing(connect_read_only(path)) as connection:
            found = connection.execute("PRAGMA user_version").fetchone()[0]
            refuse_newer(path, found)
            if read_only and found < packed_version(MAJOR, MINOR):
                raise OlderProjectError(
                    f"{path} was written by an older version of the program. Open it once for "
                    "writing, in the window or by a command that changes it such as `banana100 score`, to "
                    "bring it up to date (a backup is made first)."
                )
            settings = dict(connection.execute("SELECT key, value FROM project_setting").fetchall())
            settings["journal_mode"] = connection.execute("PRAGMA journal_mode").fetchone()[0]
    except sqlite3.OperationalError as error:
        explanation = explained(error, path)
        if explanation is not error:
            raise explanation from error
        raise NotAProjectError(f"{path} is damaged ({error}). Restore it from a copy.") from error
    except sqlite3.DatabaseError as error:
        raise explained(error, path) from error
    if "uuid" not in settings or settings.get("images") not in {kind.value for kind in ImageStorage}:
        raise NotAProjectError(f"{path} is damaged (its settings are incomplete). Restore it from a copy.")
    return settings


def _settle(connection: sqlite3.Connection) -> None:
    # At rest a project is one plain file, which can be read from places that can't be written. Another
    # process that reads it keeps that from happening; the next one to close it will do it.
    with contextlib.suppress(sqlite3.OperationalError):
        connection.execute("PRAGMA busy_timeout=0")
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        connection.execute("PRAGMA journal_mode=DELETE")


def _program_version() -> str:
    try:
        return version("banana100-inspector")
    except PackageNotFoundError:
        return "unknown"
