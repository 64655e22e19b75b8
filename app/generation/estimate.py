"""A plan and what it takes in words: calls, cost, time, disk, every run and every prompt."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.status import duration
from banana100_core.generation.forecast import Basis

if TYPE_CHECKING:
    from collections.abc import Callable

    from banana100_core.generation.forecast import Forecast
    from banana100_core.generation.plan import Plan, PlannedRun

Range = tuple[float, float]

_BASES = {Basis.MEASURED: "as measured", Basis.TYPICAL: "as is typical", Basis.UNKNOWN: "a guess"}


def figures(takes: Forecast) -> dict[str, str]:
    """What a plan takes, each figure under its name."""
    runs = "1 run" if takes.runs == 1 else f"{takes.runs:,} runs"
    return {
        "Calls": f"{takes.calls:,} in {runs}",
        "Cost": cost(takes.cost_usd),
        "Time": "known after the first steps"
        if takes.seconds is None
        else f"{_span(takes.seconds, duration)}, {_BASES[takes.time_basis]}",
        "Disk": f"{disk(takes.disk_bytes)}, {_BASES[takes.disk_basis]}",
    }


def plan_lines(plan: Plan) -> list[str]:
    """Initial images to be made, every run with its seed, then every prompt with the steps it is sent at."""
    firsts = [f"{name}, made first: {prompt}" for name, prompt in plan.initial_prompts().items()]
    lines = [_run_line(run) for run in plan.runs]
    return [*firsts, *lines, "", *prompt_lines(plan.runs[0])]


def prompt_lines(run: PlannedRun) -> list[str]:
    """Every prompt of a run with the steps it is sent at; all runs of a plan have the same."""
    period = run.period
    lines = []
    for step, prompt in run.first_prompts():
        if period == 1:
            where = "Step 1" if run.steps == 1 else f"Steps 1 to {run.steps}"
        elif step + period > run.steps:
            where = f"Step {step}"
        else:
            where = f"Steps {step}, {step + period}" + (" …" if step + 2 * period <= run.steps else "")
        lines.append(f"{where}: {prompt}")
    return lines


def cost(usd: Range) -> str:
    """A cost range for people."""
    low, high = usd
    if high == 0:
        return "no cost"
    return f"${low:,.2f}" if f"{low:.2f}" == f"{high:.2f}" else f"${low:,.2f} to ${high:,.2f}"


def disk(size: Range) -> str:
    """A range of bytes for people."""
    return _span(size, _bytes)


def _run_line(run: PlannedRun) -> str:
    seed = "" if run.seed is None else f", seed {run.seed}"
    steps = "1 step" if run.steps == 1 else f"{run.steps:,} steps"
    return f"{run.initial_image} · r{run.repeat}: {steps}{seed}"


def _span(span: Range, words: Callable[[float], str]) -> str:
    low, high = map(words, span)
    return low if low == high else f"{low} to {high}"


def _bytes(size: float) -> str:
    for unit in ("kB", "MB", "GB"):
        size /= 1000
        if size < 1000 or unit == "GB":
            return f"{max(size, 1):,.0f} {unit}"
    raise AssertionError(size)
