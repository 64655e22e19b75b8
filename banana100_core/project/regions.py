"""Regions: where in the pictures of a run a tag's failure shows. Each is part of its tag and its log.

A tag may be outlined at some steps only. The regions of one such step hold from it on, until the tag's next
outlined step takes their place; one that has an end step holds no longer than to that, and none holds where
its tag doesn't.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, TypeAlias
from uuid import uuid4

from banana100_core.errors import ProjectError
from banana100_core.project import edit_log, tag_rows
from banana100_core.project.records import NewRegion, Region, RegionKind
from banana100_core.project.rows import columns_of, from_json, now, text, to_json
from banana100_core.project.tags import CHANGES

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Collection, Iterable, Mapping, Sequence
    from typing import Any

    from sqlite_utils import Database

    from banana100_core.project.edit_log import Row
    from banana100_core.project.project import Project

Points: TypeAlias = "tuple[tuple[float, float], ...]"


def add_region(project: Project, annotator: str, tag_uuid: str, region: NewRegion) -> Region:
    """Outline a tag at a step and log it; see `add_regions`."""
    return add_regions(project, annotator, tag_uuid, [region])[0]


def add_regions(
    project: Project, annotator: str, tag_uuid: str, regions: Sequence[NewRegion]
) -> list[Region]:
    """Outline a tag in one edit of its log.

    Raises ProjectError when the tag isn't there, the step has no picture, or the points can't be.
    """

    def work(database: Database) -> list[Region]:
        tag = tag_rows.need(database, tag_uuid)
        rows = [_new_row(database, tag, region) for region in regions]
        _edit(database, annotator, tag, {row["uuid"]: (None, row) for row in rows})
        return [region_of(row) for row in rows]

    tag_rows.named(annotator)
    return project.write(work, changes=CHANGES)


def edit_regions(
    project: Project,
    annotator: str,
    tag_uuid: str,
    put: Mapping[str, NewRegion],
    removed: Collection[str] = (),
) -> list[Region]:
    """Make, change and remove regions of a tag in one edit of its log; returns those that were put.

    `put` has them by UUID: one that the tag has gets other points and another end step, any other is made. Of
    `removed`, those that are gone already are left alone, so that an edit may be tried again. Nothing is
    logged when nothing changes. Raises ProjectError as `add_regions` does, or where a UUID is that of
    another tag or step.
    """

    def work(database: Database) -> list[Region]:
        tag = tag_rows.need(database, tag_uuid)
        there = tag_rows.regions_of(database, tag_uuid)
        changes: dict[str, tuple[Row | None, Row | None]] = {
            uuid: (there[uuid], None) for uuid in removed if uuid in there and uuid not in put
        }
        rows = []
        for uuid, region in put.items():
            before = there.get(uuid) or tag_rows.region(database, uuid)
            row = _new_row(database, tag, region) | {"uuid": text(uuid)}
            if before is not None:
                row = _changed_row(before, row)
            rows.append(row)
            if row != before:
                changes[uuid] = (before, row)
        _edit(database, annotator, tag, changes)
        return [region_of(row) for row in rows]

    tag_rows.named(annotator)
    return project.write(work, changes=CHANGES)


def change_region(project: Project, annotator: str, uuid: str, points: Iterable[Sequence[float]]) -> Region:
    """Move or reshape a region at its own step and log it; nothing is logged when nothing changes.

    Raises ProjectError when there is none of that UUID, or the points can't be.
    """

    def work(database: Database) -> Region:
        before = tag_rows.need_region(database, uuid)
        tag = tag_rows.need(database, before["tag_uuid"])
        region = region_of(before)
        wanted = valid_points(
            region.kind, points, _picture_size(database, tag["run_id"], region.step), region.step
        )
        if wanted == region.points:
            return region
        after = before | {"points": to_json(wanted), "modified_at": now()}
        _edit(database, annotator, tag, {uuid: (before, after)})
        return region_of(after)

    tag_rows.named(annotator)
    return project.write(work, changes=CHANGES)


def remove_region(project: Project, annotator: str, uuid: str) -> None:
    """Remove a region and log it; ProjectError when there is none of that UUID.

    With the last one of its step gone, those of the outlined step before it hold again. To have one hold no
    longer from some step on, give it an end step (`edit_regions`).
    """

    def work(database: Database) -> None:
        before = tag_rows.need_region(database, uuid)
        tag = tag_rows.need(database, before["tag_uuid"])
        _edit(database, annotator, tag, {uuid: (before, None)})

    tag_rows.named(annotator)
    project.write(work, changes=CHANGES)


def copy_regions(project: Project, annotator: str, tag_uuid: str, step: int) -> list[Region]:
    """Make `step` an outlined one with copies of the regions that hold there, so that they can be changed.

    Where the picture's size differs, they are scaled with it. Returns those of the step; nothing is logged
    when it is outlined already. Raises ProjectError when nothing holds there or the step has no picture.
    """

    def work(database: Database) -> list[Region]:
        tag = tag_rows.need(database, tag_uuid)
        if step < tag["onset"] or (tag["end_step"] is not None and step > tag["end_step"]):
            raise ProjectError(
                f"Tag {tag_uuid} doesn't hold at step {step}, and so no region of it does. Move its onset or "
                "its end first."
            )
        rows = (row for row in tag_rows.regions_of(database, tag_uuid).values() if row is not None)
        held = regions_at([region_of(row) for row in rows], step)
        if not held:
            raise ProjectError(f"No region of tag {tag_uuid} holds at step {step}. Draw one there.")
        if held[0].step == step:
            return held
        old_size = _picture_size(database, tag["run_id"], held[0].step)
        new_size = _picture_size(database, tag["run_id"], step)
        copies = [
            _new_row(
                database,
                tag,
                NewRegion(step, region.kind, scaled(region.points, old_size, new_size), region.end_step),
            )
            for region in held
        ]
        _edit(database, annotator, tag, {row["uuid"]: (None, row) for row in copies})
        return [region_of(row) for row in copies]

    tag_rows.named(annotator)
    return project.write(work, changes=CHANGES)


def regions(project: Project, run_id: int | None = None) -> list[Region]:
    """The regions of a run's tags, or all, by tag and step and in the order of drawing."""
    with project.reading() as connection:
        rows = connection.execute(
            "SELECT region.* FROM region JOIN tag ON tag.uuid = region.tag_uuid"
            " WHERE :run IS NULL OR tag.run_id = :run"
            " ORDER BY tag.run_id, tag.onset, tag.created_at, tag.uuid,"
            " region.step, region.created_at, region.rowid",
            {"run": run_id},
        ).fetchall()
    return [region_of(row) for row in rows]


def regions_at(regions: Iterable[Region], step: int) -> list[Region]:
    """Those regions of one tag that hold at `step`: of its last outlined step up to there, unless ended.

    The caller sees to it that the tag holds there.
    """
    reached = [region for region in regions if region.step <= step]
    last = max((region.step for region in reached), default=None)
    return [
        region
        for region in reached
        if region.step == last and (region.end_step is None or region.end_step >= step)
    ]


def scaled(points: Points, old: tuple[int, int], new: tuple[int, int]) -> Points:
    """Points of a picture of size `old`, (width, height), in one of size `new`."""
    return tuple((x * new[0] / old[0], y * new[1] / old[1]) for x, y in points)


def valid_points(
    kind: RegionKind, points: Iterable[Sequence[float]], size: tuple[int, int], step: int
) -> Points:
    """Points as they are kept: of a box, its upper left and lower right corners.

    Raises ProjectError when they are too few, enclose nothing, or leave the picture of `size`.
    """
    pairs = tuple((float(x), float(y)) for x, y in points)
    width, height = size
    for x, y in pairs:
        if not (math.isfinite(x) and math.isfinite(y) and 0 <= x <= width and 0 <= y <= height):
            raise ProjectError(
                f"The point ({x:g}, {y:g}) is outside the picture of step {step}, which is {width}x{height}. "
                "Draw the region inside it."
            )
    if kind is RegionKind.BOX:
        if len(pairs) != 2:
            raise ProjectError(f"A box has 2 points, two opposite corners; {len(pairs)} were given.")
        xs, ys = zip(*pairs, strict=True)
        pairs = ((min(xs), min(ys)), (max(xs), max(ys)))
        if min(xs) == max(xs) or min(ys) == max(ys):
            raise ProjectError("The box encloses nothing. Draw it with some width and height.")
    elif len(pairs) < 3:
        raise ProjectError(f"A polygon has 3 points or more; {len(pairs)} were given.")
    elif _on_one_line(pairs):
        raise ProjectError("The polygon encloses nothing: its points lie on one line. Add one beside it.")
    return pairs


def region_of(row: sqlite3.Row | Mapping[str, Any]) -> Region:
    """The region in a row of its table."""
    points = tuple((float(x), float(y)) for x, y in from_json(row["points"]))
    return Region(**columns_of(row, Region) | {"kind": RegionKind(row["kind"]), "points": points})


def _on_one_line(points: Points) -> bool:
    (x0, y0) = points[0]
    far_x, far_y = max(points, key=lambda point: math.dist(point, points[0]))
    return all((far_x - x0) * (y - y0) == (far_y - y0) * (x - x0) for x, y in points)


def _new_row(database: Database, tag: Row, region: NewRegion) -> Row:
    moment = now()
    try:
        kind = RegionKind(region.kind)
    except ValueError:
        raise ProjectError(
            f"The kind of region {region.kind!r} doesn't exist. There are {', '.join(RegionKind)}."
        ) from None
    size = _picture_size(database, tag["run_id"], region.step)
    if region.end_step is not None and region.end_step < region.step:
        raise ProjectError(
            f"A region of step {region.step} can't end at step {region.end_step}. Remove it instead."
        )
    return {
        "uuid": str(uuid4()),
        "tag_uuid": tag["uuid"],
        "step": region.step,
        "kind": kind.value,
        "points": to_json(valid_points(kind, region.points, size, region.step)),
        "created_at": moment,
        "modified_at": moment,
        "end_step": region.end_step,
    }


def _changed_row(before: Row, wanted: Row) -> Row:
    """The row of a region with the points and the end of another; the same when these are its own."""
    if any(before[name] != wanted[name] for name in ("tag_uuid", "step", "kind")):
        raise ProjectError(
            f"The region {before['uuid']} is a {before['kind']} of step {before['step']} of tag "
            f"{before['tag_uuid']} and stays one. Draw another."
        )
    old, new = region_of(before), region_of(wanted)
    same = (old.points, old.end_step) == (new.points, new.end_step)
    return before if same else before | {name: wanted[name] for name in ("points", "modified_at", "end_step")}


def _picture_size(database: Database, run_id: int, step: int) -> tuple[int, int]:
    row = database.execute(
        "SELECT image.width, image.height FROM step JOIN image ON image.sha256 = step.image_sha256"
        " WHERE step.run_id = ? AND step.number = ?",
        (run_id, step),
    ).fetchone()
    if row is None:
        raise ProjectError(f"Step {step} of run {run_id} has no picture to outline. Choose another step.")
    return (row[0], row[1])


def _edit(
    database: Database, annotator: str, tag: Row, changes: Mapping[str, tuple[Row | None, Row | None]]
) -> None:
    """Write regions, each from its row before to its row after, and log them as one edit of their tag."""
    if not changes:
        return
    for uuid, (_, row) in changes.items():
        if row is None:
            tag_rows.remove_region(database, uuid)
        else:
            tag_rows.put_region(database, row)
    changed = tag | {"modified_at": now()}
    tag_rows.put(database, changed)
    edit_log.append(
        database,
        annotator,
        "change",
        tag["uuid"],
        tag | tag_rows.regions_in({uuid: before for uuid, (before, _) in changes.items()}),
        changed | tag_rows.regions_in({uuid: after for uuid, (_, after) in changes.items()}),
    )
