"""The lock beside a project file: one process at a time writes, and others can tell which."""

from __future__ import annotations

import json
import os
import socket
from typing import TYPE_CHECKING

from filelock import FileLock, Timeout

from banana100_core.errors import ProjectInUseError, ProjectReadOnlyError
from banana100_core.project.database import READ_ONLY_WAY_OUT, sibling

if TYPE_CHECKING:
    from pathlib import Path


class ProjectLock:
    """Held while a project is open for writing; the lock file goes when it is released.

    Raises ProjectInUseError, naming who holds it, or ProjectReadOnlyError.
    """

    def __init__(self, project: Path) -> None:
        self._file = sibling(project, ".lock")
        # A project may be closed from another thread than the one that opened it.
        self._lock = FileLock(self._file, timeout=0, thread_local=False, on_acquired=_sign)
        try:
            self._lock.acquire()
        except Timeout:
            raise ProjectInUseError(
                f"{project} is in use by {_holder(self._file)}. Close it there; till then look at it "
                "with `banana100 open --read-only`."
            ) from None
        except OSError as error:
            raise ProjectReadOnlyError(
                f"{project} can't be locked for writing: {self._file}: {error.strerror}. {READ_ONLY_WAY_OUT}"
            ) from None

    def release(self) -> None:
        """Give the project free and remove the lock file."""
        if os.name != "nt":  # there a file in use can't be removed, and the lock does it itself
            self._file.unlink(missing_ok=True)
        self._lock.release()


def _sign(descriptor: int) -> None:
    # Windows keeps others from reading the locked first byte, so the holder's name begins after it.
    who = json.dumps({"pid": os.getpid(), "host": socket.gethostname()}).encode()
    os.lseek(descriptor, 0, os.SEEK_SET)
    os.ftruncate(descriptor, 0)
    os.write(descriptor, b"\n" + who + b"\n")


def _holder(file: Path) -> str:
    try:
        with file.open("rb", buffering=0) as lock:
            lock.seek(1)
            who = json.loads(lock.read(4096))
        return f"process {int(who['pid'])} on {who['host']}"
    except (OSError, ValueError, KeyError, TypeError):
        return "another process"
