"""How runs edit: the prompts of each step, their period, and settings (section 2.2)."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from banana100_core.catalog.settings import RunSettings, settings_from
from banana100_core.errors import ProviderError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

_FIELDS = ("title", "note", "prompts", "prompt", "items", "settings")


@dataclass(frozen=True, slots=True)
class Protocol:
    """A way to edit step after step; its period is the number of its prompts."""

    key: str
    title: str
    prompts: tuple[str, ...]
    settings: RunSettings = field(default_factory=RunSettings)
    note: str = ""

    def prompt(self, step: int) -> str:
        """Give the prompt of a step; steps count from 1."""
        return self.prompts[(step - 1) % len(self.prompts)]


@cache
def protocols() -> dict[str, Protocol]:
    """All protocols that ship with the program, by key."""
    data = tomllib.loads(files(__package__).joinpath("protocols.toml").read_text("utf-8"))
    return {key: _protocol_of(key, entry, f"protocol {key}") for key, entry in data["protocol"].items()}


def protocol(key: str) -> Protocol:
    """Give one protocol; ProviderError names those there are."""
    try:
        return protocols()[key]
    except KeyError:
        raise ProviderError(
            f"There is no protocol {key!r}. There are: {', '.join(protocols())}. "
            "One of your own is given as a TOML file."
        ) from None


def load_protocol(file: Path) -> Protocol:
    """Read a protocol of one's own from a TOML file; its key is the file's name without the ending.

    The file has `prompts`, or `prompt` with `{item}` in it and `items`; and may have `title`, `note` and a
    table `settings`. ProviderError says what is wrong with it.
    """
    try:
        entry = tomllib.loads(file.read_text("utf-8"))
    except OSError as error:
        raise ProviderError(f"{file} can't be read: {error.strerror}.") from error
    except UnicodeDecodeError as error:
        raise ProviderError(f"{file} is not text in UTF-8. Save it as such.") from error
    except tomllib.TOMLDecodeError as error:
        raise ProviderError(f"{file} is no TOML: {error}.") from error
    if file.stem in protocols():
        raise ProviderError(f"{file}: {file.stem!r} is a protocol of the program. Rename the file.")
    return _protocol_of(file.stem, entry, str(file))


def _protocol_of(key: str, entry: Mapping[str, Any], where: str) -> Protocol:
    if strange := sorted(entry.keys() - set(_FIELDS)):
        raise ProviderError(f"{where}: there is no field {strange[0]!r}. There are: {', '.join(_FIELDS)}.")
    for name in ("title", "note"):
        if not isinstance(entry.get(name, ""), str):
            raise ProviderError(f"{where}: {name} must be text.")
    if not isinstance(entry.get("settings", {}), dict):
        raise ProviderError(f"{where}: settings must be a table, [settings].")
    return Protocol(
        key=key,
        title=entry.get("title", key),
        prompts=_prompts(entry, where),
        settings=settings_from(entry.get("settings", {}), f"{where}, settings"),
        note=" ".join(entry.get("note", "").split()),
    )


def _prompts(entry: Mapping[str, Any], where: str) -> tuple[str, ...]:
    if ("prompts" in entry) == ("prompt" in entry):
        raise ProviderError(f"{where}: it needs either prompts, a list of texts, or prompt and items.")
    if "prompts" in entry:
        return _texts(entry["prompts"], f"{where}: prompts")
    prompt = entry["prompt"]
    if not isinstance(prompt, str) or "{item}" not in prompt:
        raise ProviderError(f"{where}: prompt must be a text with {{item}} where an item is put.")
    items = _texts(entry.get("items"), f"{where}: items")
    return tuple(prompt.replace("{item}", item) for item in items)


def _texts(value: object, what: str) -> tuple[str, ...]:
    if not isinstance(value, list) or not value:
        raise ProviderError(f"{what} must be a list of at least one text.")
    for nth, text in enumerate(value, 1):
        if not isinstance(text, str) or not text.strip():
            raise ProviderError(f"{what}: number {nth} is {text!r}. It must be a text that is not empty.")
    return tuple(value)
