"""The failure modes of a project: those of the catalog, as its owner arranged them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from banana100_core.catalog.failure_modes import FailureMode, Level

if TYPE_CHECKING:
    from banana100_core.project.project import Project


def failure_modes(project: Project) -> list[FailureMode]:
    """All failure modes in their order, kinds after what they are kinds of."""
    with project.reading() as connection:
        rows = connection.execute(
            "SELECT key, name, level, definition, example, shortcut, parent FROM failure_mode"
            " ORDER BY position, key"
        ).fetchall()
    return [
        FailureMode(
            key=row["key"],
            name=row["name"],
            level=Level(row["level"]),
            definition=row["definition"],
            example=row["example"],
            shortcut=row["shortcut"] or "",
            parent=row["parent"],
        )
        for row in rows
    ]
