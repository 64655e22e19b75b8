"""What the judge of reasoning summaries is asked, in a version that is kept with each verdict."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from banana100_core.errors import ProviderError

if TYPE_CHECKING:
    from pathlib import Path

_LEAST_CHARACTERS, _MOST_CHARACTERS = 3.0, 5.0  # of a token
_SHORT_ANSWER, _LONG_ANSWER = 5, 1500  # tokens, the model's own reasoning among them


@dataclass(frozen=True, slots=True)
class JudgePrompt:
    """A prompt to which the reasoning summary is appended; `version` changes with each word of it."""

    version: str
    text: str


@dataclass(frozen=True, slots=True)
class JudgePrices:
    """USD for a million tokens."""

    input: float
    output: float

    def of_call(self, characters: int) -> tuple[float, float]:
        """Lowest and highest price of asking about so many characters."""
        low = self.of_tokens(round(characters / _MOST_CHARACTERS), _SHORT_ANSWER)
        return low, self.of_tokens(round(characters / _LEAST_CHARACTERS), _LONG_ANSWER)

    def of_tokens(self, sent: int, written: int) -> float:
        """What a call cost, by the tokens that the service counted."""
        return (sent * self.input + written * self.output) / 1e6


@cache
def judge_prompt() -> JudgePrompt:
    """The prompt that ships with the program."""
    data = _data()
    return _versioned(data["version"], data["prompt"])


def judge_model() -> str:
    """The model that judges if none is named: the paper's."""
    model: str = _data()["model"]
    return model


def judge_prices() -> JudgePrices:
    """The prices of the model that judges if none is named."""
    return JudgePrices(**_data()["usd_per_million"])


def own_judge_prompt(text: str) -> JudgePrompt:
    """A prompt of one's own; the one that ships with the program if it is that, word for word."""
    shipped = judge_prompt()
    if text.strip() == shipped.text.strip():
        return shipped
    if not text.strip():
        raise ProviderError("The judge's prompt is empty. Write what it is to be asked.")
    return _versioned("own", text)


def load_judge_prompt(file: Path) -> JudgePrompt:
    """Read a prompt of one's own from a text file; ProviderError when it can't be or is empty."""
    try:
        text = file.read_text("utf-8")
    except OSError as error:
        raise ProviderError(f"{file} can't be read: {error.strerror or error}. Name a text file.") from error
    except UnicodeDecodeError as error:
        raise ProviderError(f"{file} can't be read as text in UTF-8: {error}.") from error
    if not text.strip():
        raise ProviderError(f"{file} is empty. Write into it what the judge is to be asked.")
    return _versioned(file.stem, text)


def _versioned(name: str, text: str) -> JudgePrompt:
    return JudgePrompt(f"{name}-{sha256(text.encode()).hexdigest()[:8]}", text)


@cache
def _data() -> dict[str, Any]:
    return tomllib.loads(files(__package__).joinpath("judge.toml").read_text("utf-8"))
