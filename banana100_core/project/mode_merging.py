"""Merging one failure mode into another: its tags go there, each change logged so that it can be undone.

Where an annotator has both in a run at the same steps, they are one claim afterwards: it holds wherever one
of the two did, as severe as the more severe one, with the notes and regions of both.
"""

from __future__ import annotations

import sqlite3
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING
from uuid import uuid4

from banana100_core.errors import ProjectError
from banana100_core.project import edit_log, tag_rows
from banana100_core.project.failure_modes import CHANGES as MODE_CHANGES
from banana100_core.project.failure_modes import need_mode, put_mode
from banana100_core.project.records import ReviewState
from banana100_core.project.regions import region_of, regions_at, scaled
from banana100_core.project.rows import now, to_json
from banana100_core.project.tags import CHANGES as TAG_CHANGES

if TYPE_CHECKING:
    from sqlite_utils import Database

    from banana100_core.project.edit_log import Row
    from banana100_core.project.project import Project
    from banana100_core.project.records import Region

_ENDLESS = 2**62


@dataclass(frozen=True, slots=True)
class ModeMerge:
    """What a merge does, or would do: tags that only change their mode, and those joined with another."""

    moved: int
    joined: int
    runs: int
    annotators: tuple[str, ...]


def plan_mode_merge(project: Project, key: str, into: str) -> ModeMerge:
    """Tell what merging would do; see `merge_modes`."""
    with project.reading() as connection:
        groups = _groups(connection, key, into)
    return _counted(groups)


def merge_modes(project: Project, annotator: str, key: str, into: str) -> ModeMerge:
    """Give the tags of the failure mode `key` to `into` and retire it, in one transaction.

    Merging again takes along tags that came later, from copies of the project. Raises ProjectError when one
    of them isn't there, `into` is retired, or `key` has kinds that aren't retired.
    """

    def work(database: Database) -> ModeMerge:
        source, target = need_mode(database, key), need_mode(database, into)
        _refuse(database, source, target)
        groups = _groups(database.conn, key, into)
        for group in groups:
            _join(database, annotator, group, into)
        after = source | {"retired": 1, "shortcut": None, "merged_into": into}
        if after != source:
            put_mode(database, annotator, source, after)
        return _counted(groups)

    tag_rows.named(annotator)
    return project.write(work, changes=TAG_CHANGES | MODE_CHANGES)


@dataclass(frozen=True, slots=True)
class _Group:
    """Tags that become one; `kept` is of the target's where there is one that overlaps."""

    kept: Row
    absorbed: tuple[Row, ...]


def _refuse(database: Database, source: Row, target: Row) -> None:
    if source["key"] == target["key"]:
        raise ProjectError(f"{source['name']} can't be merged into itself. Choose another failure mode.")
    if target["retired"]:
        raise ProjectError(f"{target['name']} is retired. Bring it back first, or choose another one.")
    kinds = database.execute(
        "SELECT group_concat(name, ', ') FROM failure_mode WHERE parent = ? AND NOT retired AND key <> ?",
        (source["key"], target["key"]),
    ).fetchone()[0]
    if kinds:
        raise ProjectError(f"{source['name']} has kinds of its own: {kinds}. Move or retire these first.")
    if target["parent"] == source["key"]:
        raise ProjectError(
            f"{target['name']} is a kind of {source['name']}. Make it one of its own first, or merge the "
            "other way round."
        )


def _counted(groups: list[_Group]) -> ModeMerge:
    rows = [row for group in groups for row in (group.kept, *group.absorbed)]
    return ModeMerge(
        moved=sum(not group.absorbed for group in groups),
        joined=sum(len(group.absorbed) for group in groups),
        runs=len({row["run_id"] for row in rows}),
        annotators=tuple(sorted({row["annotator"] for row in rows})),
    )


def _groups(connection: sqlite3.Connection, key: str, into: str) -> list[_Group]:
    """What is to be moved or joined, by run, annotator and onset."""
    cursor = connection.cursor()
    cursor.row_factory = sqlite3.Row
    claims: dict[tuple[int, str], list[Row]] = defaultdict(list)
    for row in cursor.execute(
        "SELECT * FROM tag WHERE failure_mode IN (?, ?) ORDER BY run_id, annotator, onset, created_at, uuid",
        (key, into),
    ):
        claims[row["run_id"], row["annotator"]].append(dict(row))
    groups = []
    for rows in claims.values():
        for chain in _chains(rows):
            if any(row["failure_mode"] == key for row in chain):
                kept = next((row for row in chain if row["failure_mode"] == into), chain[0])
                groups.append(_Group(kept, tuple(row for row in chain if row is not kept)))
    return groups


def _chains(rows: list[Row]) -> list[list[Row]]:
    """Tags in order of onset, in parts that overlap."""
    chains: list[list[Row]] = []
    reached = 0
    for row in rows:
        if chains and row["onset"] <= reached:
            chains[-1].append(row)
        else:
            chains.append([row])
            reached = 0
        reached = max(reached, _end(row))
    return chains


def _end(row: Row) -> int:
    return _ENDLESS if row["end_step"] is None else int(row["end_step"])


def _join(database: Database, annotator: str, group: _Group, into: str) -> None:
    rows = (group.kept, *group.absorbed)
    end = max(_end(row) for row in rows)
    states = {row["review_state"] for row in rows}
    after = group.kept | {
        "failure_mode": into,
        "onset": min(row["onset"] for row in rows),
        "end_step": None if end == _ENDLESS else end,
        "severity": max(row["severity"] for row in rows),
        "certainty": max(row["certainty"] for row in rows),
        "note": "\n".join(dict.fromkeys(row["note"] for row in rows if row["note"])),
        "review_state": states.pop() if len(states) == 1 else ReviewState.DRAFT.value,
        "modified_at": now(),
    }
    regions = {row["uuid"]: tag_rows.regions_of(database, row["uuid"]) for row in rows}
    new = {row["uuid"]: row for row in _carried_over(database, group, regions)}
    for row in group.absorbed:
        tag_rows.remove(database, row["uuid"])
        before = row | tag_rows.regions_in(regions[row["uuid"]])
        edit_log.append(database, annotator, "remove", row["uuid"], before, None)
    tag_rows.put(database, after)
    for region in new.values():
        tag_rows.put_region(database, region)
    edit_log.append(
        database,
        annotator,
        "change",
        group.kept["uuid"],
        group.kept | tag_rows.regions_in(dict.fromkeys(new)),
        after | tag_rows.regions_in(dict(new)),
    )


def _carried_over(database: Database, group: _Group, regions: dict[str, dict[str, Row | None]]) -> list[Row]:
    """New regions of the kept tag, so that at each outlined step those of all the tags hold there."""
    if not group.absorbed:
        return []
    outlines: dict[str, list[Region]] = {
        uuid: [region_of(row) for row in rows.values() if row is not None] for uuid, rows in regions.items()
    }
    steps = sorted({region.step for found in outlines.values() for region in found})
    new = []
    for step in steps:
        for tag in (group.kept, *group.absorbed):
            held = regions_at(outlines[tag["uuid"]], step)
            own = tag is group.kept and held and held[0].step == step
            if own or not tag["onset"] <= step <= _end(tag):
                continue
            new += [_copy(database, group, tag, region, step) for region in held]
    return new


def _copy(database: Database, group: _Group, tag: Row, region: Region, step: int) -> Row:
    """A region of one of the tags as one of the kept tag at `step`; it ends where it or its tag did."""
    moment = now()
    end = min(_end(tag), _end({"end_step": region.end_step}))
    ends = end < max(_end(row) for row in (group.kept, *group.absorbed))
    old, size = (_picture_size(database, tag["run_id"], each) for each in (region.step, step))
    return {
        "uuid": str(uuid4()),
        "tag_uuid": group.kept["uuid"],
        "step": step,
        "kind": region.kind.value,
        "points": to_json(scaled(region.points, old, size)),
        "created_at": moment,
        "modified_at": moment,
        "end_step": end if ends else None,
    }


def _picture_size(database: Database, run_id: int, step: int) -> tuple[int, int]:
    width, height = database.execute(
        "SELECT image.width, image.height FROM step JOIN image ON image.sha256 = step.image_sha256"
        " WHERE step.run_id = ? AND step.number = ?",
        (run_id, step),
    ).fetchone()
    return (width, height)
