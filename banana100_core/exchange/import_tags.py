"""Tags that come back from a CSV or COCO file, such as an export wrote and another program changed."""

from __future__ import annotations

import csv
import json
import math
from typing import TYPE_CHECKING, Any
from uuid import NAMESPACE_URL, uuid5

from banana100_core.errors import ImportFilesError, ProjectError
from banana100_core.project.merge import LeftOut, MergeReport, Prefer, merge_sides
from banana100_core.project.merge_sides import Side, TagState, read_side
from banana100_core.project.records import RegionKind, ReviewState
from banana100_core.project.regions import valid_points
from banana100_core.project.rows import now, text, to_json
from banana100_core.project.runs import steps

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from banana100_core.project import Project

_NEEDED = ("run_uuid", "failure_mode", "annotator", "onset")
_OWN_NAMES = uuid5(NAMESPACE_URL, "banana100:tag")

Record = dict[str, Any]


def import_tags(
    project: Project, file: Path, *, prefer: Prefer | None = None, dry_run: bool = False
) -> MergeReport:
    """Take over the tags of a file like those of another copy; see `merge`.

    A tag without a UUID gets one that follows from what it says, so that importing again adds nothing. What
    can't be is left out by name; tags that the file doesn't have stay. Raises ImportFilesError when the file
    can't be understood.
    """
    records = _from_coco(file) if file.suffix.lower() == ".json" else _from_csv(file)
    return take_records(project, str(file), records, prefer=prefer, dry_run=dry_run)


def take_records(
    project: Project,
    name: str,
    records: Iterable[tuple[str, Record]],
    *,
    prefer: Prefer | None = None,
    dry_run: bool = False,
) -> MergeReport:
    """Take over tags that a file of that name was understood as, each with its place there."""
    with project.reading() as connection:
        mine = read_side(connection, str(project.path))
    reader = _Reader(project, mine)
    states, left_out = {}, []
    for place, record in records:
        try:
            state = reader.state_of(record)
            states[state.row["uuid"]] = state
        except (ProjectError, ImportFilesError) as error:
            left_out.append(LeftOut(str(record.get("tag_uuid") or place), name, str(error)))
    side = Side(
        name=name,
        tags=states,
        log={},
        run_uuids=mine.run_uuids,
        last_steps=mine.last_steps,
        pictures=mine.pictures,
        modes=mine.modes,
        has_log=False,
    )
    report = merge_sides(project, [side], prefer=prefer, dry_run=dry_run)
    report.left_out = left_out + report.left_out
    return report


class _Reader:
    """Makes rows of the project from what a file says."""

    def __init__(self, project: Project, mine: Side) -> None:
        self._project = project
        self._mine = mine
        self._runs = {uuid: run_id for run_id, uuid in mine.run_uuids.items()}
        self._sizes: dict[int, dict[int, tuple[int, int]]] = {}

    def state_of(self, record: Record) -> TagState:
        run_uuid, mode = _text(record, "run_uuid"), _text(record, "failure_mode")
        run_id = self._runs.get(run_uuid)
        if run_id is None:
            raise ImportFilesError(f"the project has no run of the UUID {run_uuid!r}")
        if mode not in self._mine.modes:
            raise ImportFilesError(f"the project has no failure mode {mode!r}; add it first")
        onset = _whole(record, "onset", lowest=1)
        end_step = None if _missing(record, "end_step") else _whole(record, "end_step", lowest=onset)
        said = (run_uuid, mode, _text(record, "annotator"), onset, end_step)
        uuid = text(str(record.get("tag_uuid") or "")) or str(uuid5(_OWN_NAMES, to_json(said)))
        moment = now()
        row: Record = {
            "uuid": uuid,
            "run_id": run_id,
            "failure_mode": mode,
            "annotator": _text(record, "annotator"),
            "onset": onset,
            "end_step": end_step,
            "severity": 2
            if _missing(record, "severity")
            else _whole(record, "severity", lowest=1, highest=3),
            "certainty": _certainty(record),
            "note": text(str(record.get("note") or "")),
            "review_state": _review_state(record),
            "created_at": text(str(record.get("created_at") or moment)),
            "modified_at": text(str(record.get("modified_at") or moment)),
        }
        regions = [self._region(run_id, uuid, region, moment) for region in record["regions"]]
        return TagState(row, {region["uuid"]: region for region in regions})

    def _region(self, run_id: int, tag_uuid: str, region: Record, moment: str) -> Record:
        step = _whole(region, "step", lowest=0)
        end_step = None if _missing(region, "end_step") else _whole(region, "end_step", lowest=step)
        size = self._size(run_id, step)
        try:
            kind = RegionKind(str(region.get("kind")))
            wanted = [(float(x), float(y)) for x, y in region["points"]]
        except (ValueError, TypeError, KeyError):
            raise ImportFilesError(f"its region at step {step} has no kind or no points") from None
        points = valid_points(kind, wanted, size, step)
        said = to_json((tag_uuid, step, kind, points))
        return {
            "uuid": text(str(region.get("region_uuid") or "")) or str(uuid5(_OWN_NAMES, said)),
            "tag_uuid": tag_uuid,
            "step": step,
            "kind": kind.value,
            "points": to_json(points),
            "created_at": moment,
            "modified_at": moment,
            "end_step": end_step,
        }

    def _size(self, run_id: int, step: int) -> tuple[int, int]:
        if run_id not in self._sizes:
            self._sizes[run_id] = {
                there.number: (there.image.width, there.image.height)
                for there in steps(self._project, run_id)
                if there.image is not None
            }
        if step not in self._sizes[run_id]:
            raise ImportFilesError(f"step {step} of run {run_id}, where it has a region, has no picture")
        return self._sizes[run_id][step]


def _from_csv(file: Path) -> list[tuple[str, Record]]:
    """A record for each tag; rows of the same tag UUID bring its regions."""
    by_tag: dict[str, tuple[str, Record]] = {}
    try:
        with file.open(encoding="utf-8-sig", newline="") as stream:
            reader = csv.DictReader(stream)
            _need_columns(file, reader.fieldnames or ())
            for number, row in enumerate(reader, start=2):
                key = row.get("tag_uuid") or to_json([row.get(name) for name in (*_NEEDED, "end_step")])
                _, record = by_tag.setdefault(key, (f"row {number}", {**row, "regions": []}))
                if row.get("region_points") or row.get("region_step"):
                    record["regions"].append(_region_of_row(row))
    except OSError as error:
        raise ImportFilesError(f"{file} can't be read: {error.strerror}. Check the path.") from None
    except (UnicodeDecodeError, csv.Error) as error:
        raise ImportFilesError(f"{file} is no CSV in UTF-8: {error}. Save it as such.") from None
    return list(by_tag.values())


def _region_of_row(row: Mapping[str, str]) -> Record:
    try:
        points = json.loads(row.get("region_points") or "null")
    except ValueError:
        points = None
    return {
        "region_uuid": row.get("region_uuid"),
        "step": row.get("region_step"),
        "end_step": row.get("region_end_step"),
        "kind": row.get("region_kind"),
        "points": points,
    }


def _from_coco(file: Path) -> list[tuple[str, Record]]:
    try:
        data = json.loads(file.read_text("utf-8"))
    except OSError as error:
        raise ImportFilesError(f"{file} can't be read: {error.strerror}. Check the path.") from None
    except ValueError as error:
        raise ImportFilesError(f"{file} is no JSON: {error}. Name a COCO file or a CSV.") from None
    records = data.get("tags") if isinstance(data, dict) else None
    if not isinstance(records, list) or not all(isinstance(record, dict) for record in records):
        raise ImportFilesError(
            f'{file} has no "tags", as `banana100 export --to coco` writes them beside COCO\'s annotations. '
            "Of COCO that another program wrote, say whose tags they shall be (--annotator)."
        )
    return [
        (f"tag {place}", record | {"regions": _dicts(record.get("regions"))})
        for place, record in enumerate(records, start=1)
    ]


def _dicts(value: object) -> list[Record]:
    return [item if isinstance(item, dict) else {} for item in value] if isinstance(value, list) else []


def _need_columns(file: Path, columns: Iterable[str]) -> None:
    if missing := [name for name in _NEEDED if name not in columns]:
        raise ImportFilesError(
            f"{file} has no column {', '.join(missing)}. `banana100 export --to csv` shows what is needed."
        )


def _missing(record: Record, name: str) -> bool:
    return record.get(name) in (None, "")


def _text(record: Record, name: str) -> str:
    value = record.get(name)
    if not isinstance(value, str) or not value.strip():
        raise ImportFilesError(f"it has no {name}")
    return text(value)


def _whole(record: Record, name: str, *, lowest: int, highest: int | None = None) -> int:
    value = record.get(name)
    try:
        number = int(str(value))
    except ValueError:
        raise ImportFilesError(f"its {name} {value!r} is no whole number") from None
    if number < lowest or (highest is not None and number > highest):
        ends = f"from {lowest}" + ("" if highest is None else f" to {highest}")
        raise ImportFilesError(f"its {name} {number} can't be; it goes {ends}")
    return number


def _certainty(record: Record) -> float:
    if _missing(record, "certainty"):
        return 1.0
    try:
        value = float(record["certainty"])
    except (ValueError, TypeError):
        value = math.nan
    if not 0 <= value <= 1:
        raise ImportFilesError(f"its certainty {record['certainty']!r} can't be; it goes from 0 to 1")
    return value


def _review_state(record: Record) -> str:
    value = record.get("review_state") or ReviewState.DRAFT
    if value not in set(ReviewState):
        raise ImportFilesError(
            f"its review state {value!r} doesn't exist; there are {', '.join(ReviewState)}"
        )
    return str(value)
