"""Commands about a project file: new, info, check, pack."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from banana100_core.cli.console import AsJson, columns, count, in_bytes, plain, say, say_json, table
from banana100_core.cli.display import WorkDisplay
from banana100_core.cli.exits import Exit
from banana100_core.cli.options import ProjectFile

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from banana100_core.project.records import Run, RunCost
    from banana100_core.project.summary import Summary

_PLACES = {"blob": "in the file", "folder": "in its folder", "file": "referenced"}


def new(
    project: ProjectFile,
    images: Annotated[
        Literal["inside", "folder"],
        typer.Option(help="Keep received images inside the file, or in a folder beside it."),
    ] = "inside",
) -> None:
    """Make an empty project."""
    from banana100_core.project import ImageStorage, Project

    Project.create(project, images=ImageStorage(images)).close()
    say(f"{plain(project)}: made")


def info(project: ProjectFile, as_json: AsJson = False) -> None:
    """Show what a project holds.

    Runs, steps, images, scores by metric and method, tags by annotator, and costs.
    """
    from banana100_core.project import Project
    from banana100_core.project.runs import run_costs, runs
    from banana100_core.project.summary import summary

    with Project.open(project, read_only=True) as opened:
        totals, listed = summary(opened), runs(opened)
        costs = {cost.run_id: cost for cost in run_costs(opened)}
    size = opened.path.stat().st_size
    if as_json:
        about = {
            "file": opened.path,
            "uuid": opened.uuid,
            "byte_size": size,
            "journal_mode": opened.journal_mode,
            "image_storage": opened.images,
        }
        say_json({**about, "totals": totals, "runs": listed, "costs": list(costs.values())})
        return
    states = ", ".join(f"{number} {state}" for state, number in totals.runs.items() if number)
    say(
        columns(
            [
                ("project", opened.path),
                ("file", f"{in_bytes(size)}, version {totals.schema_version}, {opened.uuid}"),
                ("journal mode", opened.journal_mode),
                ("runs", f"{len(listed)} ({states})" if listed else "none yet"),
                ("steps", _steps(totals.steps_done, totals.steps_failed, totals.steps_planned)),
                ("initial images", totals.initial_images),
                *(
                    (f"images {_PLACES[row.storage]}", f"{row.images:,}, {in_bytes(row.byte_size)}")
                    for row in totals.images
                ),
                ("calls", f"{totals.calls:,}, {totals.failed_calls:,} of them failed"),
                ("cost", _usd(totals.cost_usd)),
            ]
        )
    )
    _say_runs(listed, costs)
    _say_counts(totals)


def _say_runs(runs: Sequence[Run], costs: Mapping[int, RunCost]) -> None:
    if not runs:
        return
    say()
    say(
        table(
            ["RUN", "INITIAL IMAGE", "MODEL", "PROTOCOL", "REPEAT", "STATE", "STEPS", "TAGS", "COST"],
            [
                (
                    run.id,
                    run.initial_image,
                    run.model,
                    run.protocol,
                    run.repeat,
                    run.state,
                    _steps(run.steps_done, run.steps_failed, run.steps_planned),
                    run.tag_count,
                    _usd(costs[run.id].cost_usd),
                )
                for run in runs
            ],
            numbers={"RUN", "REPEAT", "TAGS", "COST"},
        )
    )


def _say_counts(totals: Summary) -> None:
    if totals.scores:
        say()
        say(
            table(
                ["METRIC", "SCORED", "FAILED", "MISSING", "METHOD VERSION"],
                [
                    (row.metric, row.scored, row.failed, row.missing, row.method_version)
                    for row in totals.scores
                ],
                numbers={"SCORED", "FAILED", "MISSING"},
            )
        )
    if totals.tags:
        say()
        say(
            table(
                ["ANNOTATOR", "TAGS", "RUNS"],
                [(row.annotator, row.tags, row.runs) for row in totals.tags],
                numbers={"TAGS", "RUNS"},
            )
        )


def _steps(done: int, failed: int, planned: int) -> str:
    text = f"{done:,}/{max(planned, done + failed):,}"
    return f"{text}, {failed:,} failed" if failed else text


def _usd(amount: float | None) -> str:
    return f"${amount:,.2f}" if amount else "-"


def check(project: ProjectFile, as_json: AsJson = False) -> None:
    """Verify that a project is whole.

    Image hashes, references and the file's integrity are checked, orphans named, and nothing is changed.
    """
    from banana100_core.project.check import Severity
    from banana100_core.project.check import check as check_project

    with WorkDisplay("checking") as display:
        findings = check_project(project, lambda done, total, _what: display(done, total))
    errors = sum(finding.severity is Severity.ERROR for finding in findings)
    if as_json:
        say_json(findings)
    else:
        for finding in findings:
            say(plain(f"{finding.severity}: {finding.what}: {finding.reason}. {finding.way_out}"))
        warnings = len(findings) - errors
        say(f"{plain(project)}: {count(errors, 'error')}, {count(warnings, 'warning')}")
    if errors:
        raise typer.Exit(Exit.SOME_FAILED)


def pack(
    project: ProjectFile,
    out: Annotated[Path, typer.Argument(metavar="OUT", help="The new project file.", show_default=False)],
    as_json: AsJson = False,
) -> None:
    """Copy a project and all its images into one file.

    The new file can be handed over; the project stays as it is.
    """
    from banana100_core.project import Project
    from banana100_core.project.pack import pack as pack_project

    with Project.open(project, read_only=True) as opened, WorkDisplay("packing") as display:
        pack_project(opened, out, display)
    size = out.stat().st_size
    if as_json:
        say_json({"file": out, "byte_size": size})
    else:
        say(f"{plain(out)}: {in_bytes(size)}")
