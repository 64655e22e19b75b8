"""The command that asks a language model what editors said of their own pictures: judge."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from banana100_core.cli.console import AsJson, columns, complain, count, plain, say, say_json
from banana100_core.cli.display import WorkDisplay
from banana100_core.cli.exits import Exit
from banana100_core.cli.options import ProjectFile, Runs
from banana100_core.cli.planning import in_usd

if TYPE_CHECKING:
    from banana100_core.analysis.admission import Admission, AdmissionSpread
    from banana100_core.generation.judge import JudgePlan


def judge(
    project: ProjectFile,
    run: Runs = None,
    model: Annotated[
        str | None,
        typer.Option(metavar="MODEL", help="The judge; the paper's if not given.", show_default=False),
    ] = None,
    prompt: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="A text file with a prompt of one's own.", show_default=False),
    ] = None,
    budget: Annotated[
        float | None,
        typer.Option(min=0, metavar="USD", help="Ask no more before this is overspent.", show_default=False),
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say how many summaries there are to judge, and at what cost.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Find from which step summaries admit degradation.

    A model of Gemini answers yes or no for each summary; verdicts are kept, so that no summary is paid twice.
    """
    from banana100_core.analysis.admission import admission_spreads, admissions
    from banana100_core.catalog.judge import judge_model, judge_prompt, load_judge_prompt
    from banana100_core.generation.judge import Judge, judge_runs, plan_judgement
    from banana100_core.generation.limits import Limits
    from banana100_core.project import Project
    from banana100_core.project.runs import run as find_run
    from banana100_core.project.runs import runs
    from banana100_core.project.verdicts import verdicts

    asked = judge_prompt() if prompt is None else load_judge_prompt(prompt)
    with Project.open(project, read_only=dry_run) as opened:
        chosen = [find_run(opened, run_id) for run_id in run] if run else runs(opened)
        if dry_run:
            plan = plan_judgement(opened, model or judge_model(), asked, [each.id for each in chosen])
            _say_plan(plan, as_json=as_json)
            return
        by = Judge(model or judge_model(), asked, Limits(budget_usd=budget))
        try:
            with WorkDisplay("judging") as display:
                judged = judge_runs(opened, by, [each.id for each in chosen], display)
        finally:
            by.close()
        found = admissions(chosen, verdicts(opened, by.model, asked.version))
    spreads = {"first": admission_spreads(found), "first_of_two": admission_spreads(found, of_two=True)}
    if as_json:
        runs_found = [
            {
                "run_id": each.run.id,
                "judged": each.judged,
                "first": each.first,
                "first_of_two": each.first_of_two,
            }
            for each in found
        ]
        told = {"runs": runs_found, "spreads": spreads, "failed": judged.failed, "cost_usd": judged.cost_usd}
        say_json({"model": by.model, "prompt_version": asked.version} | told)
    else:
        say(columns([("judge", plain(by.model)), ("prompt", asked.version), ("judged now", judged.count)]))
        _say_found(found, spreads)
    for problem in judged.failed:
        complain(problem)
    if judged.failed:
        raise typer.Exit(Exit.SOME_FAILED)


def _say_plan(plan: JudgePlan, *, as_json: bool) -> None:
    low, high = plan.cost_usd
    if as_json:
        cost = {"low": low, "high": high}
        figures = {"calls": plan.calls, "judged_already": plan.known, "cost_usd": cost}
        say_json({"model": plan.model, "prompt_version": plan.prompt.version} | figures)
        return
    rows = [
        ("judge", plain(plan.model)),
        ("prompt", plain(plan.prompt.text.strip())),
        ("summaries", plan.calls),
        ("judged already", plan.known),
        ("cost", in_usd(plan.cost_usd)),
    ]
    say(columns(rows))


def _say_found(found: list[Admission], spreads: dict[str, list[AdmissionSpread]]) -> None:
    for each in found:
        say(
            f"run {each.run.id} ({plain(each.run.initial_image)}, repeat {each.run.repeat}): {_first(each)} "
            f"(of {count(each.judged, 'judged summary', 'judged summaries')})"
        )
    for name, rows in spreads.items():
        for row in rows:
            mean = "never" if row.mean is None else f"{row.mean:.1f}"
            sd = "" if row.sd is None else f" ± {row.sd:.1f}"
            say(f"{plain(row.initial_image)}, {plain(row.model)}, {name.replace('_', ' ')}: {mean}{sd}")


def _first(found: Admission) -> str:
    if found.first is None:
        return "never yes"
    of_two = (
        "never two in a row" if found.first_of_two is None else f"first of two at step {found.first_of_two}"
    )
    return f"first yes at step {found.first}, {of_two}"
