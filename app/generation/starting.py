"""What the panel asks of the core in the background: plans added and started, runs taken up again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from banana100_core.errors import BananaError
from banana100_core.generation.limits import Limits
from banana100_core.generation.plan import add_plan
from banana100_core.generation.providers import capabilities
from banana100_core.project.runs import run as stored_run
from banana100_core.project.runs import set_run_model

if TYPE_CHECKING:
    from collections.abc import Sequence

    from banana100_core.generation.executor import Executor
    from banana100_core.generation.plan import Plan
    from banana100_core.project import Project


def start(
    project: Project,
    executor: Executor,
    plan: Plan,
    budget_usd: float | None,
    calls_per_minute: float | None,
) -> list[int] | str:
    """Add a plan's runs and begin with them; gives them, or the reason why there are none."""
    try:
        run_ids = add_plan(project, plan)
        limit(executor, budget_usd, calls_per_minute)
        executor.start(run_ids)
    except BananaError as error:
        return str(error)
    return run_ids


def limit(executor: Executor, budget_usd: float | None, calls_per_minute: float | None) -> None:
    """Set limits: of what begins now, or of what is at work already, whose spending counts on."""
    limits = executor.limits
    if executor.progress().running:
        limits.budget_usd, limits.calls_per_minute = budget_usd, calls_per_minute
    else:
        executor.limits = Limits(budget_usd=budget_usd, calls_per_minute=calls_per_minute)


def go_on(project: Project, executor: Executor, run_ids: Sequence[int], model: str | None) -> str:
    """Take up runs, with another model of their editor where one is named; gives the reason why not."""
    try:
        if model is not None:
            for run_id in run_ids:
                capabilities(stored_run(project, run_id).provider, model)
                set_run_model(project, run_id, model)
        executor.start(run_ids)
    except BananaError as error:
        return str(error)
    return ""
