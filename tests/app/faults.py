"""What goes wrong with a project file in use: a full disk, and another program."""

from __future__ import annotations

import contextlib
import sqlite3


def limit_pages(project, pages):
    """Make the project's disk full, or give it room again."""
    project.write(lambda database: database.execute(f"PRAGMA max_page_count = {pages}").fetchall())


@contextlib.contextmanager
def locked(path):
    """Another program writes to the file meanwhile."""
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        yield
        other.execute("ROLLBACK")
