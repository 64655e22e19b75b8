"""Edits that could not be saved when a project closed: kept on this computer until they are."""

from __future__ import annotations

import contextlib
import json
import zlib
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import platformdirs

from banana100_core.project.records import NewTag, ReviewState

if TYPE_CHECKING:
    from collections.abc import Sequence

    from banana100_core.project import Project


@dataclass(frozen=True, slots=True)
class Kept:
    """What a tag was in the project and what it shall be; None is no tag."""

    uuid: str
    annotator: str
    before: NewTag | None
    wanted: NewTag | None


def keep(project: Project, edits: Sequence[Kept]) -> bool:
    """Write edits down in place of those kept before; whether that could be done."""
    path = _path(project)
    unfinished = path.with_suffix(".new")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        unfinished.write_text(json.dumps([asdict(edit) for edit in edits], ensure_ascii=False), "utf-8")
        unfinished.replace(path)
    except (OSError, UnicodeError):
        return False
    return True


def kept(project: Project) -> list[Kept]:
    """The edits kept for a project; none where there are none, or what was written can't be read."""
    try:
        found = json.loads(_path(project).read_text("utf-8"))
        return [
            Kept(each["uuid"], each["annotator"], _tag(each["before"]), _tag(each["wanted"]))
            for each in found
        ]
    except (OSError, ValueError, KeyError, TypeError):
        return []


def forget(project: Project) -> None:
    """They are in the project now, or were given up."""
    with contextlib.suppress(OSError):
        _path(project).unlink(missing_ok=True)


def _path(project: Project) -> Path:
    # A copy of a project has its UUID, but not its edits.
    place = zlib.crc32(str(project.path).encode("utf-8", "backslashreplace"))
    name = f"{project.uuid}-{place:08x}.json"
    return Path(platformdirs.user_data_dir("banana100", appauthor=False)) / "unsaved" / name


def _tag(values: dict[str, Any] | None) -> NewTag | None:
    if values is None:
        return None
    return NewTag(**values | {"review_state": ReviewState(values["review_state"])})
