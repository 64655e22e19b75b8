"""The editors' models: what each one is, whether it needs a key, and its price."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files


@dataclass(frozen=True, slots=True)
class EditorModel:
    """A model of an editor; `note` says what it is wherever it shows."""

    provider: str
    key: str
    title: str
    note: str
    needs_key: bool = False
    usd_per_image: tuple[float, float] = (0.0, 0.0)  # lowest and highest


@cache
def editor_models() -> tuple[EditorModel, ...]:
    """All models that ship with the program; the first is the default."""
    data = tomllib.loads(files(__package__).joinpath("models.toml").read_text("utf-8"))
    return tuple(
        EditorModel(
            provider=entry["provider"],
            key=entry["key"],
            title=entry["title"],
            note=" ".join(entry["note"].split()),
            needs_key=entry.get("needs_key", False),
            usd_per_image=_price(entry.get("usd_per_image", (0.0, 0.0))),
        )
        for entry in data["model"]
    )


def model_title(provider: str, key: str) -> str:
    """What a model is called wherever it shows; an embedded editor says that it is one."""
    for model in editor_models():
        if (model.provider, model.key) == (provider, key):
            return model.title if model.needs_key else f"{model.title}, embedded"
    return key


def _price(ends: list[float] | tuple[float, float]) -> tuple[float, float]:
    low, high = ends
    return float(low), float(high)
