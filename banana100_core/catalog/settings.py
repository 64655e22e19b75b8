"""Settings of a run: the paper's alternatives (section 2.2) and what a protocol's TOML may set."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from banana100_core.errors import ProviderError

if TYPE_CHECKING:
    from collections.abc import Mapping

SIZES = ("512", "1K", "2K", "4K")
INTERLEAVED = "interleaved"
ASPECT_RATIOS = ("1:1", "2:3", "3:2", "3:4", "4:3", "4:5", "5:4", "9:16", "16:9", "21:9")


class SeedMode(StrEnum):
    """Which seed each step is given."""

    NONE = "none"
    FIXED = "fixed"  # the run's own, at every step
    PER_STEP = "per-step"  # one for each step, drawn from the run's


class SessionMode(StrEnum):
    """What each step is asked in."""

    FRESH = "fresh"  # a session of its own, with nothing but the last image
    SINGLE = "single"  # the run's one session, with all that went before; its cost grows with each step


@dataclass(frozen=True, slots=True)
class RunSettings:
    """Settings of a run's steps; None leaves one to the editor, which takes no heed of those it lacks."""

    seed: SeedMode = SeedMode.PER_STEP
    temperature: float | None = None
    resolution: str | None = None  # one of SIZES, or 1K, 2K and 4K in turn: "interleaved"
    aspect_ratio: str | None = None
    session: SessionMode = SessionMode.FRESH

    def resolution_of(self, step: int) -> str | None:
        """The size that a step asks for; steps count from 1."""
        if self.resolution == INTERLEAVED:
            return ("1K", "2K", "4K")[(step - 1) % 3]
        return self.resolution

    def changed(self) -> dict[str, Any]:
        """The settings that are not the default, as `settings_from` reads them."""
        default = asdict(RunSettings())
        return {name: value for name, value in asdict(self).items() if value != default[name]}


def settings_from(table: Mapping[str, Any], where: str) -> RunSettings:
    """Read settings from a table; ProviderError names `where`, the setting and the choice."""
    known = {"seed", "temperature", "resolution", "aspect_ratio", "session"}
    if strange := sorted(table.keys() - known):
        raise ProviderError(
            f"{where}: there is no setting {strange[0]!r}. There are: {', '.join(sorted(known))}."
        )
    seed, temperature = table.get("seed", SeedMode.PER_STEP.value), table.get("temperature")
    _one_of(seed, tuple(SeedMode), f"{where}: seed")
    session = table.get("session", SessionMode.FRESH.value)
    _one_of(session, tuple(SessionMode), f"{where}: session")
    if temperature is not None and (
        isinstance(temperature, bool) or not isinstance(temperature, int | float) or not 0 <= temperature <= 2
    ):
        raise ProviderError(f"{where}: temperature is {temperature!r}. It must be a number from 0 to 2.")
    for name, choices in (("resolution", (*SIZES, INTERLEAVED)), ("aspect_ratio", ASPECT_RATIOS)):
        if table.get(name) is not None:
            _one_of(table[name], choices, f"{where}: {name}")
    return RunSettings(
        seed=SeedMode(seed),
        temperature=None if temperature is None else float(temperature),
        resolution=table.get("resolution"),
        aspect_ratio=table.get("aspect_ratio"),
        session=SessionMode(session),
    )


def _one_of(value: object, choices: tuple[str, ...], what: str) -> None:
    if value not in choices:
        raise ProviderError(f"{what} is {value!r}. It must be one of: {', '.join(choices)}.")
