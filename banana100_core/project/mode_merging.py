"""Merging one failure mode into another: its tags go there, each change logged so that it can be undone.

Where an annotator has both in a run at the same steps, they are one claim afterwards: it holds wherever one
of the two did, as severe as the more severe one, with the notes of both and with their regions, each at the
steps where it held before.
"""

from __future__ import annotations

import sqlite3
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from banana100_core.errors import ProjectError
from banana100_core.project import edit_log, tag_rows
from banana100_core.project.failure_modes import CHANGES as MODE_CHANGES
from banana100_core.project.failure_modes import need_mode, put_mode
from banana100_core.project.records import ReviewState
from banana100_core.project.region_joining import ENDLESS, end_of, joined_regions
from banana100_core.project.rows import now
from banana100_core.project.tags import CHANGES as TAG_CHANGES

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sqlite_utils import Database

    from banana100_core.project.edit_log import Row
    from banana100_core.project.project import Project
    from banana100_core.project.region_joining import Changes


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
        reached = max(reached, end_of(row))
    return chains


def _join(database: Database, annotator: str, group: _Group, into: str) -> None:
    rows = (group.kept, *group.absorbed)
    end = max(map(end_of, rows))
    states = {row["review_state"] for row in rows}
    after = group.kept | {
        "failure_mode": into,
        "onset": min(row["onset"] for row in rows),
        "end_step": None if end == ENDLESS else end,
        "severity": max(row["severity"] for row in rows),
        "certainty": max(row["certainty"] for row in rows),
        "note": "\n".join(dict.fromkeys(row["note"] for row in rows if row["note"])),
        "review_state": states.pop() if len(states) == 1 else ReviewState.DRAFT.value,
        "modified_at": now(),
    }
    regions = {row["uuid"]: tag_rows.regions_of(database, row["uuid"]) for row in rows}
    changes = _joined(database, rows, regions) if group.absorbed else {}
    for row in group.absorbed:
        tag_rows.remove(database, row["uuid"])
        before = row | tag_rows.regions_in(regions[row["uuid"]])
        edit_log.append(database, annotator, "remove", row["uuid"], before, None)
    tag_rows.put(database, after)
    for uuid, (_, region) in changes.items():
        if region is None:
            tag_rows.remove_region(database, uuid)
        else:
            tag_rows.put_region(database, region)
    edit_log.append(
        database,
        annotator,
        "change",
        group.kept["uuid"],
        group.kept | tag_rows.regions_in({uuid: before for uuid, (before, _) in changes.items()}),
        after | tag_rows.regions_in({uuid: region for uuid, (_, region) in changes.items()}),
    )


def _joined(
    database: Database, rows: tuple[Row, ...], regions: Mapping[str, Mapping[str, Row | None]]
) -> Changes:
    outlined = {uuid: [row for row in of_tag.values() if row] for uuid, of_tag in regions.items()}
    if not any(outlined.values()):
        return {}
    sizes = {
        number: (width, height)
        for number, width, height in database.execute(
            "SELECT step.number, image.width, image.height FROM step"
            " JOIN image ON image.sha256 = step.image_sha256 WHERE step.run_id = ?",
            (rows[0]["run_id"],),
        ).fetchall()
    }
    return joined_regions(rows, outlined, sizes)
