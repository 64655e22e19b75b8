"""Regions of tags that become one: at each step those hold that held there before, none beyond its tag's end.

What one of the tags had outlined before its onset holds from the onset on. What it had outlined beyond its
end held nowhere, and doesn't come to hold now. What lies outside the joined tag stays, as in any tag.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from typing import TYPE_CHECKING
from uuid import uuid4

from banana100_core.project.regions import region_of, regions_at, scaled
from banana100_core.project.rows import now, to_json

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from banana100_core.project.edit_log import Row
    from banana100_core.project.records import Region

Sizes = dict[int, tuple[int, int]]
"""Width and height of a run's pictures by step; failed steps have none."""
Changes = dict[str, tuple["Row | None", "Row | None"]]
"""Rows of regions before and after, by UUID."""

ENDLESS = 2**62


def end_of(tag: Row) -> int:
    """The last step at which a tag holds, also as a number where that is the end of its run."""
    return ENDLESS if tag["end_step"] is None else int(tag["end_step"])


def joined_regions(tags: Sequence[Row], regions: Mapping[str, Sequence[Row]], sizes: Sizes) -> Changes:
    """How the regions of the first tag change when it takes in the others, whose rows go.

    `regions` are rows by tag. What goes on as it is is not among the changes.
    """
    kept = tags[0]
    onset, end = min(tag["onset"] for tag in tags), max(map(end_of, tags))
    outlined = [_Outlined.of(tag, regions.get(tag["uuid"], ()), sizes) for tag in tags]
    own = {row["uuid"]: row for row in regions.get(kept["uuid"], ())}
    after: dict[str, Row | None] = {
        uuid: _before_onset(row, onset) if row["step"] < onset else row if row["step"] > end else None
        for uuid, row in own.items()
    }
    for step in sorted({step for each in outlined for step in each.arrivals}):
        found: dict[tuple[str, str], Row] = {}
        for each in outlined:
            for region in each.at(step):
                row = own.get(region.uuid) if region.step == step else None
                row = row or _copy(region, kept, step, sizes)
                last = min(end_of(each.tag), end_of({"end_step": region.end_step}))
                same = found.setdefault((row["kind"], row["points"]), row | {"last": last})
                same["last"] = max(same["last"], last)
        for row in found.values():
            last = row.pop("last")
            after[row["uuid"]] = row | {"end_step": last if last < end else None}
    return {uuid: (own.get(uuid), row) for uuid, row in after.items() if row != own.get(uuid)}


@dataclass(frozen=True, slots=True)
class _Outlined:
    """One of the tags, with its regions and the steps at which some of them begin to hold."""

    tag: Row
    regions: tuple[Region, ...]
    arrivals: frozenset[int]

    @staticmethod
    def of(tag: Row, rows: Sequence[Row], sizes: Sizes) -> _Outlined:
        regions = tuple(map(region_of, rows))
        pictured = sorted(sizes)
        place = bisect_left(pictured, tag["onset"])
        first = set(pictured[place : place + 1])  # where those hold on that were outlined before the onset
        steps = {region.step for region in regions} | first
        there = {step for step in steps if tag["onset"] <= step <= end_of(tag)}
        return _Outlined(tag, regions, frozenset(step for step in there if regions_at(regions, step)))

    def at(self, step: int) -> list[Region]:
        """The regions that hold at a step; none where the tag doesn't."""
        there = self.tag["onset"] <= step <= end_of(self.tag)
        return regions_at(self.regions, step) if there else []


def _before_onset(row: Row, onset: int) -> Row:
    """What was outlined before the onset goes no further: what holds from there on is outlined there."""
    return row if end_of(row) < onset else row | {"end_step": onset - 1}


def _copy(region: Region, kept: Row, step: int, sizes: Sizes) -> Row:
    moment = now()
    return {
        "uuid": str(uuid4()),
        "tag_uuid": kept["uuid"],
        "step": step,
        "kind": region.kind.value,
        "points": to_json(scaled(region.points, sizes[region.step], sizes[step])),
        "created_at": moment,
        "modified_at": moment,
        "end_step": region.end_step,
    }
