"""Commands that measure how pictures drift and tell of a whole study: drift, report."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from banana100_core.cli.console import AsJson, complain, in_bytes, in_json, plain, say, say_json, table
from banana100_core.cli.display import WorkDisplay
from banana100_core.cli.exits import Exit
from banana100_core.cli.options import ProjectFile, Runs
from banana100_core.cli.writing import need_place, say_or_write

if TYPE_CHECKING:
    from collections.abc import Sequence

    from banana100_core.analysis.drift import Drift

DriftForm = Literal["table", "csv", "json"]

_DRIFT_STEPS = (1, 5, 10, 20, 50, 100)


def drift(
    project: ProjectFile,
    run: Runs = None,
    form: Annotated[DriftForm, typer.Option("--format", help="How to print it.")] = "table",
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write it there instead.", show_default=False)
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Measure how far each step has gone from step 1.

    PSNR, SSIM, colour (CIEDE2000, mean L*, a*, b* and chroma), fine detail and noise, at the size of step 1;
    steps that a prompt asked to turn are turned back first. The table has steps 1, 5, 10, 20, 50, 100 and the
    last; CSV and JSON have all. Exit code 1: pictures could not be read.
    """
    from banana100_core.analysis.drift import drift as measure
    from banana100_core.analysis.drift_formats import as_csv
    from banana100_core.project import Project

    need_place(out)
    with Project.open(project, read_only=True) as opened, WorkDisplay("measuring drift") as display:
        found = measure(opened, run or None, progress=display)
    if as_json or form == "json":
        text = in_json(found)
    else:
        text = as_csv(found.steps) if form == "csv" else _drift_table(found.steps)
    say_or_write(text, out)
    for reason in found.unreadable:
        complain(f"not measured: {reason}")
    if found.unreadable:
        raise typer.Exit(Exit.SOME_FAILED)


def _drift_table(found: Sequence[Drift]) -> str:
    last = {row.run_id: row.step for row in found}
    headings = ["RUN", "STEP", "PSNR", "SSIM", "ΔE", "ΔE 95 %", "L*", "a*", "b*", "CHROMA", "DETAIL", "NOISE"]
    return table(
        [*headings, "SIZE", ""],
        [
            (
                *(row.run_id, row.step),
                "same" if row.psnr is None else f"{row.psnr:.1f}",
                "-" if row.ssim is None else f"{row.ssim:.3f}",
                *(f"{value:.1f}" for value in (row.delta_e_mean, row.delta_e_95)),
                *(f"{value:.1f}" for value in (row.lightness, row.a_star, row.b_star, row.chroma)),
                "-" if row.detail is None else f"{row.detail:.2f}",
                f"{row.noise:.1f}",
                f"{row.width}x{row.height}",
                ", ".join(filter(None, (row.turned, row.resized_from and "resized"))),
            )
            for row in found
            if row.step in _DRIFT_STEPS or row.step == last[row.run_id]
        ],
        numbers=headings,
    )


def report(
    project: ProjectFile,
    out: Annotated[Path, typer.Argument(metavar="OUT.html", help="The file to write.", show_default=False)],
    as_json: AsJson = False,
) -> None:
    """Write what a study has come to, as one HTML file.

    Runs, score gaps, failure modes with their onsets, agreement, credits and licences. The file has all in
    it, runs no scripts and loads nothing.
    """
    from banana100_core.exchange.report import write_report
    from banana100_core.project import Project

    with Project.open(project, read_only=True) as opened:
        write_report(opened, out)
    size = out.stat().st_size
    if as_json:
        say_json({"file": out, "byte_size": size})
    else:
        say(f"{plain(out)}: {in_bytes(size)}")
