"""Commands that read results: gaps, agreement, contact-sheet."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from banana100_core.cli.console import AsJson, in_bytes, note, plain, say, say_json, table
from banana100_core.cli.options import Metrics, ProjectFile, Runs
from banana100_core.cli.writing import need_place, say_or_write

if TYPE_CHECKING:
    from collections.abc import Sequence

    from banana100_core.analysis.agreement import Agreement, Figures
    from banana100_core.analysis.gaps import Gap, Spread

Form = Literal["table", "csv", "json", "svg"]
AgreementForm = Literal["table", "csv", "json"]
AgreementPart = Literal["figures", "confusion", "runs"]


def gaps(
    project: ProjectFile,
    metric: Metrics = None,
    run: Runs = None,
    form: Annotated[Form, typer.Option("--format", help="How to print them.")] = "table",
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write them there instead.", show_default=False)
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Show how much worse or better metrics find later steps.

    A gap is the normalised score of step 5, 10 or 20 minus that of step 1. A positive one is a failure of the
    metric: it calls the worn picture better. The table and the SVG show means over repeats.
    """
    from banana100_core.analysis.gap_formats import as_csv, as_svg
    from banana100_core.analysis.gap_formats import as_json as in_json
    from banana100_core.analysis.gaps import gaps as find_gaps
    from banana100_core.catalog.metrics import metric as find_metric
    from banana100_core.project import Project
    from banana100_core.project.runs import run as find_run

    need_place(out)
    for key in metric or ():
        find_metric(key)
    with Project.open(project, read_only=True) as opened:
        for run_id in run or ():
            find_run(opened, run_id)
        found = find_gaps(opened, metric or None, run or None)
    if not found:
        some = "such scores" if metric or run else "scores"
        note(f"banana100: there are no {some} yet; `banana100 score` makes them")
    write = {"table": _gap_table, "csv": as_csv, "json": in_json, "svg": as_svg}["json" if as_json else form]
    say_or_write(write(found), out)


def _gap_table(found: Sequence[Gap]) -> str:
    from banana100_core.analysis.gaps import GAP_STEPS, summarise

    headings = [*(f"Δ{step}" for step in GAP_STEPS), "FAILURES"]
    return table(
        ["INITIAL IMAGE", "MODEL", "PROTOCOL", "METRIC", *headings, "METHOD VERSION"],
        [
            (
                summary.initial_image,
                summary.model,
                summary.protocol,
                summary.metric,
                *(_spread(summary.deltas[step]) for step in GAP_STEPS),
                summary.failures,
                summary.method_version,
            )
            for summary in summarise(found)
        ],
        numbers=headings,
    )


def _spread(spread: Spread | None) -> str:
    if spread is None:
        return "-"
    return f"{spread.mean:+.1f}" if spread.sd is None else f"{spread.mean:+.1f} ± {spread.sd:.1f}"


def agreement(
    project: ProjectFile,
    run: Runs = None,
    form: Annotated[AgreementForm, typer.Option("--format", help="How to print it.")] = "table",
    part: Annotated[
        AgreementPart, typer.Option(help="What of it to print as CSV; the table and JSON have all.")
    ] = "figures",
    as_json: AsJson = False,
) -> None:
    """Show how far annotators agree on failure modes.

    For each mode and level: Krippendorff's alpha of presence (each run a unit) and of extent (each step),
    the mean of Cohen's kappas of pairs, how far apart onsets are, and how far regions cover each other (IoU).
    Then what was taken for what, and the runs, the most disputed first. Counted are runs that two annotators
    or more have tagged or finished.
    """
    from banana100_core.analysis.agreement import agreement as find_agreement
    from banana100_core.analysis.agreement_formats import Part, as_csv
    from banana100_core.project import Project
    from banana100_core.project.runs import run as find_run

    with Project.open(project, read_only=True) as opened:
        for run_id in run or ():
            find_run(opened, run_id)
        found = find_agreement(opened, run or None)
    if as_json or form == "json":
        say_json(found)
        return
    if form == "csv":
        say(as_csv(found, Part(part)).rstrip("\n"))
        return
    if not found.shared_runs:
        note("banana100: no run has tags of two annotators yet; `banana100 merge` joins their copies")
        return
    say(_agreement_table(found))


def _agreement_table(found: Agreement) -> str:
    headings = ["RUNS", "ALPHA", "ALPHA OF STEPS", "KAPPA", "ONSET APART", "SAME ONSET", "WITHIN 2", "IOU"]
    figures = table(
        ["FAILURE MODE", *headings],
        [_figures(row) for row in (*found.modes, *found.levels)],
        numbers=headings,
    )
    names = {row.key: row.name for row in found.modes}
    confusion = table(
        ["ANNOTATOR", "SAW", "OTHER", "SAW INSTEAD", "IN RUNS"],
        [
            (
                pair.one,
                names.get(cell.one, "nothing"),
                pair.other,
                names.get(cell.other, "nothing"),
                cell.runs,
            )
            for pair in found.pairs
            for cell in pair.cells
            if cell.one != cell.other
        ],
        numbers={"IN RUNS"},
    )
    runs = table(
        ["RUN", "INITIAL IMAGE", "MODEL", "REPEAT", "DISAGREEMENT", "ANNOTATORS"],
        [
            (
                row.run_id,
                row.initial_image,
                row.model,
                row.repeat,
                f"{row.disagreement:.2f}",
                ", ".join(row.annotators),
            )
            for row in found.by_run
        ],
        numbers={"RUN", "REPEAT", "DISAGREEMENT"},
    )
    return f"{figures}\n\n{confusion}\n\n{runs}"


def _figures(row: Figures) -> tuple[object, ...]:
    return (
        row.name,
        row.runs,
        _figure(row.alpha_presence),
        _figure(row.alpha_extent),
        _figure(row.mean_kappa),
        "-" if row.onset is None else f"{row.onset.mean:.1f}",
        *("-" if row.onset is None else f"{row.onset.within[steps]:.0%}" for steps in (0, 2)),
        _figure(None if row.overlap is None else row.overlap.mean),
    )


def _figure(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"


def contact_sheet(
    project: ProjectFile,
    out: Annotated[Path, typer.Argument(metavar="OUT.png", help="The picture to make.", show_default=False)],
    run: Runs = None,
    step: Annotated[
        list[int] | None,
        typer.Option(min=0, metavar="STEP", help="Only this step; can be repeated.", show_default="a choice"),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Draw runs as rows and steps as columns of one picture."""
    from banana100_core.exchange.contact_sheet import contact_sheet as draw
    from banana100_core.project import Project
    from banana100_core.project.runs import run as find_run
    from banana100_core.project.runs import runs

    with Project.open(project, read_only=True) as opened:
        run_ids = [find_run(opened, run_id).id for run_id in run or ()] or [row.id for row in runs(opened)]
        draw(opened, run_ids, out, steps=step or None)
    size = out.stat().st_size
    if as_json:
        say_json({"file": out, "byte_size": size, "runs": run_ids})
    else:
        say(f"{plain(out)}: {in_bytes(size)}")
