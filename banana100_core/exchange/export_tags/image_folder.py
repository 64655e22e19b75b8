"""A Hugging Face image folder: pictures and a `metadata.jsonl` with a line for each.

`load_dataset("imagefolder", data_dir=...)` reads it; regions are under "objects", in COCO's boxes.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from banana100_core.exchange.export_tags.content import attributes, new_folder, totals, write_pictures

if TYPE_CHECKING:
    from pathlib import Path

    from banana100_core.exchange.export_tags.content import Content, Exported, TaggedPicture
    from banana100_core.progress import Progress
    from banana100_core.project import Project

METADATA = "metadata.jsonl"


def write(project: Project, content: Content, out: Path, progress: Progress | None = None) -> Exported:
    """Write the folder `out`."""
    with new_folder(out) as folder:
        names = write_pictures(project, content, folder, progress)
        with (folder / METADATA).open("w", encoding="utf-8") as file:
            for picture, name in zip(content.pictures, names, strict=True):
                file.write(json.dumps(_line(picture, name), ensure_ascii=False) + "\n")
    return totals(content, out, len(names))


def _line(picture: TaggedPicture, name: str) -> dict[str, object]:
    tags = [attributes(claim.tag) | {"failure_mode": claim.tag.failure_mode} for claim in picture.claims]
    outlines = [(claim.tag, outline) for claim in picture.claims for outline in claim.outlines]
    return {
        "file_name": name,
        "run_uuid": picture.run.uuid,
        "initial_image": picture.run.initial_image,
        "model": picture.run.model,
        "protocol": picture.run.protocol,
        "repeat": picture.run.repeat,
        "step": picture.step,
        "width": picture.image.width,
        "height": picture.image.height,
        "failure_modes": sorted({tag.failure_mode for tag in (claim.tag for claim in picture.claims)}),
        "tags": tags,
        "objects": {
            "failure_mode": [tag.failure_mode for tag, _ in outlines],
            "tag_uuid": [tag.uuid for tag, _ in outlines],
            "kind": [outline.region.kind.value for _, outline in outlines],
            "bbox": [_box(outline.points) for _, outline in outlines],
            "points": [outline.points for _, outline in outlines],
        },
    }


def _box(points: tuple[tuple[float, float], ...]) -> list[float]:
    xs, ys = zip(*points, strict=True)
    return [min(xs), min(ys), max(xs) - min(xs), max(ys) - min(ys)]
