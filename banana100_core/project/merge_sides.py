"""What one copy of a project says of tags: their states, their log, the runs and failure modes they name."""

from __future__ import annotations

import sqlite3
from collections import defaultdict
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, TypeAlias

from banana100_core.project.merge_reviews import read_reviews
from banana100_core.project.merge_suggestions import read_suggestions
from banana100_core.project.merge_taxonomy import read_log
from banana100_core.project.records import Region, Tag
from banana100_core.project.rows import columns_of, from_json, to_json
from banana100_core.project.tag_rows import REGIONS

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from sqlite_utils import Database

    from banana100_core.project.edit_log import Row

Shape: TypeAlias = "tuple[int, int | None, str, list[list[float]]]"
"""What is said of a region: its step, end step, kind and points."""

_FEW = 3  # regions of a tag that are told one by one
_SAID = tuple(field.name for field in fields(Tag) if field.name not in {"uuid", "created_at", "modified_at"})
# By these an edit is the same one in two copies; what it undoes is told by what it did.
_SAME_EDIT = ("at", "annotator", "action", "tag_uuid", "before", "after")


@dataclass(frozen=True, slots=True)
class TagState:
    """The rows of a tag and of its regions, these by UUID."""

    row: Row
    regions: dict[str, Row] = field(default_factory=dict)

    @property
    def said(self) -> Row:
        """All that can be in conflict."""
        shapes = {
            uuid: (row["step"], row["end_step"], row["kind"], from_json(row["points"]))
            for uuid, row in self.regions.items()
        }
        return {name: self.row[name] for name in _SAID} | {REGIONS: shapes}

    @staticmethod
    def as_logged(before: TagState | None, after: TagState | None) -> dict[str, str | None]:
        """Both states as an entry of the log keeps them."""
        touched = (before.regions.keys() if before else set()) | (after.regions.keys() if after else set())

        def logged(state: TagState | None) -> str | None:
            if state is None:
                return None
            # Of a whole tag only its own regions; of a change all, so that it can be taken back.
            both = before is not None and after is not None
            names = touched if both else state.regions.keys()
            regions = {uuid: state.regions.get(uuid) for uuid in names}
            return to_json(state.row | ({REGIONS: regions} if regions else {}))

        return {"before": logged(before), "after": logged(after)}


def regions_in_words(said: Collection[Shape], between: str = "\n", *, numbered: bool = True) -> str:
    """Regions of a tag as `TagState.said` has them; where there are few, each by itself.

    Numbers of steps are told only if `numbered`.
    """
    if len(said) > _FEW:
        steps = sorted({step for step, *_ in said})
        where = f"{'step' if len(steps) == 1 else 'steps'} {', '.join(map(str, steps))}"
        return f"{len(said):,} regions" + (f", at {where}" if numbered else "")
    lines = []
    for step, end_step, kind, points in sorted(said, key=lambda each: each[0]):
        xs, ys = zip(*points, strict=True)
        until = "" if end_step is None else f" to {end_step}"
        size = f"{max(xs) - min(xs):g} × {max(ys) - min(ys):g} at {min(xs):g}, {min(ys):g}"
        lines.append(f"{kind}, {size}" + (f", from step {step}{until}" if numbered else ""))
    return between.join(lines) or "none"


@dataclass(frozen=True, slots=True)
class Side:
    """A copy of a project, or a file of tags, which has no log."""

    name: str
    tags: dict[str, TagState]
    log: dict[str, list[Row]]
    run_uuids: dict[int, str]
    last_steps: dict[int, int]
    pictures: set[tuple[int, int]]  # run and step
    modes: dict[str, Row]
    has_log: bool = True
    mode_log: list[Row] = field(default_factory=list)
    reviews: list[Row] = field(default_factory=list)
    suggestions: list[Row] = field(default_factory=list)

    def with_runs_of(self, mine: Side) -> tuple[Side, list[str]]:
        """The side with run numbers of `mine`, and the UUIDs of tags whose runs aren't there."""
        numbers = {uuid: run_id for run_id, uuid in mine.run_uuids.items()}
        new_ids = {run_id: numbers[uuid] for run_id, uuid in self.run_uuids.items() if uuid in numbers}
        tags = {
            uuid: TagState(state.row | {"run_id": new_ids[state.row["run_id"]]}, state.regions)
            for uuid, state in self.tags.items()
            if state.row["run_id"] in new_ids
        }
        unknown = sorted(self.tags.keys() - tags.keys())
        log = {
            uuid: [_renumbered(entry, new_ids) for entry in entries]
            for uuid, entries in self.log.items()
            if uuid not in unknown
        }
        reviews = [
            row | {"run_id": new_ids[row["run_id"]]} for row in self.reviews if row["run_id"] in new_ids
        ]
        return replace(self, tags=tags, log=log, reviews=reviews), unknown

    def entries_beyond(self, other: Side, tag_uuid: str) -> list[Row]:
        """Those edits of a tag that the other side's log lacks, in order."""
        known = {_identity(entry) for entry in other.log.get(tag_uuid, ())}
        return [entry for entry in self.log.get(tag_uuid, ()) if _identity(entry) not in known]

    def last_edit(self, tag_uuid: str) -> str:
        """When a tag was last edited."""
        state = self.tags.get(tag_uuid)
        moments: list[str] = [entry["at"] for entry in self.log.get(tag_uuid, ())]
        return max([*moments, "" if state is None else state.row["modified_at"]])

    def reason_against(self, state: TagState) -> str:
        """Why this side can't take over a state of a tag; nothing when it can."""
        run_id = state.row["run_id"]
        last = self.last_steps[run_id]
        if max(state.row["onset"], state.row["end_step"] or 0) > last:
            return f"it names a step after {last}, the last one of run {run_id}"
        missing = sorted(
            {row["step"] for row in state.regions.values() if (run_id, row["step"]) not in self.pictures}
        )
        return f"step {missing[0]} of run {run_id}, where it has a region, has no picture" if missing else ""


def read_side(connection: sqlite3.Connection, name: str) -> Side:
    """Read what a project says of tags."""
    cursor = connection.cursor()
    cursor.row_factory = sqlite3.Row
    regions: dict[str, dict[str, Row]] = defaultdict(dict)
    for row in cursor.execute("SELECT * FROM region ORDER BY created_at, rowid"):
        regions[row["tag_uuid"]][row["uuid"]] = columns_of(row, Region)
    tags = {
        row["uuid"]: TagState(columns_of(row, Tag), regions.get(row["uuid"], {}))
        for row in cursor.execute("SELECT * FROM tag").fetchall()
    }
    log: dict[str, list[Row]] = defaultdict(list)
    by_id: dict[int, Row] = {}
    for row in cursor.execute("SELECT * FROM edit ORDER BY id"):
        entry = {key: row[key] for key in (*_SAME_EDIT, "undoes")} | {"undoes": by_id.get(row["undoes"])}
        by_id[row["id"]] = entry
        log[row["tag_uuid"]].append(entry)
    runs = cursor.execute(
        "SELECT run.id, run.uuid, max(run.steps_planned, ifnull(max(step.number), 0)) AS last"
        " FROM run LEFT JOIN step ON step.run_id = run.id GROUP BY run.id"
    ).fetchall()
    return Side(
        name,
        tags,
        dict(log),
        {row["id"]: row["uuid"] for row in runs},
        {row["id"]: row["last"] for row in runs},
        {
            tuple(row)
            for row in cursor.execute("SELECT run_id, number FROM step WHERE image_sha256 IS NOT NULL")
        },
        {row["key"]: dict(row) for row in cursor.execute("SELECT * FROM failure_mode ORDER BY position")},
        mode_log=read_log(connection),
        reviews=read_reviews(connection),
        suggestions=read_suggestions(connection),
    )


def put_entries(database: Database, entries: Iterable[Row]) -> None:
    """Append entries of other logs; what each undoes is named by its number here."""
    ids = {
        _identity(dict(zip(_SAME_EDIT, row[1:], strict=True))): row[0]
        for row in database.execute(f"SELECT id, {', '.join(_SAME_EDIT)} FROM edit ORDER BY id").fetchall()  # noqa: S608
    }
    for entry in entries:
        row = {key: entry[key] for key in _SAME_EDIT}
        undone: Row | None = entry["undoes"]
        row["undoes"] = None if undone is None else ids[_identity(undone)]
        ids[_identity(entry)] = database["edit"].insert(row).last_pk


def _identity(entry: Row) -> tuple[object, ...]:
    return tuple(entry[name] for name in _SAME_EDIT)


def _renumbered(entry: Row, new_ids: Mapping[int, int]) -> Row:
    undone = entry["undoes"]
    return entry | {
        "before": _with_run(entry["before"], new_ids),
        "after": _with_run(entry["after"], new_ids),
        "undoes": None if undone is None else _renumbered(undone, new_ids),
    }


def _with_run(logged: str | None, new_ids: Mapping[int, int]) -> str | None:
    if logged is None:
        return None
    row = from_json(logged)
    number = new_ids.get(row["run_id"], row["run_id"])
    return logged if number == row["run_id"] else to_json(row | {"run_id": number})
