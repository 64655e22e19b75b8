"""What the judge of reasoning summaries is asked, in a version that is kept with each verdict."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from importlib.resources import files
from typing import TYPE_CHECKING

from banana100_core.errors import ProviderError

if TYPE_CHECKING:
    from pathlib import Path


@dataclass(frozen=True, slots=True)
class JudgePrompt:
    """A prompt to which the reasoning summary is appended; `version` changes with each word of it."""

    version: str
    text: str


@cache
def judge_prompt() -> JudgePrompt:
    """The prompt that ships with the program."""
    data = _data()
    return _versioned(data["version"], data["prompt"])


def judge_model() -> str:
    """The model that judges if none is named: the paper's."""
    return _data()["model"]


def load_judge_prompt(file: Path) -> JudgePrompt:
    """Read a prompt of one's own from a text file; ProviderError when it can't be or is empty."""
    try:
        text = file.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ProviderError(f"{file} can't be read as text in UTF-8: {error}.") from error
    if not text.strip():
        raise ProviderError(f"{file} is empty. Write into it what the judge is to be asked.")
    return _versioned(file.stem, text)


def _versioned(name: str, text: str) -> JudgePrompt:
    return JudgePrompt(f"{name}-{sha256(text.encode()).hexdigest()[:8]}", text)


@cache
def _data() -> dict[str, str]:
    return tomllib.loads(files(__package__).joinpath("judge.toml").read_text("utf-8"))
