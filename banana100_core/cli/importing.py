"""Commands that bring in runs and tags made elsewhere: import folder, import pico, import tags."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from banana100_core.cli.console import AsJson, complain, count, in_bytes, note, plain, say, say_json, table
from banana100_core.cli.display import WorkDisplay
from banana100_core.cli.exits import Exit
from banana100_core.cli.merging import PreferSide, say_merged
from banana100_core.cli.options import ProjectFile
from banana100_core.errors import ImportFilesError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from banana100_core.exchange.preview import ImportPreview, ImportReport
    from banana100_core.progress import Progress
    from banana100_core.project import Project
    from banana100_core.project.merge import MergeReport, Prefer

app = typer.Typer(help="Bring in runs and tags made elsewhere.", no_args_is_help=True, rich_markup_mode=None)

Copy = Annotated[
    bool, typer.Option("--copy", help="Copy the images into the project instead of naming them by path.")
]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Show what was understood and change nothing.")]


@app.command("folder")
def import_folder(
    project: ProjectFile,
    folder: Annotated[
        Path, typer.Argument(metavar="DIR", help="The folder of pictures.", show_default=False)
    ],
    copy: Copy = False,
    dry_run: DryRun = False,
    as_json: AsJson = False,
) -> None:
    """Import a folder of pictures.

    A run is a folder, or file names carry run and step. CSV, JSON and JSON lines files beside them may bring
    prompts, reasoning summaries and settings. Importing the same folder again adds nothing.
    """
    from banana100_core.exchange.folder import preview_folder

    _import(
        project,
        lambda progress: preview_folder(folder, progress),
        f"No runs were found in {folder}. Name one with a run in each folder, or in file names.",
        copy=copy,
        dry_run=dry_run,
        as_json=as_json,
    )


@app.command("pico")
def import_pico(
    project: ProjectFile,
    jsonl: Annotated[
        Path, typer.Argument(metavar="JSONL", help="Pico-Banana's multi-turn list.", show_default=False)
    ],
    base: Annotated[
        Path,
        typer.Option(metavar="DIR", help="The folder that its image paths start from.", show_default=False),
    ],
    copy: Copy = False,
    dry_run: DryRun = False,
    as_json: AsJson = False,
) -> None:
    """Import Pico-Banana's multi-turn sequences, a run each."""
    from banana100_core.exchange.pico import preview_pico

    _import(
        project,
        lambda progress: preview_pico(jsonl, base, progress),
        f"{jsonl} names no picture that is below {base}. Name the folder that its paths start from: --base.",
        copy=copy,
        dry_run=dry_run,
        as_json=as_json,
    )


@app.command("tags")
def import_tags(
    project: ProjectFile,
    file: Annotated[
        Path,
        typer.Argument(metavar="FILE", help="A CSV, or the JSON file of COCO.", show_default=False),
    ],
    dry_run: DryRun = False,
    prefer: PreferSide = None,
    annotator: Annotated[
        str,
        typer.Option(
            metavar="NAME", help="Whose tags those of another program's COCO are.", show_default=False
        ),
    ] = "",
    category: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=MODE",
            help="The failure mode of a category of another program's COCO; can be repeated. Without it, "
            "categories are failure modes of the same name.",
            show_default=False,
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Import tags from a CSV or COCO file.

    `export` writes such files, and other programs write COCO. Tags are joined like those of a copy in
    `merge`: importing the same file again changes nothing, and tags that the file doesn't have stay. Pictures
    of another program's COCO are found by file name or content. Exit code 1: something was left out.
    """
    from banana100_core.exchange.foreign_coco import is_foreign
    from banana100_core.exchange.import_tags import import_tags as take_over
    from banana100_core.project import Project
    from banana100_core.project.merge import Prefer

    wanted = None if prefer is None else Prefer(prefer)
    with Project.open(project, read_only=dry_run) as opened:
        lost = 0
        if is_foreign(file):
            report, lost = _import_foreign(
                opened, file, annotator, category or (), prefer=wanted, dry_run=dry_run
            )
        else:
            report = take_over(opened, file, prefer=wanted, dry_run=dry_run)
    say_merged(report, dry_run=dry_run, decided=prefer is not None, as_json=as_json)
    if lost:
        complain(f"{count(lost, 'annotation')} of pictures that were left out")
        raise typer.Exit(Exit.SOME_FAILED)


def _import_foreign(
    project: Project,
    file: Path,
    annotator: str,
    named: Sequence[str],
    *,
    prefer: Prefer | None,
    dry_run: bool,
) -> tuple[MergeReport, int]:
    """Import another program's COCO; the second is how many annotations are of pictures left out."""
    from banana100_core.exchange.foreign_coco import import_foreign, read_foreign

    if not annotator.strip():
        raise typer.BadParameter("say whose tags they shall be", param_hint="--annotator")
    with WorkDisplay("finding pictures") as display:
        found = read_foreign(project, file, display)
    modes = {category.name: category.mode for category in found.categories}
    for each in named:
        name, _equals, mode = each.rpartition("=")
        if name not in modes or not mode:
            known = ", ".join(modes)
            raise typer.BadParameter(
                f"{each!r}: write CATEGORY=MODE; there are {known}", param_hint="--category"
            )
        modes[name] = mode
    for name, reason in found.unmatched:
        note(f"banana100: picture {plain(name)} is left out: {reason}")
    for text in found.notes:
        note(f"banana100: {text}")
    for category in found.categories:
        if modes[category.name] is None and category.annotations:
            note(
                f"banana100: category {plain(category.name)} is left out with "
                f"{count(category.annotations, 'annotation')}: no failure mode has that name (--category)"
            )
    if not found.places:
        raise ImportFilesError(f"None of the pictures of {file} is a step of {project.path}.")
    return import_foreign(project, found, annotator, modes, prefer=prefer, dry_run=dry_run), found.lost


def _import(
    path: Path,
    understand: Callable[[Progress], ImportPreview],
    nothing: str,
    *,
    copy: bool,
    dry_run: bool,
    as_json: bool,
) -> None:
    """Import what was understood, or show it; `nothing` says the way out when that is nothing."""
    from banana100_core.exchange.importing import import_runs
    from banana100_core.project import Project

    # What can't be opened is told before the folder is read; a dry run needs no project that can be written.
    with Project.open(path, read_only=dry_run) as project:
        with WorkDisplay("looking at files") as display:
            preview = understand(display)
        if dry_run:
            _say_preview(preview, as_json=as_json)
        elif preview.ignored:
            remark = preview.ignored[0]
            note(
                f"banana100: {len(preview.ignored):,} left out, such as {plain(remark.path)}: "
                f"{plain(remark.reason)}; --dry-run names all"
            )
        if not preview.runs:
            raise ImportFilesError(nothing)
        if dry_run:
            return
        with WorkDisplay("importing") as display:
            report = import_runs(project, preview, copy=copy, progress=display)
    _say_report(report, as_json=as_json)
    for remark in report.failed:
        complain(f"{remark.path}: {remark.reason}")
    if report.failed:
        raise typer.Exit(Exit.SOME_FAILED)


def _say_preview(preview: ImportPreview, *, as_json: bool) -> None:
    if as_json:
        say_json(preview)
        return
    say(
        table(
            [
                "RUN",
                "INITIAL IMAGE",
                "MODEL",
                "PROTOCOL",
                "REPEAT",
                "STEPS",
                "SIZE",
                "PROMPTS",
                "MISSING STEPS",
            ],
            [
                (
                    run.title,
                    run.initial_image if run.has_initial else f"{run.initial_image} (no picture)",
                    run.model,
                    run.protocol,
                    run.repeat,
                    _numbers(sorted(step.number for step in run.steps)),
                    in_bytes(sum(step.byte_size for step in run.steps)),
                    sum(bool(step.notes.prompt) for step in run.steps),
                    _numbers(run.missing),
                )
                for run in preview.runs
            ],
            numbers={"REPEAT", "SIZE", "PROMPTS"},
        )
    )
    if preview.side_files:
        say()
        say(
            table(
                ["SIDE FILE", "RECORDS", "USED", ""],
                [(file.path, file.records, file.used, file.reason) for file in preview.side_files],
                numbers={"RECORDS", "USED"},
            )
        )
    for title, remarks in (
        ("left aside, another file has the same run and step", preview.duplicates),
        ("would become failed steps", preview.unreadable),
        ("ignored", preview.ignored),
    ):
        if remarks:
            say()
            say(f"{title}:")
            for remark in remarks:
                say(f"  {plain(remark.path)}: {plain(remark.reason)}")
    say()
    say(f"{count(len(preview.runs), 'run')}, {count(preview.step_count, 'step')}; nothing was changed")


def _numbers(numbers: Sequence[int]) -> str:
    """Say numbers in short: 0-5, 7."""
    spans: list[list[int]] = []
    for number in numbers:
        if spans and number == spans[-1][1] + 1:
            spans[-1][1] = number
        else:
            spans.append([number, number])
    return ", ".join(f"{first}" if first == last else f"{first}-{last}" for first, last in spans)


def _say_report(report: ImportReport, *, as_json: bool) -> None:
    if as_json:
        say_json(report)
        return
    say(
        f"{count(report.runs_added, 'run')} added, {report.runs_completed:,} completed, "
        f"{report.runs_unchanged:,} there already; {count(report.steps_added, 'step')} added"
    )
