"""Commands that join copies of a project: merge."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from banana100_core.cli.console import AsJson, complain, count, in_bytes, note, plain, say, say_json, table
from banana100_core.cli.display import WorkDisplay
from banana100_core.cli.exits import Exit
from banana100_core.cli.options import ProjectFile

if TYPE_CHECKING:
    from banana100_core.project.merge import Conflict, MergeReport

DryRun = Annotated[bool, typer.Option("--dry-run", help="Show what would be done and change nothing.")]
PreferSide = Annotated[
    Literal["mine", "theirs", "newest", "both"] | None,
    typer.Option(
        help="Which side of a conflict to take; both keeps two tags.",
        show_default="mine, and the conflict is listed",
    ),
]


def merge(
    project: ProjectFile,
    others: Annotated[
        list[Path], typer.Argument(metavar="OTHER", help="Copies that came back.", show_default=False)
    ],
    dry_run: DryRun = False,
    prefer: PreferSide = None,
    add_runs: Annotated[
        bool, typer.Option("--add-runs", help="Add runs that only a copy has, with their pictures.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Join the tags of copies that came back from annotators.

    Tags are united by UUID and each edit is taken once, so that merging again changes nothing. Runs that only
    a copy has are listed, or added. The project is backed up first. Exit code 1: conflicts remain to be
    decided, or tags were left out.
    """
    from banana100_core.project import Project
    from banana100_core.project.merge import Prefer
    from banana100_core.project.merge import merge as join

    with Project.open(project, read_only=dry_run) as opened, WorkDisplay("merging") as display:
        report = join(
            opened,
            others,
            prefer=None if prefer is None else Prefer(prefer),
            add_runs=add_runs,
            dry_run=dry_run,
            progress=display,
        )
    if not add_runs and any(not run.reason for run in report.new_runs):
        note("banana100: runs that only a copy has are not added; --add-runs adds them")
    say_merged(report, dry_run=dry_run, decided=prefer is not None, as_json=as_json)


def say_merged(report: MergeReport, *, dry_run: bool, decided: bool, as_json: bool) -> None:
    """Print what a merge did, and end with code 1 when something is left to be done."""
    if as_json:
        say_json(report)
    else:
        say(
            f"{count(report.added, 'tag')} added, {report.changed:,} changed, {report.removed:,} removed, "
            f"{report.unchanged:,} the same; {count(report.edits, 'edit')} taken over"
            f"{'; nothing was changed' if dry_run else ''}"
        )
        if report.new_failure_modes:
            say(f"new failure modes: {plain(', '.join(report.new_failure_modes))}")
        _say_beside_tags(report)
        if report.backup is not None:
            say(f"backed up before: {plain(report.backup)}")
        _say_runs(report)
        if report.conflicts:
            say()
            say(_conflicts(report.conflicts))
    for left in report.left_out:
        complain(f"tag {left.tag_uuid} of {left.other} is left out: {left.reason}")
    if report.conflicts and not decided:
        complain(
            f"{count(len(report.conflicts), 'conflict')}: this project's side was kept. Decide with --prefer."
        )
    if report.left_out or (report.conflicts and not decided):
        raise typer.Exit(Exit.SOME_FAILED)


def _say_runs(report: MergeReport) -> None:
    if report.runs_added:
        say(f"{count(report.runs_added, 'run')} added")
    if report.new_runs:
        say()
        say(
            table(
                ["RUN ONLY THERE", "MODEL", "PROTOCOL", "REPEAT", "STEPS", "SIZE", "TAGS", "OTHER", ""],
                [
                    (
                        *(run.initial_image, run.model, run.protocol, run.repeat, run.steps),
                        *(in_bytes(run.byte_size), run.tags, run.other, run.reason),
                    )
                    for run in report.new_runs
                ],
                numbers={"REPEAT", "STEPS", "SIZE", "TAGS"},
            )
        )


def _say_beside_tags(report: MergeReport) -> None:
    for change in report.changed_failure_modes:
        say(f"failure mode {plain(change.key)} as in {plain(change.other)}: {', '.join(change.fields)}")
    if report.suggestions:
        say(f"{count(report.suggestions, 'suggestion')} decided on there")
    if report.reviews:
        say(f"{count(report.reviews, 'review')} taken over")
    for conflict in report.review_conflicts:
        say(
            f"run {conflict.run_id} of {plain(conflict.annotator)} is {conflict.mine} here and "
            f"{conflict.theirs} in {plain(conflict.other)}; the last word counts: {conflict.taken}"
        )


def _conflicts(conflicts: list[Conflict]) -> str:
    rows = []
    for conflict in conflicts:
        state = conflict.mine or conflict.theirs
        here = conflict.mine.said if conflict.mine else {}
        there = conflict.theirs.said if conflict.theirs else {}
        row = {} if state is None else state.row
        for name in conflict.fields:
            mine, theirs = _value(here, name), _value(there, name)
            tag = (row.get("run_id"), row.get("failure_mode"), row.get("annotator"))
            rows.append((*tag, name, mine, theirs, conflict.taken, conflict.other))
    headings = ["RUN", "FAILURE MODE", "ANNOTATOR", "FIELD", "MINE", "THEIRS", "TAKEN", "OTHER"]
    return table(headings, rows, numbers={"RUN"})


def _value(state: dict[str, object], name: str) -> object:
    if name == "removed":
        return "kept" if state else "removed"
    value = state.get(name)
    if isinstance(value, dict):
        from banana100_core.project.merge_sides import regions_in_words

        return regions_in_words(value.values(), "; ")
    return "-" if value is None else value
