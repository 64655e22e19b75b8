"""Reading copies of a project that came back, also those that an older version of the program wrote."""

from __future__ import annotations

import contextlib
import secrets
import sqlite3
from contextlib import contextmanager
from typing import TYPE_CHECKING

from banana100_core.errors import OlderProjectError, ProjectError
from banana100_core.project.database import connect, connect_read_only, explained
from banana100_core.project.project import Project

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@contextmanager
def reading_copy(path: Path) -> Iterator[Project]:
    """Open a copy for reading; an older one is brought up to date in a file of its own, which goes again.

    The copy that came back is never changed. Raises what `Project.open` raises.
    """
    try:
        project = Project.open(path, read_only=True)
    except OlderProjectError as error:
        with _brought_up_to_date(path, error) as newer:
            yield newer
        return
    with project:
        yield project


@contextmanager
def _brought_up_to_date(path: Path, error: OlderProjectError) -> Iterator[Project]:
    # Beside the copy and with its stem, so that paths of images in folders stay right.
    there = path.resolve()
    newer = there.with_name(f"{there.stem}.merging-{secrets.token_hex(4)}")
    try:
        try:
            with (
                contextlib.closing(connect_read_only(there)) as source,
                contextlib.closing(connect(newer, "rwc")) as target,
            ):
                source.backup(target)
        except (sqlite3.Error, OSError) as fault:
            raise ProjectError(f"{error} It can't be done in a file beside it: {fault}.") from fault
        try:
            project = Project.open(newer)
        except sqlite3.Error as fault:
            raise explained(fault, path) from fault
        with project:
            yield project
    finally:
        # With what was made beside it: journals, and the backup before its migration.
        for left in list(there.parent.iterdir()):
            if left.name.startswith(newer.name):
                left.unlink(missing_ok=True)
