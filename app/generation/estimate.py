"""A plan in words: what will be asked for, how often, at what cost and on how much disk."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from banana100_core.generation.plan import Plan
    from banana100_core.project.records import Image

# Bytes a pixel of photographs as editors send them, lowest and highest; noise makes them grow over the steps.
_BYTES_PER_PIXEL = {"image/png": (1.0, 3.0), "image/jpeg": (0.1, 1.0), "image/webp": (0.05, 0.8)}
_UNKNOWN = (0.1, 3.0)


@dataclass(frozen=True, slots=True)
class Estimate:
    """What a plan asks for. Bytes and dollars are lowest and highest."""

    runs: int
    calls: int
    cost_usd: tuple[float, float]
    disk_bytes: tuple[float, float]
    first_prompts: tuple[tuple[int, str], ...]  # step and prompt, once through the protocol's prompts
    steps: int

    def headline(self) -> str:
        """For instance "4 runs · 80 calls · no cost · 60 MB to 180 MB on disk"."""
        runs = "1 run" if self.runs == 1 else f"{self.runs:,} runs"
        calls = "1 call" if self.calls == 1 else f"{self.calls:,} calls"
        return f"{runs} · {calls} · {cost(self.cost_usd)} · {disk(self.disk_bytes)} on disk"

    def prompt_lines(self) -> list[str]:
        """Every prompt with the steps it is sent at."""
        period = len(self.first_prompts)
        lines = []
        for step, prompt in self.first_prompts:
            if step > self.steps:
                break
            if period == 1:
                where = "Step 1" if self.steps == 1 else f"Steps 1 to {self.steps}"
            elif step + period > self.steps:
                where = f"Step {step}"
            else:
                where = f"Steps {step}, {step + period}" + (" …" if step + 2 * period <= self.steps else "")
            lines.append(f"{where}: {prompt}")
        return lines


def estimate(plan: Plan, images: Mapping[str, Image], media_types: Sequence[str]) -> Estimate:
    """Sum a plan up; `images` are the initial images by name, `media_types` those that the editor gives."""
    kinds = [_BYTES_PER_PIXEL.get(kind, _UNKNOWN) for kind in media_types] or [_UNKNOWN]
    low, high = min(kind[0] for kind in kinds), max(kind[1] for kind in kinds)
    pixels = sum(
        images[run.initial_image].width * images[run.initial_image].height * run.steps
        for run in plan.runs
        if run.initial_image in images
    )
    first = plan.runs[0]
    prompts = tuple((number, prompt) for number, prompt in enumerate(first.prompts, start=1))
    return Estimate(
        len(plan.runs), plan.calls, plan.cost_usd, (pixels * low, pixels * high), prompts, first.steps
    )


def cost(usd: tuple[float, float]) -> str:
    """A cost range for people."""
    low, high = usd
    if high == 0:
        return "no cost"
    return f"${low:,.2f}" if f"{low:.2f}" == f"{high:.2f}" else f"${low:,.2f} to ${high:,.2f}"


def disk(size: tuple[float, float]) -> str:
    """A range of bytes for people."""
    low, high = (_bytes(each) for each in size)
    return low if low == high else f"{low} to {high}"


def _bytes(size: float) -> str:
    for unit in ("kB", "MB", "GB"):
        size /= 1000
        if size < 1000 or unit == "GB":
            return f"{max(size, 1):,.0f} {unit}"
    raise AssertionError(size)
