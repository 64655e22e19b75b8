"""How long the remaining steps will take, judged by those that were made."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


@dataclass
class _Seen:
    seconds: float = 0.0
    steps: int = 0
    pixels: int = 0


class Pace:
    """The time that steps took, by editor: for each pixel where the editor was seen at work, else a step."""

    def __init__(self) -> None:
        self._seen: dict[str, _Seen] = {}

    def saw(self, provider: str, pixels: int, seconds: float) -> None:
        """Take in a step."""
        seen = self._seen.setdefault(provider, _Seen())
        seen.seconds += seconds
        seen.steps += 1
        seen.pixels += pixels

    def seconds_for(self, chains: Iterable[tuple[str, int, int]]) -> float | None:
        """Seconds that chains of (editor, steps, pixels of a step) take in sequence; None before any step.

        A step of an editor that was not seen yet counts as the mean of the others': editors differ too much
        in what a pixel costs them.
        """
        if not self._seen:
            return None
        every_step = sum(seen.seconds for seen in self._seen.values()) / sum(
            seen.steps for seen in self._seen.values()
        )
        total = 0.0
        for provider, steps, pixels in chains:
            seen = self._seen.get(provider)
            total += steps * (pixels * seen.seconds / seen.pixels if seen else every_step)
        return total
