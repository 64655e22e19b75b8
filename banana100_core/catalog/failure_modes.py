"""The paper's taxonomy of failure modes, by level (section 3)."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from importlib.resources import files


class Level(StrEnum):
    """What a failure mode is a failure of."""

    SUB_OBJECT = "sub-object"
    OBJECT = "object"
    IMAGE = "image"
    ATTRIBUTE = "attribute"  # of what the model says about the picture, not of the picture


@dataclass(frozen=True, slots=True)
class FailureMode:
    """A node of the taxonomy; `shortcut` is the letter that tags it, `parent` the mode it is a kind of.

    In a project one may be retired: no longer offered, its tags kept, or merged into another one.
    """

    key: str
    name: str
    level: Level
    definition: str
    example: str
    shortcut: str
    parent: str | None = None
    retired: bool = False
    merged_into: str | None = None


@cache
def failure_modes() -> dict[str, FailureMode]:
    """All failure modes by key, level by level, each kind after its parent."""
    data = tomllib.loads(files(__package__).joinpath("failure_modes.toml").read_text("utf-8"))
    return {
        key: FailureMode(
            key=key,
            name=entry["name"],
            level=Level(entry["level"]),
            definition=entry["definition"],
            example=entry["example"],
            shortcut=entry["shortcut"],
            parent=entry.get("parent"),
        )
        for key, entry in data["failure_mode"].items()
    }
