"""What is exported: pictures of steps, the tags that hold there, and their regions in its pixels."""

from __future__ import annotations

import shutil
import tempfile
from collections import defaultdict
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from banana100_core.exchange.export_tags import pictures
from banana100_core.exchange.export_tags.only import Only
from banana100_core.project.failure_modes import failure_modes
from banana100_core.project.regions import regions, regions_at, scaled
from banana100_core.project.runs import run as find_run
from banana100_core.project.runs import runs, steps
from banana100_core.project.tags import tags

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from banana100_core.catalog.failure_modes import FailureMode
    from banana100_core.progress import Progress
    from banana100_core.project import Project
    from banana100_core.project.records import Image, Region, Run, Tag
    from banana100_core.project.regions import Points


@dataclass(frozen=True, slots=True)
class Outline:
    """A region as it holds at some step; `points` are in pixels of that step's picture."""

    region: Region
    points: Points


@dataclass(frozen=True, slots=True)
class Claim:
    """A tag as it holds at some step."""

    tag: Tag
    outlines: tuple[Outline, ...]


@dataclass(frozen=True, slots=True)
class TaggedPicture:
    """The picture of a step, and the tags that hold there; untagged ones are exported as well."""

    run: Run
    step: int
    image: Image
    claims: tuple[Claim, ...]


@dataclass(frozen=True, slots=True)
class Content:
    """All that an export is made of."""

    modes: tuple[FailureMode, ...]
    runs: dict[int, Run]
    tags: tuple[Tag, ...]
    regions: dict[str, list[Region]]  # by tag
    pictures: tuple[TaggedPicture, ...]


@dataclass(frozen=True, slots=True)
class Exported:
    """What an export wrote."""

    path: Path
    tags: int
    regions: int
    pictures: int


def gather(project: Project, run_ids: Sequence[int] | None = None, only: Only | None = None) -> Content:
    """Read what is to be exported; ProjectError when there is no such run."""
    only = only or Only()
    chosen = runs(project) if run_ids is None else [find_run(project, run_id) for run_id in run_ids]
    by_id = {run.id: run for run in chosen if only.takes_run(run)}
    modes = tuple(failure_modes(project))
    by_key = {mode.key: mode for mode in modes}
    own_tags = [tag for tag in tags(project) if tag.run_id in by_id and only.takes_tag(tag, by_key)]
    by_tag: dict[str, list[Region]] = defaultdict(list)
    for region in regions(project):
        by_tag[region.tag_uuid].append(region)
    found: list[TaggedPicture] = []
    for run in by_id.values():
        of_run = [tag for tag in own_tags if tag.run_id == run.id]
        images = {step.number: step.image for step in steps(project, run.id) if step.image is not None}
        for number, image in images.items():
            claims = tuple(
                Claim(tag, _outlines(by_tag[tag.uuid], number, images))
                for tag in of_run
                if holds(tag, number)
            )
            found.append(TaggedPicture(run, number, image, claims))
    return Content(
        modes, by_id, tuple(own_tags), {tag.uuid: by_tag[tag.uuid] for tag in own_tags}, tuple(found)
    )


def holds(tag: Tag, step: int) -> bool:
    """Tell whether a tag says something of a step."""
    return tag.onset <= step and (tag.end_step is None or step <= tag.end_step)


def totals(content: Content, path: Path, pictures: int = 0) -> Exported:
    """What was exported, counted."""
    return Exported(path, len(content.tags), sum(map(len, content.regions.values())), pictures)


def attributes(tag: Tag) -> dict[str, object]:
    """What a tag says beside its failure mode, under the names of its fields."""
    return {
        "tag_uuid": tag.uuid,
        "annotator": tag.annotator,
        "onset": tag.onset,
        "end_step": tag.end_step,
        "severity": tag.severity,
        "certainty": tag.certainty,
        "note": tag.note,
        "review_state": tag.review_state.value,
        "created_at": tag.created_at,
        "modified_at": tag.modified_at,
    }


@contextmanager
def new_folder(out: Path) -> Iterator[Path]:
    """A folder to fill that gets its name, `out`, when it is whole; nothing stays of one that isn't."""
    unfinished = Path(tempfile.mkdtemp(prefix=f".{out.name}.", dir=out.resolve().parent))
    try:
        unfinished.chmod(0o755)
        yield unfinished
        unfinished.replace(out)
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)


def write_pictures(project: Project, content: Content, folder: Path, progress: Progress | None) -> list[str]:
    """Write the pictures into `folder`; returns their names there, with forward slashes."""
    names = []
    for done, picture in enumerate(content.pictures):
        stem = f"run-{picture.run.id:04}/step-{picture.step:03}"
        if progress is not None:
            progress(done, len(content.pictures), stem)
        names.append(pictures.write_upright(project, picture.image, folder, stem))
    if progress is not None:
        progress(len(names), len(names), "")
    return names


def _outlines(regions: list[Region], step: int, images: dict[int, Image]) -> tuple[Outline, ...]:
    image = images[step]
    outlines = []
    for region in regions_at(regions, step):
        drawn_on = images.get(region.step)
        if drawn_on is not None:
            old = (drawn_on.width, drawn_on.height)
            outlines.append(Outline(region, scaled(region.points, old, (image.width, image.height))))
    return tuple(outlines)
