"""Saved views: ways to look at the list of runs that a study keeps by name."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from banana100_core.errors import ProjectError
from banana100_core.project.rows import now, text, to_json

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Mapping

    from sqlite_utils import Database

    from banana100_core.project.project import Project

_CHANGES = frozenset({"saved_view"})
_PUT = """
    INSERT INTO saved_view VALUES (:name, :grouping, :columns, :sort, :descending, :filter, :facets, :at, :at)
    ON CONFLICT DO UPDATE SET grouping = :grouping, columns = :columns, sort = :sort,
        descending = :descending, filter = :filter, facets = :facets, modified_at = :at
"""


@dataclass(frozen=True, slots=True)
class SavedView:
    """How the runs are grouped, sorted and narrowed down, and which columns are shown.

    The keys belong to who shows the list; `facets` are the values chosen by facet. A list that doesn't know a
    key leaves it out.
    """

    name: str
    grouping: str
    columns: tuple[str, ...] = ()
    sort: str = ""
    descending: bool = False
    filter: str = ""
    facets: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


def saved_views(project: Project) -> list[SavedView]:
    """All saved views by name."""
    with project.reading() as connection:
        rows = connection.execute("SELECT * FROM saved_view ORDER BY name COLLATE NOCASE, name").fetchall()
    return [_view_of(row) for row in rows]


def save_view(project: Project, view: SavedView) -> None:
    """Keep a view; it takes the place of the one of that name."""
    row = {
        "name": _name(view.name),
        "grouping": text(view.grouping),
        "columns": to_json(list(view.columns)),
        "sort": text(view.sort),
        "descending": int(view.descending),
        "filter": text(view.filter),
        "facets": to_json({facet: list(values) for facet, values in view.facets.items()}),
        "at": now(),
    }
    project.write(lambda database: database.execute(_PUT, row), changes=_CHANGES)


def rename_view(project: Project, name: str, new_name: str) -> None:
    """Call a view something else; ProjectError when there is none, or another one has that name."""
    new = _name(new_name)

    def work(database: Database) -> None:
        if new != name and database["saved_view"].count_where("name = ?", [new]):
            raise ProjectError(f"There is a view {new} already. Choose another name, or remove it first.")
        _need(
            database.execute(
                "UPDATE saved_view SET name = ?, modified_at = ? WHERE name = ?", (new, now(), name)
            ),
            project,
            name,
        )

    project.write(work, changes=_CHANGES)


def remove_view(project: Project, name: str) -> None:
    """Forget a view; ProjectError when there is none of that name."""
    project.write(
        lambda database: _need(
            database.execute("DELETE FROM saved_view WHERE name = ?", (name,)), project, name
        ),
        changes=_CHANGES,
    )


def _name(name: str) -> str:
    stripped = " ".join(text(name).split())
    if not stripped:
        raise ProjectError("A view needs a name. Type one.")
    return stripped


def _need(changed: sqlite3.Cursor, project: Project, name: str) -> None:
    if not changed.rowcount:
        raise ProjectError(f"{project.path} has no view {name}. It may have been removed meanwhile.")


def _view_of(row: sqlite3.Row) -> SavedView:
    facets = json.loads(row["facets"])
    return SavedView(
        row["name"],
        row["grouping"],
        tuple(json.loads(row["columns"])),
        row["sort"],
        bool(row["descending"]),
        row["filter"],
        {facet: tuple(values) for facet, values in facets.items()},
    )
