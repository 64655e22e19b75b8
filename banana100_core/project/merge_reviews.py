"""Joining what copies of a project say of work on runs: all entries once, and the last one counts."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from typing import TYPE_CHECKING

from banana100_core.project.reviews import put_states

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sqlite_utils import Database

    from banana100_core.project.edit_log import Row

_COLUMNS = ("at", "run_id", "annotator", "state", "said_by", "comment")


@dataclass(frozen=True, slots=True)
class ReviewConflict:
    """Work on a run of which both sides said something else since they parted; `taken` was said last."""

    run_id: int
    annotator: str
    other: str
    mine: str
    theirs: str
    taken: str


def read_reviews(connection: sqlite3.Connection) -> list[Row]:
    """All that was said, oldest first."""
    cursor = connection.cursor()
    cursor.row_factory = sqlite3.Row
    rows = cursor.execute(f"SELECT {', '.join(_COLUMNS)} FROM review ORDER BY at, id")  # noqa: S608
    return [dict(row) for row in rows]


def new_reviews(mine: list[Row], theirs: list[Row], other: str) -> tuple[list[Row], list[ReviewConflict]]:
    """What they said and mine doesn't know, and where both went on in different ways."""
    here, there = {_identity(row) for row in mine}, {_identity(row) for row in theirs}
    news = [row for row in theirs if _identity(row) not in here]
    own = [row for row in mine if _identity(row) not in there]
    last_own = {(row["run_id"], row["annotator"]): row for row in own}
    conflicts = []
    for (run_id, annotator), row in {(row["run_id"], row["annotator"]): row for row in news}.items():
        against = last_own.get((run_id, annotator))
        if against is not None and against["state"] != row["state"]:
            taken = max(against, row, key=lambda each: str(each["at"]))
            conflicts.append(
                ReviewConflict(run_id, annotator, other, against["state"], row["state"], taken["state"])
            )
    return news, conflicts


def put_reviews(database: Database, rows: Iterable[Row]) -> None:
    """Append entries of other copies, and have tags carry the states that hold now."""
    database["review"].insert_all(rows)
    put_states(database)


def _identity(row: Row) -> tuple[object, ...]:
    return tuple(row[name] for name in _COLUMNS)
