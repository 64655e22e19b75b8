"""The named migrations of a project file, each one transaction together with its record.

A migration never changes the blob table: in a large study it holds nearly all bytes, and backups leave it
out. One that an older program can't live with raises the major number, any other the minor one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from banana100_core.project.backup import back_up
from banana100_core.project.database import APPLICATION_ID, packed_version, sibling
from banana100_core.project.reasoning import take_in
from banana100_core.project.schema import (
    FAILURE_MODE_COLUMNS,
    JUDGE_PROMPT_TABLE,
    REASONING_TABLES,
    REGION_END_COLUMN,
    REGION_TABLES,
    REPLY_TABLE,
    REVIEW_TABLES,
    SAVED_VIEW_TABLE,
    SUGGESTION_TABLE,
    TABLES,
    VERDICT_TABLE,
)
from banana100_core.project.sqlite_tools import Migrations
from banana100_core.project.views import VIEWS

if TYPE_CHECKING:
    from pathlib import Path

    from sqlite_utils import Database

migrations = Migrations("banana100")


def create(database: Database) -> None:
    """All tables and views of version 1.0."""
    set_version(database, 1, 0)
    for statement in (*TABLES, *VIEWS):
        database.execute(statement)


migrations(name="create")(create)


def add_replies(database: Database) -> None:
    """What vision-language metrics answered, beside their scores; version 1.1."""
    set_version(database, 1, 1)
    database.execute(REPLY_TABLE)


migrations(name="add_replies")(add_replies)


def add_regions(database: Database) -> None:
    """Where in a picture a tag's failure shows; version 1.2."""
    set_version(database, 1, 2)
    for statement in REGION_TABLES:
        database.execute(statement)


migrations(name="add_regions")(add_regions)


def add_suggestions(database: Database) -> None:
    """What the program takes for failure modes, apart from tags; version 1.3."""
    set_version(database, 1, 3)
    database.execute(SUGGESTION_TABLE)


migrations(name="add_suggestions")(add_suggestions)


def add_verdicts(database: Database) -> None:
    """What a judge found in reasoning summaries; version 1.4."""
    set_version(database, 1, 4)
    database.execute(VERDICT_TABLE)


migrations(name="add_verdicts")(add_verdicts)


def add_reviews(database: Database) -> None:
    """Retired failure modes, reviews of runs, and how annotators work; version 1.5."""
    set_version(database, 1, 5)
    for statement in (*FAILURE_MODE_COLUMNS, *REVIEW_TABLES):
        database.execute(statement)


migrations(name="add_reviews")(add_reviews)


def add_reasoning_search(database: Database) -> None:
    """Full text of the reasoning summaries; version 1.6."""
    set_version(database, 1, 6)
    for statement in REASONING_TABLES:
        database.execute(statement)
    take_in(database)


migrations(name="add_reasoning_search")(add_reasoning_search)


def add_saved_views(database: Database) -> None:
    """Ways to look at the list of runs, by name; version 1.7."""
    set_version(database, 1, 7)
    database.execute(SAVED_VIEW_TABLE)


migrations(name="add_saved_views")(add_saved_views)


def add_judge_prompts(database: Database) -> None:
    """What judges were asked, beside their verdicts; version 1.8."""
    set_version(database, 1, 8)
    database.execute(JUDGE_PROMPT_TABLE)


migrations(name="add_judge_prompts")(add_judge_prompts)


def add_region_ends(database: Database) -> None:
    """The step at which a region holds last; version 1.9."""
    set_version(database, 1, 9)
    database.execute(REGION_END_COLUMN)


migrations(name="add_region_ends")(add_region_ends)


def set_version(database: Database, major: int, minor: int) -> None:
    """Write the file's version; part of the migration that needs it."""
    database.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    database.execute(f"PRAGMA user_version = {packed_version(major, minor)}")


def migrate(database: Database, path: Path, migrations: Migrations = migrations) -> Path | None:
    """Bring a project up to date; returns the backup that was made first, None if nothing was to be done.

    Each migration is undone by itself when it fails; those before it stay.
    """
    pending = migrations.pending(database)
    if not pending:
        return None
    backup = sibling(path, f".before-{pending[0].name}.bak") if migrations.applied(database) else None
    if backup is not None:
        back_up(database.conn, backup)
    migrations.apply(database)
    return backup
