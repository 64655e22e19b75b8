"""COCO files that other programs wrote: their pictures found among steps, their categories as failure modes.

Such a file says nothing of onsets. A category that is outlined in the pictures of a run makes a tag from the
first to the last of those in a row, as far as the file has the run's pictures.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

from banana100_core.errors import ImportFilesError
from banana100_core.exchange.import_tags import take_records
from banana100_core.exchange.masks import MaskOutline, outline_of
from banana100_core.project.failure_modes import failure_modes
from banana100_core.project.images import image_location
from banana100_core.project.runs import runs, steps

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from banana100_core.catalog.failure_modes import FailureMode
    from banana100_core.progress import Progress
    from banana100_core.project import Project
    from banana100_core.project.merge import MergeReport, Prefer
    from banana100_core.project.records import Step

_EXPORTED = re.compile(r"run-(\d+)\W*_?step-(\d+)\.\w+$", re.IGNORECASE)  # as `export` names pictures
_SHOWN = 3  # places of one picture
_SLACK = 0.01  # by which the file's picture may differ in shape from the project's

Record = dict[str, Any]
Place = tuple[int, int]  # run and step


@dataclass(frozen=True, slots=True)
class Category:
    """A category of the file; `mode` is the failure mode of the same name, if there is one."""

    name: str
    annotations: int
    mode: str | None


@dataclass(frozen=True, slots=True)
class ForeignCoco:
    """What a file was understood as; `unmatched` are pictures that are no step's, and why.

    `notes` say what became of masks: regions are their outlines, or where that can't be done their boxes.
    """

    file: Path
    categories: tuple[Category, ...]
    places: Mapping[int, Place]  # by the file's number of the picture
    unmatched: tuple[tuple[str, str], ...]
    data: Record
    masks: Mapping[int, MaskOutline] = field(default_factory=dict)  # by the place of their annotation
    notes: tuple[str, ...] = ()

    @property
    def lost(self) -> int:
        """How many annotations are of pictures that are no step's."""
        annotations = _dicts(self.data.get("annotations"))
        return sum(_number(annotation.get("image_id")) not in self.places for annotation in annotations)


def is_foreign(file: Path) -> bool:
    """Tell whether a file is COCO without the tags that `export` writes beside it."""
    if file.suffix.lower() != ".json":
        return False
    data = _read(file)
    return all(_dicts(data.get(name)) for name in ("images", "categories")) and "tags" not in data


def read_foreign(project: Project, file: Path, progress: Progress | None = None) -> ForeignCoco:
    """Understand a COCO file. Raises ImportFilesError when it is none."""
    data = _read(file)
    images, categories = _dicts(data.get("images")), _dicts(data.get("categories"))
    if not images or not categories:
        raise ImportFilesError(f"{file} is no COCO: it has no images or no categories. Name another file.")
    index = _Index(project)
    places: dict[int, Place] = {}
    unmatched = []
    for done, image in enumerate(images):
        name = str(image.get("file_name") or image.get("id"))
        if progress is not None:
            progress(done, len(images), name)
        try:
            places[_number(image.get("id"))] = index.find(image, name, file.parent)
        except ImportFilesError as error:
            unmatched.append((name, str(error)))
    counts = Counter(annotation.get("category_id") for annotation in _dicts(data.get("annotations")))
    known = _by_name(failure_modes(project))
    masks, notes = _masks(data, places, progress)
    return ForeignCoco(
        file,
        tuple(
            Category(_name(category), counts[category.get("id")], known.get(_plain(_name(category))))
            for category in categories
        ),
        places,
        tuple(unmatched),
        data,
        masks,
        tuple(notes),
    )


def _masks(
    data: Record, places: Mapping[int, Place], progress: Progress | None
) -> tuple[dict[int, MaskOutline], list[str]]:
    """The outlines of masks in pictures of the project, and what is to be said of them."""
    masks: dict[int, MaskOutline] = {}
    refused: Counter[str] = Counter()
    annotations = _dicts(data.get("annotations"))
    for place, annotation in enumerate(annotations):
        segmentation = annotation.get("segmentation")
        if not isinstance(segmentation, dict) or _number(annotation.get("image_id")) not in places:
            continue
        if progress is not None:
            progress(place, len(annotations), "masks")
        try:
            masks[place] = outline_of(segmentation)
        except ImportFilesError as error:
            refused[str(error)] += 1
    notes = []
    if masks:
        holes = sum(mask.holes > 0 for mask in masks.values())
        filled = f"; holes in {holes:,} of them are filled" if holes else ""
        come = "1 mask comes as its outline" if len(masks) == 1 else f"{len(masks):,} masks come as outlines"
        notes.append(f"{come}, to within a pixel{filled}")
    for reason, count in refused.items():
        come = "1 mask comes as its box" if count == 1 else f"{count:,} masks come as their boxes"
        notes.append(f"{come}: {reason}")
    return masks, notes


def import_foreign(
    project: Project,
    found: ForeignCoco,
    annotator: str,
    modes: Mapping[str, str | None],
    *,
    prefer: Prefer | None = None,
    dry_run: bool = False,
) -> MergeReport:
    """Take over the annotations of a file as one annotator's tags; importing again adds nothing.

    `modes` gives the failure mode of each category; None, or no entry, leaves the category out.
    """
    return take_records(
        project, str(found.file), _records(project, found, annotator, modes), prefer=prefer, dry_run=dry_run
    )


def _records(
    project: Project, found: ForeignCoco, annotator: str, modes: Mapping[str, str | None]
) -> list[tuple[str, Record]]:
    names = {category.get("id"): _name(category) for category in _dicts(found.data.get("categories"))}
    images = {_number(image.get("id")): image for image in _dicts(found.data.get("images"))}
    outlined: dict[tuple[int, str], dict[int, list[tuple[Record, Record, MaskOutline | None]]]]
    outlined = defaultdict(lambda: defaultdict(list))
    for number, annotation in enumerate(_dicts(found.data.get("annotations"))):
        place = found.places.get(_number(annotation.get("image_id")))
        mode = modes.get(names.get(annotation.get("category_id"), ""))
        if place is not None and mode is not None:
            image = images[_number(annotation.get("image_id"))]
            outlined[place[0], mode][place[1]].append((image, annotation, found.masks.get(number)))
    looked_at: dict[int, list[int]] = defaultdict(list)
    for run_id, step in sorted(set(found.places.values())):
        looked_at[run_id].append(step)
    by_id = {run.id: run for run in runs(project)}
    sizes = {
        run_id: {step.number: step for step in steps(project, run_id) if step.image is not None}
        for run_id in {run_id for run_id, _mode in outlined}
    }
    return [
        (
            f"{mode} in run {run_id}",
            {
                "run_uuid": by_id[run_id].uuid,
                "failure_mode": mode,
                "annotator": annotator,
                "onset": max(1, stretch[0]),
                "end_step": stretch[-1],
                "note": f"from {found.file.name}",
                "regions": [
                    region
                    for step in stretch
                    for image, annotation, mask in by_step[step]
                    for region in _regions(image, annotation, mask, sizes[run_id][step])
                ],
            },
        )
        for (run_id, mode), by_step in sorted(outlined.items())
        for stretch in _stretches(looked_at[run_id], by_step)
    ]


def _stretches(looked_at: list[int], outlined: Mapping[int, object]) -> Iterator[list[int]]:
    """Steps that are outlined and follow each other among those that the file has."""
    stretch: list[int] = []
    for step in looked_at:
        if step in outlined:
            stretch.append(step)
        elif stretch:
            yield stretch
            stretch = []
    if stretch:
        yield stretch


def _regions(image: Record, annotation: Record, mask: MaskOutline | None, step: Step) -> Iterator[Record]:
    assert step.image is not None  # noqa: S101 - the caller looked
    width, height = step.image.width, step.image.height
    there = mask.size if mask is not None else (image.get("width"), image.get("height"))
    across = width / (_positive(there[0]) or width)
    down = height / (_positive(there[1]) or height)

    def fitted(points: list[tuple[float, float]]) -> list[tuple[float, float]]:
        return [(min(max(x * across, 0), width), min(max(y * down, 0), height)) for x, y in points]

    parts = annotation.get("segmentation")
    polygons = [_points(part) for part in parts] if isinstance(parts, list) else []
    polygons = [list(ring) for ring in mask.rings] if mask is not None else polygons
    polygons = [points for points in polygons if len(points) >= 3]
    box = annotation.get("bbox")
    if len(polygons) == 1 and _is_box(polygons[0]):
        xs, ys = zip(*polygons[0], strict=True)
        corners = [(min(xs), min(ys)), (max(xs), max(ys))]
        yield {"step": step.number, "kind": "box", "points": fitted(corners)}
    elif polygons:
        for points in polygons:
            yield {"step": step.number, "kind": "polygon", "points": fitted(points)}
    elif isinstance(box, list) and len(box) == 4 and all(isinstance(n, (int, float)) for n in box):
        x, y, w, h = (float(value) for value in box)
        yield {"step": step.number, "kind": "box", "points": fitted([(x, y), (x + w, y + h)])}


class _Index:
    """Finds the step whose picture a file speaks of."""

    def __init__(self, project: Project) -> None:
        self._by_sha: dict[str, list[Place]] = defaultdict(list)
        self._by_path: dict[str, list[Place]] = defaultdict(list)
        self._steps: dict[Place, Step] = {}
        for run in runs(project):
            for step in steps(project, run.id):
                if step.image is None:
                    continue
                place = (run.id, step.number)
                self._steps[place] = step
                self._by_sha[step.image.sha256].append(place)
                file = image_location(project, step.image.sha256).file
                if file is not None:
                    self._by_path[file.name].append(place)
                    self._by_path[f"{file.parent.name}/{file.name}"].append(place)

    def find(self, image: Record, name: str, folder: Path) -> Place:
        """Run and step of a picture; ImportFilesError says why there is none, or more than one."""
        places = self._candidates(image, name, folder)
        if not places:
            raise ImportFilesError("no step has this picture")
        if len(places) > 1:
            shown = ", ".join(f"step {step} of run {run}" for run, step in sorted(places)[:_SHOWN])
            more = " …" if len(places) > _SHOWN else ""
            raise ImportFilesError(f"it is the picture of {len(places)} steps: {shown}{more}")
        (place,) = places
        if place[1] == 0:
            raise ImportFilesError("it is an initial image, which has no failure")
        self._need_shape(image, place)
        return place

    def _candidates(self, image: Record, name: str, folder: Path) -> set[Place]:
        by_content = set(self._by_sha.get(str(image.get("sha256")), ()))
        by_name = self._named(name)
        if not by_content and not by_name:
            by_content = self._of_file(name, folder)
        return (by_content & by_name) or by_content or by_name

    def _named(self, name: str) -> set[Place]:
        exported = _EXPORTED.search(name)
        if exported:
            place = (int(exported[1]), int(exported[2]))
            return {place} if place in self._steps else set()
        path = PurePosixPath(name.replace("\\", "/"))
        whole = self._by_path.get(f"{path.parent.name}/{path.name}", [])
        return set(whole or self._by_path.get(path.name, []))

    def _of_file(self, name: str, folder: Path) -> set[Place]:
        for file in (folder / name, folder / "images" / name):
            try:
                if file.resolve().is_relative_to(folder.resolve()) and file.is_file():
                    return set(self._by_sha.get(hashlib.sha256(file.read_bytes()).hexdigest(), ()))
            except (OSError, ValueError):
                continue
        return set()

    def _need_shape(self, image: Record, place: Place) -> None:
        there = self._steps[place].image
        width, height = _positive(image.get("width")), _positive(image.get("height"))
        if there is None or not width or not height:
            return
        if abs((width / height) / (there.width / there.height) - 1) > _SLACK:
            raise ImportFilesError(
                f"it is {width:g}x{height:g} there and {there.width}x{there.height} here, upright: regions "
                "would lie elsewhere"
            )


def _read(file: Path) -> Record:
    try:
        data = json.loads(file.read_text("utf-8"))
    except OSError as error:
        raise ImportFilesError(f"{file} can't be read: {error.strerror}. Check the path.") from None
    except ValueError as error:
        raise ImportFilesError(f"{file} is no JSON: {error}. Name a COCO file or a CSV.") from None
    return data if isinstance(data, dict) else {}


def _by_name(modes: list[FailureMode]) -> dict[str, str]:
    return {_plain(name): mode.key for mode in modes for name in (mode.name, mode.key)}


def _plain(name: str) -> str:
    return re.sub(r"[\W_]+", " ", name).strip().casefold()


def _name(category: Record) -> str:
    return str(category.get("name") or category.get("id"))


def _dicts(value: object) -> list[Record]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def _number(value: object) -> int:
    return value if isinstance(value, int) else hash(value)


def _positive(value: object) -> float:
    return float(value) if isinstance(value, (int, float)) and value > 0 else 0.0


def _points(part: object) -> list[tuple[float, float]]:
    if not isinstance(part, list) or len(part) % 2 or not all(isinstance(n, (int, float)) for n in part):
        return []
    return list(zip(part[::2], part[1::2], strict=True))


def _is_box(points: list[tuple[float, float]]) -> bool:
    corners = set(points)
    xs, ys = {x for x, _ in corners}, {y for _, y in corners}
    return len(corners) == 4 and len(xs) == 2 and len(ys) == 2
