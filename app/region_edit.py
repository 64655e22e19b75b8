"""One edit to the regions of a tag, as it waits to be saved and as it is kept."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from banana100_core.project.records import NewRegion, Region, RegionKind
from banana100_core.project.regions import edit_regions

if TYPE_CHECKING:
    from collections.abc import Mapping

    from banana100_core.project import Project


@dataclass(frozen=True, slots=True)
class RegionEdit:
    """Regions of one tag that are made, changed and removed together: one entry of the log.

    `before` has those that were there, as they were.
    """

    run_id: int
    annotator: str
    tag_uuid: str
    put: Mapping[str, NewRegion]
    removed: tuple[str, ...] = ()
    before: Mapping[str, NewRegion] = field(default_factory=dict)

    @staticmethod
    def made(values: dict[str, Any]) -> RegionEdit:
        """The same, of what was kept; KeyError, ValueError or TypeError when it is something else."""
        put, before = (
            {uuid: _region_made(each) for uuid, each in values[name].items()} for name in ("put", "before")
        )
        removed = tuple(values["removed"])
        return RegionEdit(values["run_id"], values["annotator"], values["tag_uuid"], put, removed, before)

    def fits(self, there: Mapping[str, NewRegion]) -> bool:
        """Whether what it touches is as it was before the edit, or as it is after it."""
        touched = (*self.put, *self.removed)
        now = {uuid: there[uuid] for uuid in touched if uuid in there}
        return now in (self.before, self.put)

    def write(self, project: Project) -> list[Region]:
        """Make it in the project; gives the regions that were put."""
        return edit_regions(project, self.annotator, self.tag_uuid, self.put, self.removed)


def as_new(region: Region) -> NewRegion:
    """What an annotator decides of a region."""
    return NewRegion(region.step, region.kind, region.points, region.end_step)


def _region_made(values: dict[str, Any]) -> NewRegion:
    points = tuple((float(x), float(y)) for x, y in values["points"])
    return NewRegion(values["step"], RegionKind(values["kind"]), points, values["end_step"])
