"""How far the regions of two annotators cover each other."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import fmean, median
from typing import TYPE_CHECKING

from banana100_core.project.records import RegionKind
from banana100_core.project.regions import regions_at, scaled
from banana100_core.project.runs import steps

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from shapely.geometry.base import BaseGeometry

    from banana100_core.project import Project
    from banana100_core.project.records import Region, Tag

Sizes = dict[int, tuple[int, int]]


@dataclass(frozen=True, slots=True)
class Overlap:
    """Intersection over union of two annotators' regions, of `count` steps of runs: 0 apart, 1 the same."""

    count: int
    mean: float
    median: float
    values: tuple[float, ...] = ()

    @staticmethod
    def of_all(overlaps: Iterable[Overlap]) -> Overlap | None:
        """All values together; None without any."""
        values = tuple(value for overlap in overlaps for value in overlap.values)
        return Overlap(len(values), fmean(values), median(values), values) if values else None


def pictures_of(project: Project, run_id: int) -> Sizes:
    """Width and height of a run's pictures by step."""
    return {
        step.number: (step.image.width, step.image.height)
        for step in steps(project, run_id)
        if step.image is not None
    }


def overlap_of(
    one: Sequence[Tag], other: Sequence[Tag], regions: Mapping[str, list[Region]], sizes: Sizes
) -> Overlap | None:
    """Overlap at all steps where both have regions of what they tagged; None where there are none."""
    values = []
    for step in sizes:
        here, there = _area(one, regions, sizes, step), _area(other, regions, sizes, step)
        if here is not None and there is not None and (union := here.union(there).area) > 0:
            values.append(here.intersection(there).area / union)
    return Overlap(len(values), fmean(values), median(values), tuple(values)) if values else None


def _area(
    tags: Sequence[Tag], regions: Mapping[str, list[Region]], sizes: Sizes, step: int
) -> BaseGeometry | None:
    held = [
        region
        for tag in tags
        if tag.onset <= step and (tag.end_step is None or step <= tag.end_step)
        for region in regions_at(regions.get(tag.uuid, ()), step)
        if region.step in sizes
    ]
    if not held:
        return None
    import shapely

    area: BaseGeometry = shapely.union_all([_shape(region, sizes, step) for region in held])
    return area


def _shape(region: Region, sizes: Sizes, step: int) -> BaseGeometry:
    import shapely

    points = scaled(region.points, sizes[region.step], sizes[step])
    if region.kind is RegionKind.BOX:
        shape: BaseGeometry = shapely.box(*points[0], *points[1])
    else:
        # An outline that crosses itself encloses what is inside any of its loops.
        shape = shapely.make_valid(shapely.Polygon(points))
    return shape
