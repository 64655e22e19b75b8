"""The command that searches what editors said of their pictures: search."""

from __future__ import annotations

from typing import Annotated

import typer

from banana100_core.cli.console import AsJson, count, plain, say, say_json
from banana100_core.cli.options import ProjectFile, Runs


def search(
    project: ProjectFile,
    text: Annotated[
        list[str],
        typer.Argument(
            metavar="TEXT",
            help='Words that are all to be there, in any form; "words in a row", or beginn*.',
            show_default=False,
        ),
    ],
    run: Runs = None,
    limit: Annotated[int, typer.Option(min=1, metavar="N", help="Show this many steps.")] = 50,
    as_json: AsJson = False,
) -> None:
    """Find steps by the words of their reasoning summaries."""
    from banana100_core.project import Project
    from banana100_core.project.reasoning import search as find

    words = " ".join(text)
    with Project.open(project, read_only=True) as opened:
        found = find(opened, words, run_ids=run, limit=limit)
    if as_json:
        say_json({"text": words, "total": found.total, "found": found.found})
        return
    for match in found.found:
        about = f"{plain(match.initial_image)}, {plain(match.model)}, repeat {match.repeat}"
        say(f"run {match.run_id} ({about}), step {match.step}")
        said = "".join(f"[{piece}]" if hit else piece for piece, hit in match.pieces)
        say(f"  {plain(' '.join(said.split()))}")
    shown = len(found.found)
    say(f"{count(found.total, 'step')}" + (f", {shown:,} shown" if shown < found.total else ""))
