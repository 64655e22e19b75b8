"""Arguments and options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

ProjectFile = Annotated[
    Path, typer.Argument(metavar="PROJECT", help="The project file, *.b100.", show_default=False)
]
Runs = Annotated[
    list[int] | None,
    typer.Option("--run", metavar="RUN", help="Only this run, by its number in `info`; can be repeated."),
]
Metrics = Annotated[
    list[str] | None,
    typer.Option("--metric", metavar="METRIC", help="Only this metric; can be repeated."),
]
