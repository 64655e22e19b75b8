"""Label Studio: `tasks.json` and `labels.xml` beside the pictures, which its local file storage serves.

Each picture is a task with an annotation for each annotator; regions are in percent of the picture, as Label
Studio has them, and what a tag says beside its failure mode is in the region's `meta`. So is the annotator:
Label Studio refuses a `completed_by` that is none of its own users.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING
from xml.sax.saxutils import quoteattr

from banana100_core.exchange.export_tags.content import attributes, new_folder, totals, write_pictures
from banana100_core.project.records import RegionKind

if TYPE_CHECKING:
    from pathlib import Path

    from banana100_core.exchange.export_tags.content import Claim, Content, Exported, Outline, TaggedPicture
    from banana100_core.progress import Progress
    from banana100_core.project import Project

TASKS, LABELS = "tasks.json", "labels.xml"
# Where Label Studio serves a folder from that was added as local storage, below its document root.
SERVED = "/data/local-files/?d="


def write(project: Project, content: Content, out: Path, progress: Progress | None = None) -> Exported:
    """Write the folder `out`."""
    with new_folder(out) as folder:
        names = [f"images/{name}" for name in write_pictures(project, content, folder / "images", progress)]
        tasks = [
            _task(number, picture, f"{SERVED}{out.name}/{name}")
            for number, (picture, name) in enumerate(zip(content.pictures, names, strict=True), start=1)
        ]
        (folder / TASKS).write_text(json.dumps(tasks, ensure_ascii=False, indent=1), "utf-8")
        (folder / LABELS).write_text(_labels(content), "utf-8")
    return totals(content, out, len(names))


def _labels(content: Content) -> str:
    values = [quoteattr(mode.key) for mode in content.modes]
    labels = "\n".join(f"    <Label value={value}/>" for value in values)
    choices = "\n".join(f"    <Choice value={value}/>" for value in values)
    return (
        "<View>\n"
        '  <Image name="image" value="$image" zoom="true"/>\n'
        f'  <RectangleLabels name="box" toName="image">\n{labels}\n  </RectangleLabels>\n'
        f'  <PolygonLabels name="polygon" toName="image">\n{labels}\n  </PolygonLabels>\n'
        f'  <Choices name="failure_mode" toName="image" choice="multiple">\n{choices}\n  </Choices>\n'
        "</View>\n"
    )


def _task(number: int, picture: TaggedPicture, url: str) -> dict[str, object]:
    annotators = sorted({claim.tag.annotator for claim in picture.claims})
    return {
        "id": number,
        "data": {
            "image": url,
            "run_uuid": picture.run.uuid,
            "initial_image": picture.run.initial_image,
            "model": picture.run.model,
            "protocol": picture.run.protocol,
            "repeat": picture.run.repeat,
            "step": picture.step,
            "sha256": picture.image.sha256,
        },
        "annotations": [
            {
                "id": number * 1000 + place,
                "result": _results(picture, [c for c in picture.claims if c.tag.annotator == annotator]),
                "was_cancelled": False,
            }
            for place, annotator in enumerate(annotators)
        ],
    }


def _results(picture: TaggedPicture, claims: list[Claim]) -> list[dict[str, object]]:
    base = {
        "to_name": "image",
        "original_width": picture.image.width,
        "original_height": picture.image.height,
        "image_rotation": 0,
    }
    results: list[dict[str, object]] = [
        {
            **base,
            "id": outline.region.uuid,
            "meta": attributes(claim.tag),
            **_shape(claim, outline, picture.image.width, picture.image.height),
        }
        for claim in claims
        for outline in claim.outlines
    ]
    # Label Studio has one answer to a question about the whole picture.
    modes = list(dict.fromkeys(claim.tag.failure_mode for claim in claims))
    results.append(
        {
            "id": f"modes-{picture.run.id}-{picture.step}",
            "from_name": "failure_mode",
            "to_name": "image",
            "type": "choices",
            "value": {"choices": modes},
            "meta": {"tags": [attributes(claim.tag) for claim in claims]},
        }
    )
    return results


def _shape(claim: Claim, outline: Outline, width: int, height: int) -> dict[str, object]:
    percent = [[100 * x / width, 100 * y / height] for x, y in outline.points]
    label = [claim.tag.failure_mode]
    if outline.region.kind is RegionKind.POLYGON:
        value: dict[str, object] = {"points": percent, "closed": True, "polygonlabels": label}
        return {"from_name": "polygon", "type": "polygonlabels", "value": value}
    (left, top), (right, bottom) = percent
    value = {
        "x": left,
        "y": top,
        "width": right - left,
        "height": bottom - top,
        "rotation": 0,
        "rectanglelabels": label,
    }
    return {"from_name": "box", "type": "rectanglelabels", "value": value}
