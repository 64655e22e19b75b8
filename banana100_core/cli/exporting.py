"""Commands that hand tags over: export."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from banana100_core.cli.console import AsJson, count, plain, say, say_json
from banana100_core.cli.display import WorkDisplay
from banana100_core.cli.options import ProjectFile, Runs

To = Literal["coco", "label-studio", "csv", "parquet", "imagefolder"]


def export(
    project: ProjectFile,
    out: Annotated[
        Path, typer.Argument(metavar="OUT", help="The new file (CSV, Parquet) or folder.", show_default=False)
    ],
    to: Annotated[To, typer.Option("--to", help="The form to write.", show_default=False)],
    run: Runs = None,
    only: Annotated[
        list[str] | None,
        typer.Option(
            "--only",
            metavar="FIELD=VALUE",
            help="Only tags with this annotator, failure_mode, level or review_state, or runs with this "
            "initial_image, model or protocol; can be repeated.",
            show_default="everything",
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Export tags with their regions, and their pictures.

    COCO, Label Studio and the Hugging Face image folder are folders with pictures; CSV and Parquet are tables
    alone. Regions are in pixels of the exported, upright picture. Suggestions are left out.
    """
    from banana100_core.exchange.export_tags import Form, export_tags
    from banana100_core.exchange.export_tags.only import Only
    from banana100_core.project import Project

    with Project.open(project, read_only=True) as opened, WorkDisplay("exporting") as display:
        done = export_tags(
            opened, out, Form(to), run_ids=run or None, only=Only.of(only or ()), progress=display
        )
    if as_json:
        say_json(done)
    else:
        pictures = f", {count(done.pictures, 'picture')}" if done.pictures else ""
        say(f"{plain(out)}: {count(done.tags, 'tag')}, {count(done.regions, 'region')}{pictures}")
