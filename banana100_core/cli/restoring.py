"""Commands that put backups back: restore."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from banana100_core.cli.console import AsJson, plain, say, say_json, table
from banana100_core.cli.options import ProjectFile

if TYPE_CHECKING:
    from banana100_core.project.restore import Held


def restore(
    project: ProjectFile,
    backup: Annotated[
        Path | None, typer.Argument(metavar="BACKUP", help="Which one; without it they are listed.")
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Verify the backup, show what it holds and change nothing.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """List the backups of a project, or put one back.

    They are made before a merge, an import of tags and an update of the file. The one to put back is
    verified, and what the project holds now is backed up first. Received images, which no backup has, stay
    as they are.
    """
    from banana100_core.project.restore import backups_of, held
    from banana100_core.project.restore import restore as put_back

    if backup is None:
        found = backups_of(project)
        if as_json:
            say_json(found)
        elif found:
            _say(("now", held(project)), *((each.path.name, each) for each in found))
        else:
            say(f"{plain(project)} has no backups beside it")
        return
    done = put_back(project, backup, dry_run=dry_run)
    if as_json:
        say_json(done)
        return
    _say(("before", done.before), ("after", done.now))
    if done.kept is None:
        say("nothing was changed")
    else:
        say(f"{plain(project)}: as in {plain(backup.name)}; what it held before is in {plain(done.kept)}")


def _say(*rows: tuple[str, Held]) -> None:
    say(
        table(
            ["BACKUP", "WRITTEN", "VERSION", "RUNS", "STEPS", "TAGS", "EDITS"],
            [
                (name, each.at, each.version, each.runs, each.steps, each.tags, each.edits)
                for name, each in rows
            ],
            numbers={"RUNS", "STEPS", "TAGS", "EDITS"},
        )
    )
