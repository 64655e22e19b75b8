"""How long the remaining steps will take, judged by those that were made."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping


class Pace:
    """Seconds that each editor takes for a pixel, as seen so far."""

    def __init__(self) -> None:
        self._seen: dict[str, tuple[float, int]] = {}

    def saw(self, provider: str, pixels: int, seconds: float) -> None:
        """Take in a step."""
        seconds_before, pixels_before = self._seen.get(provider, (0.0, 0))
        self._seen[provider] = seconds_before + seconds, pixels_before + pixels

    def seconds_for(self, pixels: Mapping[str, int]) -> float | None:
        """Give the seconds that each editor's remaining pixels take in sequence; None before any step.

        An editor that was not seen yet is taken to be as fast as the others.
        """
        if not self._seen:
            return None
        all_seconds, all_pixels = (sum(values) for values in zip(*self._seen.values(), strict=True))
        total = 0.0
        for provider, count in pixels.items():
            seconds_seen, pixels_seen = self._seen.get(provider, (all_seconds, all_pixels))
            total += count * seconds_seen / pixels_seen
        return total
