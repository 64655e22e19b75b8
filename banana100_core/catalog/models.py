"""The editors' models: what each one is, whether it needs a key, and its prices."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, field, replace
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

FOUR_BIT = "-4bit"  # at the end of a key

_LONG_THINKING = 2500  # tokens; above nearly every reasoning that was seen
_LARGE_INPUT = 2000


@dataclass(frozen=True, slots=True)
class Prices:
    """USD for an image of each size, and for a million tokens."""

    by_size: tuple[tuple[str, float], ...]
    input: float
    text: float
    image: float

    def of_call(self, size: str | None, *, thinking: bool) -> tuple[float, float]:
        """Lowest and highest price of one answered call; any size where none is given."""
        prices = [price for name, price in self.by_size if size in {None, name}]
        prices = prices or [price for _, price in self.by_size]
        words = _LARGE_INPUT * self.input + thinking * _LONG_THINKING * self.text
        return min(prices), max(prices) + words / 1e6

    def of_tokens(self, sent: int, text: int, image: int) -> float:
        """What a call cost, by the tokens that the service counted."""
        return (sent * self.input + text * self.text + image * self.image) / 1e6


@dataclass(frozen=True, slots=True)
class Effort:
    """What a step takes, lowest and highest, where nothing was measured yet; None where nothing is known."""

    seconds_per_image: tuple[float, float] | None = None
    seconds_per_megapixel: tuple[float, float] | None = None
    bytes_per_pixel: tuple[float, float] | None = None
    default_size: str | None = None  # of the image made when no resolution is asked for
    most_megapixels: float | None = None  # larger images are shrunk to this


@dataclass(frozen=True, slots=True)
class Weights:
    """Where the open weights of a model are, the pipeline that they are for, and what it is called with."""

    pipeline: str  # a class of diffusers
    repository: str  # at huggingface.co
    call: Mapping[str, Any]
    download_gb: float
    memory_gb: float  # on the graphics card, with all of the model there
    without: tuple[str, ...] = ()  # parts of the pipeline that are left out
    from_text: bool = False  # it makes pictures from prompts alone
    as_list: bool = False  # it takes a list of pictures
    takes_size: bool = False  # it must be told the picture's size
    gated: bool = False
    four_bit: bool = False
    suffix: str = ""  # of the key, after the name of the model's folder


@dataclass(frozen=True, slots=True)
class EditorModel:
    """A model of an editor; `note` says what it is wherever it shows."""

    provider: str
    key: str
    title: str
    note: str
    embedded: bool = True  # ships with the program and works on this machine
    needs_key: bool = False
    thinking: bool = False  # gives a reasoning summary when asked
    prices: Prices | None = None
    effort: Effort = field(default_factory=Effort)
    weights: Weights | None = None  # of one that works on this machine through diffusers

    @property
    def usd_per_image(self) -> tuple[float, float]:
        """Lowest and highest price of one answered call."""
        return (0.0, 0.0) if self.prices is None else self.prices.of_call(None, thinking=self.thinking)


@cache
def editor_models() -> tuple[EditorModel, ...]:
    """All models that ship with the program; the first is the default."""
    data = tomllib.loads(files(__package__).joinpath("models.toml").read_text("utf-8"))
    return tuple(model for entry in data["model"] for model in _models(entry))


def _models(entry: dict[str, Any]) -> Iterator[EditorModel]:
    """The model of an entry, and its 4-bit build where there is one."""
    model = EditorModel(
        provider=entry["provider"],
        key=entry["key"],
        title=entry["title"],
        note=" ".join(entry["note"].split()),
        embedded=entry["embedded"],
        needs_key=entry.get("needs_key", False),
        thinking=entry.get("thinking", False),
        prices=_prices(entry),
        effort=_effort(entry.get("effort", {})),
    )
    if "weights" not in entry:
        yield model
        return
    values = dict(entry["weights"])
    four_bit_gb = values.pop("four_bit_gb", None)
    weights = Weights(**values | {"without": tuple(values.get("without", ()))})
    yield replace(model, weights=weights)
    if four_bit_gb is not None:
        yield replace(
            model,
            key=model.key + FOUR_BIT,
            title=f"{model.title}, 4-bit",
            note=f"{model.note} Its weights are rounded to 4 bits: less memory, and other pictures.",
            weights=replace(weights, four_bit=True, suffix=FOUR_BIT, memory_gb=four_bit_gb),
        )


def model_title(provider: str, key: str) -> str:
    """What a model is called wherever it shows; an embedded editor says that it is one."""
    for model in editor_models():
        if (model.provider, model.key) == (provider, key):
            return f"{model.title}, embedded" if model.embedded else model.title
    return key


def _effort(entry: dict[str, Any]) -> Effort:
    values = {name: tuple(value) if isinstance(value, list) else value for name, value in entry.items()}
    return Effort(**cast("Any", values))


def _prices(entry: dict[str, Any]) -> Prices | None:
    if "usd_by_size" not in entry:
        return None
    return Prices(tuple(entry["usd_by_size"].items()), **entry["usd_per_million"])
