"""How runs edit: the prompts of each step, their period, and settings (section 2.2)."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import Any

from banana100_core.errors import ProviderError


@dataclass(frozen=True, slots=True)
class Protocol:
    """A way to edit step after step; its period is the number of its prompts."""

    key: str
    title: str
    prompts: tuple[str, ...]
    settings: dict[str, Any] = field(default_factory=dict)
    note: str = ""

    def prompt(self, step: int) -> str:
        """Give the prompt of a step; steps count from 1."""
        return self.prompts[(step - 1) % len(self.prompts)]


@cache
def protocols() -> dict[str, Protocol]:
    """All protocols by key."""
    data = tomllib.loads(files(__package__).joinpath("protocols.toml").read_text("utf-8"))
    return {
        key: Protocol(
            key=key,
            title=entry["title"],
            prompts=tuple(entry["prompts"]),
            settings=entry.get("settings", {}),
            note=entry.get("note", ""),
        )
        for key, entry in data["protocol"].items()
    }


def protocol(key: str) -> Protocol:
    """Give one protocol; ProviderError names those there are."""
    try:
        return protocols()[key]
    except KeyError:
        raise ProviderError(f"There is no protocol {key!r}. There are: {', '.join(protocols())}.") from None
