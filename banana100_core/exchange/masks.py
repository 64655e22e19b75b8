"""Masks of COCO, run-length encoded, as outlines: regions are boxes and polygons."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from banana100_core.errors import ImportFilesError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

Ring = tuple[tuple[float, float], ...]

MOST_PARTS = 100
_MOST_RUNS = 50_000
_MOST_PIXELS = 500_000_000
_TOLERANCE = 0.75  # pixels by which an outline may leave the edges of its pixels


@dataclass(frozen=True, slots=True)
class MaskOutline:
    """The outer outlines of a mask in its own pixels, its (width, height), and how many holes were filled."""

    rings: tuple[Ring, ...]
    size: tuple[int, int]
    holes: int


def outline_of(segmentation: Mapping[str, Any]) -> MaskOutline:
    """Trace a mask, `{"size": [height, width], "counts": ...}` with counts as a list or COCO's text.

    Raises ImportFilesError when it is no such mask, encloses nothing, or falls into too many parts.
    """
    import shapely

    height, width = _size(segmentation.get("size"))
    counts = _counts(segmentation.get("counts"))
    if any(count < 0 for count in counts) or sum(counts) != height * width:
        raise ImportFilesError("its runs don't fill its size")
    boxes = _columns(np.array(counts, np.int64), height)
    if len(boxes) == 0:
        raise ImportFilesError("it encloses nothing")
    if len(boxes) > _MOST_RUNS:
        raise ImportFilesError(f"it has {len(boxes):,} runs, more than can be traced")
    whole = shapely.union_all(shapely.box(*boxes.T))
    parts = shapely.get_parts(whole)
    if len(parts) > MOST_PARTS:
        raise ImportFilesError(f"it falls into {len(parts):,} parts")
    rings = [shapely.simplify(shapely.Polygon(part.exterior), _TOLERANCE).exterior.coords for part in parts]
    return MaskOutline(
        tuple(tuple((float(x), float(y)) for x, y in ring[:-1]) for ring in rings),
        (width, height),
        sum(len(part.interiors) for part in parts),
    )


def _size(value: object) -> tuple[int, int]:
    match value:
        case [int(height), int(width)] if height > 0 and width > 0 and height * width <= _MOST_PIXELS:
            return height, width
    raise ImportFilesError("it has no size")


def _counts(value: object) -> list[int]:
    if isinstance(value, str):
        return _from_text(value)
    if isinstance(value, list) and all(isinstance(count, int) for count in value):
        return value
    raise ImportFilesError("it has no runs")


def _from_text(text: str) -> list[int]:
    """COCO's own packing: 5 bits to a character, each run less the one two before it from the fourth on."""
    counts: list[int] = []
    value = shift = 0
    for character in text:
        bits = ord(character) - 48
        if not 0 <= bits < 64:
            raise ImportFilesError("its runs can't be read")
        value |= (bits & 0x1F) << shift
        shift += 5
        if bits & 0x20:
            continue
        if bits & 0x10:
            value -= 1 << shift
        counts.append(value + counts[-2] if len(counts) > 2 else value)
        value = shift = 0
    return counts


def _columns(counts: NDArray[np.int64], height: int) -> NDArray[np.float64]:
    """What runs down the columns enclose: (left, top, right, bottom) of each stretch of a column."""
    ends = np.cumsum(counts)
    starts, stops = ends[0::2][: len(ends[1::2])], ends[1::2]
    found = []
    for start, stop in zip(starts.tolist(), stops.tolist(), strict=True):
        at = start
        while at < stop:
            x, y = divmod(at, height)
            across = 1 if y else max(1, (stop - at) // height)  # whole columns at once
            end = min(stop, (x + across) * height)
            found.append((x, y, x + across, y + (end - at) // across))
            at = end
    return np.array(found, np.float64).reshape(-1, 4)
