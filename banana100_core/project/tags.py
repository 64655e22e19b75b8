"""Tags, and the append-only log of edits from which undo and redo follow."""

from __future__ import annotations

import sqlite3
from dataclasses import asdict, fields
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from banana100_core.errors import ProjectError
from banana100_core.project import edit_log, suggestion_rows, tag_rows
from banana100_core.project.records import Edit, NewTag, ReviewState, Tag
from banana100_core.project.rows import columns_of, now, text

if TYPE_CHECKING:
    from collections.abc import Callable

    from sqlite_utils import Database

    from banana100_core.project.edit_log import Row
    from banana100_core.project.project import Project

CHANGES = frozenset({"tag", "edit"})
_LOG_CHANGES = CHANGES | {"suggestion"}
_REVIEWED = frozenset({ReviewState.ACCEPTED.value, ReviewState.REJECTED.value})
_CHANGEABLE = frozenset(field.name for field in fields(NewTag)) - {"run_id"}


def add_tag(project: Project, annotator: str, tag: NewTag, uuid: str | None = None) -> Tag:
    """Add a tag and log it, under a UUID of the caller's or a new one; ProjectError names what can't be."""
    return project.write(lambda database: put_new_tag(database, annotator, tag, uuid=uuid), changes=CHANGES)


def put_new_tag(
    database: Database,
    annotator: str,
    tag: NewTag,
    suggestion: str | None = None,
    *,
    uuid: str | None = None,
) -> Tag:
    """Add a tag as part of a write, perhaps one that was suggested; see `add_tag`."""
    moment = now()
    row = _stored(asdict(tag)) | {
        "uuid": uuid or str(uuid4()),
        "annotator": tag_rows.named(annotator),
        "created_at": moment,
        "modified_at": moment,
    }
    _validate(database, row)
    tag_rows.put(database, row)
    edit_log.append(database, annotator, "add", row["uuid"], None, suggestion_rows.named(row, suggestion))
    return _tag_of(row)


def tag_that_holds(database: Database, annotator: str, tag: NewTag) -> Tag | None:
    """The annotator's tag of that failure mode which holds at the onset of `tag`; part of a write."""
    cursor = database.conn.cursor()
    cursor.row_factory = sqlite3.Row
    row = cursor.execute(
        "SELECT * FROM tag WHERE run_id = ? AND failure_mode = ? AND annotator = ? AND onset <= ?"
        " AND (end_step IS NULL OR end_step >= ?) LIMIT 1",
        (tag.run_id, tag.failure_mode, tag_rows.named(annotator), tag.onset, tag.onset),
    ).fetchone()
    return None if row is None else _tag_of(dict(row))


def log_acceptance(database: Database, annotator: str, uuid: str, suggestion: str) -> None:
    """Log that an annotator has accepted a suggestion as a tag that was there; part of a write."""
    row = tag_rows.need(database, uuid)
    edit_log.append(database, annotator, "change", uuid, row, suggestion_rows.named(row, suggestion))


def change_tag(project: Project, annotator: str, uuid: str, **changes: object) -> Tag:
    """Change fields of a tag and log it; nothing is logged when nothing changes.

    A tag that was accepted or rejected is a draft from then on.

    `changes` are fields of NewTag but its run. Raises ProjectError, naming the value that can't be.
    """
    if unknown := changes.keys() - _CHANGEABLE:
        raise ProjectError(f"A tag's {', '.join(sorted(unknown))} can't be changed.")
    stored = _stored(changes)

    def work(database: Database) -> Tag:
        before = tag_rows.need(database, uuid)
        after = before | stored
        if after == before:
            return _tag_of(before)
        if "review_state" not in stored and before["review_state"] in _REVIEWED:
            after["review_state"] = ReviewState.DRAFT.value  # what was reviewed is no more
        after["modified_at"] = now()
        _validate(database, after, new_mode=after["failure_mode"] != before["failure_mode"])
        tag_rows.put(database, after)
        edit_log.append(database, annotator, "change", uuid, before, after)
        return _tag_of(after)

    tag_rows.named(annotator)
    return project.write(work, changes=CHANGES)


def remove_tag(project: Project, annotator: str, uuid: str) -> None:
    """Remove a tag with its regions and log it; ProjectError when there is none of that UUID."""

    def work(database: Database) -> None:
        before = tag_rows.need(database, uuid)
        before |= tag_rows.regions_in(tag_rows.regions_of(database, uuid))
        tag_rows.remove(database, uuid)
        edit_log.append(database, annotator, "remove", uuid, before, None)

    tag_rows.named(annotator)
    project.write(work, changes=CHANGES)


def tags(project: Project, run_id: int | None = None) -> list[Tag]:
    """The tags of a run, or all, by run, onset and time of making."""
    with project.reading() as connection:
        rows = connection.execute(
            "SELECT * FROM tag WHERE :run IS NULL OR run_id = :run ORDER BY run_id, onset, created_at, uuid",
            {"run": run_id},
        ).fetchall()
    return [_tag_of(dict(row)) for row in rows]


def edits(project: Project) -> list[Edit]:
    """The whole log of edits, oldest first."""
    with project.reading() as connection:
        return [edit_log.edit_of(row) for row in connection.execute("SELECT * FROM edit ORDER BY id")]


def undo(project: Project, annotator: str) -> Edit | None:
    """Take back the annotator's last edit that stands; returns the log's new entry, None when there is none.

    An accepted suggestion whose tag goes is open again. Raises ProjectError when somebody else has changed
    the same fields since: their work would be lost.
    """
    return project.write(
        lambda database: _take_back(database, annotator, "undo", edit_log.last_standing), changes=_LOG_CHANGES
    )


def redo(project: Project, annotator: str) -> Edit | None:
    """Take back the annotator's last undo, unless a newer edit followed it. See `undo`."""
    return project.write(
        lambda database: _take_back(database, annotator, "redo", edit_log.last_undo), changes=_LOG_CHANGES
    )


def _take_back(
    database: Database, annotator: str, action: str, search: Callable[[Database, str], Edit | None]
) -> Edit | None:
    edit = search(database, tag_rows.named(annotator))
    if edit is None:
        return None
    before, after = tag_rows.take_back(database, edit)
    before, after = suggestion_rows.follow(database, edit, before, after)
    return edit_log.append(database, annotator, action, edit.tag_uuid, before, after, edit.id)


def _stored(values: dict[str, Any]) -> Row:
    row = {name: text(value) if isinstance(value, str) else value for name, value in values.items()}
    if "review_state" in row:
        try:
            row["review_state"] = ReviewState(row["review_state"]).value
        except ValueError:
            raise ProjectError(
                f"The review state {row['review_state']!r} doesn't exist. There are {', '.join(ReviewState)}."
            ) from None
    return row


def _validate(database: Database, row: Row, *, new_mode: bool = True) -> None:
    run = database.execute(
        "SELECT max(run.steps_planned, ifnull(max(step.number), 0)) FROM run"
        " LEFT JOIN step ON step.run_id = run.id WHERE run.id = ? GROUP BY run.id",
        (row["run_id"],),
    ).fetchone()
    if run is None:
        raise ProjectError(f"There is no run {row['run_id']} to tag.")
    mode = database.execute(
        "SELECT name, retired FROM failure_mode WHERE key = ?", (row["failure_mode"],)
    ).fetchone()
    if mode is None:
        raise ProjectError(
            f"There is no failure mode {row['failure_mode']!r}. Add it first, or choose another."
        )
    if new_mode and mode[1]:
        raise ProjectError(f"{mode[0]} is retired. Bring it back in the taxonomy, or choose another one.")
    _need_step("onset", row["onset"], 1, run[0], row["run_id"])
    if row["end_step"] is not None:
        _need_step("end step", row["end_step"], row["onset"], run[0], row["run_id"])
    if row["severity"] not in {1, 2, 3}:
        raise ProjectError(f"The severity {row['severity']!r} can't be. It is 1, 2 or 3.")
    if not 0 <= row["certainty"] <= 1:
        raise ProjectError(f"The certainty {row['certainty']!r} can't be. It goes from 0 to 1.")


def _need_step(what: str, value: object, lowest: int, highest: int, run_id: int) -> None:
    if not isinstance(value, int) or not lowest <= value <= highest:
        ends = f"from {lowest} to {highest}" if highest >= lowest else "nothing yet: it has no steps"
        raise ProjectError(f"The {what} {value!r} can't be. For run {run_id} it can be {ends}.")


def _tag_of(row: Row) -> Tag:
    return Tag(**columns_of(row, Tag) | {"review_state": ReviewState(row["review_state"])})
