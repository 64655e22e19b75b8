"""A plan in words: what it asks for, at what cost, and how long and how much disk it is expected to take."""

from __future__ import annotations

import shutil
import textwrap
from typing import TYPE_CHECKING

from banana100_core.cli.console import columns, count, in_bytes, in_time, note, plain, say, say_json, table
from banana100_core.errors import ProviderError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from banana100_core.catalog.settings import RunSettings
    from banana100_core.generation.editor import Capabilities
    from banana100_core.generation.forecast import Forecast
    from banana100_core.generation.plan import Plan
    from banana100_core.project.records import Run

_BASES = {
    "measured": "estimate from {steps} of this model in the project",
    "typical": "estimate from what is typical of the model",
    "unknown": "a guess",
}
_WIDTH = 100


def say_plan(plan: Plan, takes: Forecast, editor: Capabilities, *, as_json: bool) -> None:
    """Print a plan with every prompt."""
    if as_json:
        _say_json(plan, takes)
        return
    say(plain(editor.title))
    width = min(_WIDTH, shutil.get_terminal_size((_WIDTH, 24)).columns)
    say(textwrap.fill(plain(editor.note), width, initial_indent="  ", subsequent_indent="  "))
    say()
    say(
        columns(
            [
                ("runs", len(plan.runs)),
                ("edits", plan.calls),
                ("cost", in_usd(takes.cost_usd)),
                ("time", _in_words(takes.seconds, in_time, takes.time_basis, takes)),
                ("disk", _in_words(takes.disk_bytes, _bytes, takes.disk_basis, takes)),
            ]
        )
    )
    say()
    for run in plan.runs:
        say(f"  {plain(run.initial_image)}, repeat {run.repeat}: {count(run.steps, 'step')}, seed {run.seed}")
    say()
    first = plan.runs[0]
    for name, prompt in plan.initial_prompts().items():
        say(f"  {plain(name)} is made first, from: {plain(prompt)}")
    rows = [
        (_steps(range(nth, first.steps + 1, first.period)), prompt) for nth, prompt in first.first_prompts()
    ]
    say(table(["STEPS", "PROMPT"], rows))


def need_sizes(editor: Capabilities, settings: RunSettings, steps: int) -> None:
    """Raise ProviderError when the editor makes no pictures of a resolution asked for."""
    if "resolution" not in editor.honours or not editor.sizes:
        return
    wanted = {settings.resolution_of(number) for number in range(1, steps + 1)} - {None, *editor.sizes}
    if wanted:
        raise ProviderError(
            f"{editor.title} makes no {' or '.join(sorted(map(str, wanted)))}. It makes: "
            f"{', '.join(editor.sizes)}."
        )


def note_unheeded(editor: Capabilities, given: Mapping[str, object]) -> None:
    """Say which of the settings given the editor takes no heed of."""
    options = {"seed": "--seed-mode", "temperature": "--temperature"}
    options |= {"resolution": "--resolution", "aspect_ratio": "--aspect-ratio"}
    if without := [option for name, option in options.items() if name in given.keys() - editor.honours]:
        note(f"banana100: {plain(editor.title)} takes no heed of {', '.join(without)}")


def note_unlike_repeats(plan: Plan, existing: Iterable[Run]) -> None:
    """Say when means over repeats would mix these runs with others."""
    from banana100_core.generation.plan import unlike_repeats

    if unlike := unlike_repeats(plan, existing):
        note(
            f"banana100: {count(len(unlike), 'run')} by this protocol had other prompts or settings, and "
            "means over repeats will mix them with these; a protocol of your own (TOML) keeps them apart"
        )


def in_usd(usd: tuple[float, float]) -> str:
    """Say what something costs, from lowest to highest."""
    low, high = usd
    if high == 0:
        return "nothing"
    return f"${low:,.2f} to ${high:,.2f}" if f"{low:.2f}" != f"{high:.2f}" else f"${low:,.2f}"


def _say_json(plan: Plan, takes: Forecast) -> None:
    low, high = plan.cost_usd
    first = plan.runs[0]
    say_json(
        {
            "runs": plan.runs,
            "calls": plan.calls,
            "cost_usd": {"low": low, "high": high},
            "forecast": takes,
            "prompts": [
                {"step": number, "prompt": first.step(number).prompt} for number in range(1, first.steps + 1)
            ],
        }
    )


def _in_words(
    span: tuple[float, float] | None, one: Callable[[float], str], basis: str, takes: Forecast
) -> str:
    if span is None:
        return "known after the first steps"
    low, high = map(one, span)
    words = low if low == high else f"{low} to {high}"
    return f"{words} ({_BASES[basis].format(steps=count(takes.measured_steps, 'step'))})"


def _bytes(size: float) -> str:
    return in_bytes(round(size))


def _steps(numbers: range) -> str:
    if len(numbers) == 1:
        return str(numbers[0])
    if numbers.step == 1:
        return f"{numbers[0]} to {numbers[-1]}"
    some = ", ".join(map(str, numbers[:3]))
    return some if len(numbers) <= 3 else f"{some} … {numbers[-1]}"
