"""Edits that could not be saved: kept on this computer, by kind, until they are or are given up."""

from __future__ import annotations

import contextlib
import json
import zlib
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import platformdirs

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from banana100_core.project import Project

AGAIN_MS = 5_000  # until what could not be saved is tried again
KEPT = "Kept on this computer, and saved when you open this project again."
CHANGED_SINCE = "It was changed since. Retry to have it as you wanted, or discard it."

_Kept = TypeVar("_Kept")


class Kind(StrEnum):
    """What was edited."""

    TAGS = "tags"
    REGIONS = "regions"
    WORDS = "words"  # on runs: done, accepted, rejected


@dataclass(frozen=True, slots=True)
class KeptEdits:
    """The edits of one kind that are kept for a project."""

    project: Project
    kind: Kind

    def keep(self, edits: Sequence[Any]) -> bool:
        """Write edits, which are dataclasses, in place of those kept before; whether that could be done."""
        path = _path(self.project)
        unfinished = path.with_suffix(".new")
        kinds = _read(path) | {self.kind.value: [asdict(edit) for edit in edits]}
        try:
            if not any(kinds.values()):
                path.unlink(missing_ok=True)
                return True
            path.parent.mkdir(parents=True, exist_ok=True)
            unfinished.write_text(json.dumps(kinds), "utf-8")
            unfinished.replace(path)
        except (OSError, UnicodeError):
            return False
        return True

    def read(self, made: Callable[[dict[str, Any]], _Kept]) -> list[_Kept]:
        """The edits, each made of what was written; none where that can't be understood."""
        with contextlib.suppress(ValueError, KeyError, TypeError, AttributeError):
            return [made(each) for each in _read(_path(self.project)).get(self.kind.value, ())]
        return []

    def forget(self) -> None:
        """They are in the project now, or were given up."""
        self.keep([])


def _read(path: Path) -> dict[str, list[dict[str, Any]]]:
    try:
        found = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    if isinstance(found, list):  # as it was when only tags were kept
        return {Kind.TAGS.value: found}
    return found if isinstance(found, dict) else {}


def _path(project: Project) -> Path:
    # A copy of a project has its UUID, but not its edits.
    place = zlib.crc32(str(project.path).encode("utf-8", "backslashreplace"))
    name = f"{project.uuid}-{place:08x}.json"
    return Path(platformdirs.user_data_dir("banana100", appauthor=False)) / "unsaved" / name
