"""COCO: `annotations.json` beside the pictures, an annotation for each region at each step where it holds.

COCO has no word for a claim about a run, so that tags stand under "tags", a key of our own: with it nothing
is lost on the way out and back in.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from banana100_core.exchange.export_tags.content import attributes, new_folder, totals, write_pictures
from banana100_core.project.records import RegionKind

if TYPE_CHECKING:
    from pathlib import Path

    from banana100_core.exchange.export_tags.content import Claim, Content, Exported, Outline
    from banana100_core.progress import Progress
    from banana100_core.project import Project

FILE_NAME = "annotations.json"


def write(project: Project, content: Content, out: Path, progress: Progress | None = None) -> Exported:
    """Write the folder `out`."""
    with new_folder(out) as folder:
        names = [f"images/{name}" for name in write_pictures(project, content, folder / "images", progress)]
        data = json.dumps(as_coco(content, names), ensure_ascii=False, indent=1)
        (folder / FILE_NAME).write_text(data, "utf-8")
    return totals(content, out, len(names))


def as_coco(content: Content, file_names: list[str]) -> dict[str, object]:
    """The content of the file; `file_names` are those of its pictures in turn."""
    categories = {mode.key: number for number, mode in enumerate(content.modes, start=1)}
    images, annotations = [], []
    for image_id, (picture, file_name) in enumerate(zip(content.pictures, file_names, strict=True), start=1):
        images.append(
            {
                "id": image_id,
                "file_name": file_name,
                "width": picture.image.width,
                "height": picture.image.height,
                "run_uuid": picture.run.uuid,
                "initial_image": picture.run.initial_image,
                "model": picture.run.model,
                "protocol": picture.run.protocol,
                "repeat": picture.run.repeat,
                "step": picture.step,
                "sha256": picture.image.sha256,
                "tags": [claim.tag.uuid for claim in picture.claims],
            }
        )
        annotations += [
            {
                "id": 0,  # numbered below
                "image_id": image_id,
                "category_id": categories[claim.tag.failure_mode],
                **_shape(outline),
                "iscrowd": 0,
                "attributes": _attributes(claim, outline),
            }
            for claim in picture.claims
            for outline in claim.outlines
        ]
    for number, annotation in enumerate(annotations, start=1):
        annotation["id"] = number
    return {
        "info": {"description": "Tags of failure modes in runs of iterative image edits", "version": "1.0"},
        "licenses": [],
        "images": images,
        "annotations": annotations,
        "categories": [
            {
                "id": categories[mode.key],
                "name": mode.key,
                "title": mode.name,
                "supercategory": mode.level.value,
            }
            for mode in content.modes
        ],
        "tags": [
            {
                "run_uuid": content.runs[tag.run_id].uuid,
                "failure_mode": tag.failure_mode,
                **attributes(tag),
                "regions": [
                    {
                        "region_uuid": region.uuid,
                        "step": region.step,
                        "end_step": region.end_step,
                        "kind": region.kind.value,
                        "points": region.points,
                    }
                    for region in content.regions[tag.uuid]
                ],
            }
            for tag in content.tags
        ],
    }


def _shape(outline: Outline) -> dict[str, object]:
    xs, ys = zip(*outline.points, strict=True)
    x, y, width, height = min(xs), min(ys), max(xs) - min(xs), max(ys) - min(ys)
    corners = outline.points
    if outline.region.kind is RegionKind.BOX:
        corners = ((x, y), (x + width, y), (x + width, y + height), (x, y + height))
    return {
        "bbox": [x, y, width, height],
        "segmentation": [[value for corner in corners for value in corner]],
        "area": _area(corners),
    }


def _area(points: tuple[tuple[float, float], ...]) -> float:
    pairs = zip(points, (*points[1:], points[0]), strict=True)
    return abs(sum(x0 * y1 - x1 * y0 for (x0, y0), (x1, y1) in pairs)) / 2


def _attributes(claim: Claim, outline: Outline) -> dict[str, object]:
    region = outline.region
    return attributes(claim.tag) | {
        "region_uuid": region.uuid,
        "kind": region.kind.value,
        "outlined_step": region.step,
    }
