"""What a plan is expected to take: calls, cost, time and disk, each from lowest to highest.

Time and disk are estimates: by the steps that the same model has made in the project, where there are some,
else by what the catalog says of it.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from banana100_core.generation.providers import capabilities
from banana100_core.project.efforts import step_efforts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from banana100_core.generation.editor import Capabilities
    from banana100_core.generation.plan import Plan, PlannedRun
    from banana100_core.project import Project
    from banana100_core.project.efforts import StepEffort
    from banana100_core.project.records import Image

AT_SERVICES = 5  # runs side by side
_FEWEST = 3  # steps from which on what was measured counts
_AREAS = {"512": 0.26e6, "1K": 1.05e6, "2K": 4.2e6, "4K": 17.0e6}  # pixels, whatever the aspect ratio
_UNKNOWN_PIXELS = 1.05e6
_UNKNOWN_BYTES = (0.05, 3.0)  # a pixel

Range = tuple[float, float]


class Basis(StrEnum):
    """What an estimate rests on."""

    MEASURED = "measured"  # steps of the same model in this project
    TYPICAL = "typical"  # what the catalog says of the model
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Forecast:
    """What a plan takes, lowest and highest, without retries; `seconds` is None where nothing is known."""

    runs: int
    calls: int
    cost_usd: Range
    seconds: Range | None
    disk_bytes: Range
    time_basis: Basis
    disk_basis: Basis
    measured_steps: int  # that the estimates rest on


def here_side_by_side() -> int:
    """How many runs work on this machine at a time: one on a small machine, since one uses several cores."""
    return max(1, (os.cpu_count() or 1) // 8)


def forecast(
    project: Project | None,
    plan: Plan,
    images: Mapping[str, Image],
    *,
    at_services: int = AT_SERVICES,
    calls_per_minute: float | None = None,
) -> Forecast:
    """Sum a plan up; `images` are initial images by name, those of the project or new ones.

    `project` is asked for what its steps took, if there is one.
    """
    seconds: list[Range] = []  # of each run
    unknown = False
    low_bytes = high_bytes = 0.0
    bases: set[tuple[Basis, Basis]] = set()
    measured = 0
    known: dict[tuple[str, str], _Known] = {}
    for run in plan.runs:
        key = run.provider, run.model
        if key not in known:
            efforts = [] if project is None else step_efforts(project, *key)
            known[key] = _Known(capabilities(*key), efforts if len(efforts) >= _FEWEST else ())
            measured += len(known[key].efforts)
        one = known[key]
        takes = one.takes(run, images.get(run.initial_image))
        bases.add((takes.time_basis, takes.disk_basis))
        low_bytes, high_bytes = low_bytes + takes.disk_bytes[0], high_bytes + takes.disk_bytes[1]
        unknown = unknown or takes.seconds is None
        seconds.append(takes.seconds or (0.0, 0.0))
    services = not all(one.editor.in_worker for one in known.values())
    alone = any(one.editor.alone for one in known.values())
    lanes = at_services if services else 1 if alone else here_side_by_side()
    slowest = plan.calls * 60 / calls_per_minute if services and calls_per_minute else 0.0
    return Forecast(
        runs=len(plan.runs),
        calls=plan.calls,
        cost_usd=plan.cost_usd,
        seconds=None if unknown else _side_by_side(seconds, lanes, slowest),
        disk_bytes=(low_bytes, high_bytes),
        time_basis=_weakest(time for time, _ in bases),
        disk_basis=_weakest(disk for _, disk in bases),
        measured_steps=measured,
    )


@dataclass(frozen=True, slots=True)
class _Takes:
    """What a run takes."""

    seconds: Range | None
    disk_bytes: Range
    time_basis: Basis
    disk_basis: Basis


@dataclass(frozen=True, slots=True)
class _Known:
    """What is known of an editor."""

    editor: Capabilities
    efforts: Sequence[StepEffort]

    def takes(self, run: PlannedRun, image: Image | None) -> _Takes:
        time, time_basis = (0.0, 0.0), Basis.UNKNOWN
        disk, disk_basis = (0.0, 0.0), Basis.UNKNOWN
        for resolution, times in _resolutions(run).items():
            pixels = self._pixels(image, resolution)
            one, time_basis = self._seconds(resolution, pixels)
            size, disk_basis = self._bytes()
            time = time[0] + times * one[0], time[1] + times * one[1]
            disk = disk[0] + times * pixels * size[0], disk[1] + times * pixels * size[1]
        return _Takes(None if time_basis is Basis.UNKNOWN else time, disk, time_basis, disk_basis)

    def _pixels(self, image: Image | None, resolution: str | None) -> float:
        effort = self.editor.effort
        if asked := (resolution if "resolution" in self.editor.honours else None) or effort.default_size:
            return _AREAS[asked]
        own = _UNKNOWN_PIXELS if image is None else image.width * image.height
        return min(own, effort.most_megapixels * 1e6) if effort.most_megapixels else own

    def _seconds(self, resolution: str | None, pixels: float) -> tuple[Range, Basis]:
        same = [each for each in self.efforts if each.resolution == resolution] or self.efforts
        if same and self.editor.in_worker:
            rate = _middle(same, lambda each: each.seconds / each.pixels)
            return (rate[0] * pixels, rate[1] * pixels), Basis.MEASURED
        if same:
            return _middle(same, lambda each: each.seconds), Basis.MEASURED
        effort = self.editor.effort
        if effort.seconds_per_megapixel is not None:
            low, high = effort.seconds_per_megapixel
            return (low * pixels / 1e6, high * pixels / 1e6), Basis.TYPICAL
        if effort.seconds_per_image is not None:
            return effort.seconds_per_image, Basis.TYPICAL
        return (0.0, 0.0), Basis.UNKNOWN

    def _bytes(self) -> tuple[Range, Basis]:
        if self.efforts:
            return _middle(self.efforts, lambda each: each.byte_size / each.pixels), Basis.MEASURED
        typical = self.editor.effort.bytes_per_pixel
        return (_UNKNOWN_BYTES, Basis.UNKNOWN) if typical is None else (typical, Basis.TYPICAL)


def _resolutions(run: PlannedRun) -> dict[str | None, int]:
    """How many steps ask for each resolution."""
    found: dict[str | None, int] = {}
    for number in range(1, run.steps + 1):
        resolution = run.settings.resolution_of(number)
        found[resolution] = found.get(resolution, 0) + 1
    return found


def _middle(efforts: Sequence[StepEffort], figure: Callable[[StepEffort], float]) -> Range:
    """The middle four fifths of what was measured."""
    ordered = sorted(map(figure, efforts))
    tenth = len(ordered) // 10
    return ordered[tenth], ordered[-1 - tenth]


def _side_by_side(runs: Sequence[Range], lanes: int, slowest: float) -> Range:
    """Time of runs of which some go side by side, none faster than its own steps."""
    used = max(1, min(lanes, len(runs)))

    def whole(each: Sequence[float]) -> float:
        return max(sum(each) / used, slowest, *each)

    return whole([low for low, _ in runs]), whole([high for _, high in runs])


def _weakest(bases: Iterable[Basis]) -> Basis:
    found = set(bases)
    return next(basis for basis in (Basis.UNKNOWN, Basis.TYPICAL, Basis.MEASURED) if basis in found)
