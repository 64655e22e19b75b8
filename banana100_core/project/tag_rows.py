"""The rows of a tag and its regions, as the log of edits keeps them and takes them back."""

from __future__ import annotations

import sqlite3
from dataclasses import fields
from typing import TYPE_CHECKING

from banana100_core.errors import ProjectError
from banana100_core.project.records import Edit, Region, Tag
from banana100_core.project.rows import now, text

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sqlite_utils import Database

    from banana100_core.project.edit_log import Row

REGIONS = "regions"  # the key under which a logged tag holds those regions that the edit touched
_TAG_COLUMNS = tuple(field.name for field in fields(Tag))
_REGION_COLUMNS = tuple(field.name for field in fields(Region))


def named(annotator: str) -> str:
    """The annotator's name as it is kept; ProjectError when there is none."""
    if not annotator.strip():
        raise ProjectError("A tag needs an annotator. Give your name first.")
    return text(annotator)


def need(database: Database, uuid: str) -> Row:
    """A tag's row; ProjectError when there is none of that UUID."""
    row = _row(database, "tag", uuid)
    if row is None:
        raise ProjectError(f"There is no tag {uuid}; it may have been removed. Undo brings it back.")
    return row


def need_region(database: Database, uuid: str) -> Row:
    """A region's row; ProjectError when there is none of that UUID."""
    row = region(database, uuid)
    if row is None:
        raise ProjectError(f"There is no region {uuid}; it may have been removed. Undo brings it back.")
    return row


def region(database: Database, uuid: str) -> Row | None:
    """A region's row, if it is there."""
    return _row(database, "region", uuid)


def regions_of(database: Database, tag_uuid: str) -> dict[str, Row | None]:
    """The rows of all regions of a tag, by UUID."""
    cursor = database.conn.cursor()
    cursor.row_factory = sqlite3.Row
    rows = cursor.execute(
        "SELECT * FROM region WHERE tag_uuid = ? ORDER BY step, created_at, uuid", (tag_uuid,)
    )
    return {row["uuid"]: dict(row) for row in rows}


def regions_in(regions: dict[str, Row | None]) -> Row:
    """What a logged tag says of touched regions; a tag without any says nothing."""
    return {REGIONS: regions} if regions else {}


def put(database: Database, row: Row) -> None:
    """Write a tag's row in place of an older one."""
    _put(database, "tag", _TAG_COLUMNS, row)


def put_region(database: Database, row: Row) -> None:
    """Write a region's row in place of an older one."""
    _put(database, "region", _REGION_COLUMNS, row)


def remove(database: Database, uuid: str) -> None:
    """Remove a tag; its regions go with it."""
    database.execute("DELETE FROM tag WHERE uuid = ?", (uuid,))


def remove_region(database: Database, uuid: str) -> None:
    """Remove a region."""
    database.execute("DELETE FROM region WHERE uuid = ?", (uuid,))


def take_back(database: Database, edit: Edit) -> tuple[Row | None, Row | None]:
    """Undo what a logged edit did to a tag; returns the tag before and after, for the log.

    Raises ProjectError where others built on the edit: their work would be lost.
    """
    there = _row(database, "tag", edit.tag_uuid)
    regions = regions_of(database, edit.tag_uuid)
    if edit.before is None or edit.after is None:
        return _take_back_whole(database, edit, there, regions)
    touched = _touched(edit.before) | _touched(edit.after)
    now_there = {uuid: regions.get(uuid) for uuid in touched}
    if there is None or any(
        _comparable(now_there[uuid], _REGION_COLUMNS)
        != _comparable(_touched(edit.after).get(uuid), _REGION_COLUMNS)
        for uuid in touched
    ):
        raise _built_upon(edit)
    row = _without_change(edit, there)
    put(database, row)
    for uuid in touched:
        region = _touched(edit.before).get(uuid)
        if region is None:
            remove_region(database, uuid)
        else:
            put_region(database, region)
    return there | regions_in(now_there), row | regions_in(
        {uuid: _touched(edit.before).get(uuid) for uuid in touched}
    )


def _take_back_whole(
    database: Database, edit: Edit, there: Row | None, regions: dict[str, Row | None]
) -> tuple[Row | None, Row | None]:
    """Undo the making or the removal of a tag."""
    logged = {} if edit.after is None else _touched(edit.after)
    # What a review says of a tag is no edit to it.
    columns = [name for name in _TAG_COLUMNS if name != "review_state"]
    same_tag = _comparable(there, columns) == _comparable(edit.after, columns)
    if not same_tag or _all_comparable(regions) != _all_comparable(logged):
        raise _built_upon(edit)
    before = None if there is None else there | regions_in(regions)
    if edit.before is None:
        remove(database, edit.tag_uuid)
        return before, None
    after = edit.before | {"modified_at": now()}
    put(database, after)
    for region in _touched(edit.before).values():
        if region is not None:
            put_region(database, region)
    return before, after


def _without_change(edit: Edit, there: Row) -> Row:
    before, after = _comparable(edit.before, _TAG_COLUMNS), _comparable(edit.after, _TAG_COLUMNS)
    assert before is not None  # noqa: S101 - the caller looked
    assert after is not None  # noqa: S101
    changed = [name for name in before if before[name] != after[name]]
    if there["review_state"] != after["review_state"] and "review_state" in changed:
        changed.remove("review_state")  # a review has said something of it since
    if any(there[name] != after[name] for name in changed):
        raise _built_upon(edit)
    return there | {name: before[name] for name in changed} | {"modified_at": now()}


def _touched(row: Row) -> dict[str, Row | None]:
    """The regions of a logged tag; rows from before regions could end have none of that."""
    touched: dict[str, Row | None] = row.get(REGIONS, {})
    return {uuid: region and {"end_step": None} | region for uuid, region in touched.items()}


def _comparable(row: Row | None, columns: Iterable[str]) -> Row | None:
    # Each taking back is a modification of its own; columns of a newer version are not ours to compare.
    return None if row is None else {name: row[name] for name in columns if name != "modified_at"}


def _all_comparable(regions: dict[str, Row | None]) -> dict[str, Row | None]:
    return {uuid: _comparable(row, _REGION_COLUMNS) for uuid, row in regions.items()}


def _built_upon(edit: Edit) -> ProjectError:
    return ProjectError(
        f"The edit of {edit.at} ({edit.action} tag {edit.tag_uuid}) can't be taken back: another annotator "
        "has changed that tag since. Change the tag by hand instead."
    )


def _row(database: Database, table: str, uuid: str) -> Row | None:
    cursor = database.conn.cursor()
    cursor.row_factory = sqlite3.Row
    row = cursor.execute(f"SELECT * FROM {table} WHERE uuid = ?", (uuid,)).fetchone()  # noqa: S608
    return None if row is None else dict(row)


def _put(database: Database, table: str, names: tuple[str, ...], row: Row) -> None:
    columns = ", ".join(names)
    places = ", ".join(f":{name}" for name in names)
    updates = ", ".join(f"{name} = excluded.{name}" for name in names)
    database.execute(
        f"INSERT INTO {table} ({columns}) VALUES ({places}) ON CONFLICT (uuid) DO UPDATE SET {updates}",  # noqa: S608
        {name: row[name] for name in names},
    )
