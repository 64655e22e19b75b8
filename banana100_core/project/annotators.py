"""How each annotator works in a project, remembered in it: seeds of queues, what is hidden."""

from __future__ import annotations

from typing import TYPE_CHECKING

from banana100_core.project.rows import text

if TYPE_CHECKING:
    from sqlite_utils import Database

    from banana100_core.project.project import Project

CHANGES = frozenset({"annotator_setting"})


def annotator_settings(project: Project, annotator: str) -> dict[str, str]:
    """All that is remembered of an annotator."""
    with project.reading() as connection:
        return {
            row["key"]: row["value"]
            for row in connection.execute(
                "SELECT key, value FROM annotator_setting WHERE annotator = ?", (text(annotator),)
            )
        }


def remember(project: Project, annotator: str, values: dict[str, str]) -> None:
    """Keep values in place of older ones."""
    project.write(lambda database: put_settings(database, annotator, values), changes=CHANGES)


def put_settings(database: Database, annotator: str, values: dict[str, str]) -> None:
    """Keep values as part of a write."""
    for key, value in values.items():
        database.execute(
            "INSERT INTO annotator_setting (annotator, key, value) VALUES (?, ?, ?)"
            " ON CONFLICT (annotator, key) DO UPDATE SET value = excluded.value",
            (text(annotator), key, text(value)),
        )
