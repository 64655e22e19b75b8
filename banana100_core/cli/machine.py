"""Command about this machine: doctor."""

from __future__ import annotations

from itertools import groupby
from pathlib import Path

import typer

from banana100_core.cli.console import AsJson, plain, say, say_json
from banana100_core.cli.exits import Exit


def doctor(as_json: AsJson = False) -> None:
    """Show what this machine has and lacks.

    Versions, devices, memory, disk, what the window needs, and whether a key is there (never the key).
    """
    from banana100_core.doctor import State, checks

    found = []
    for group, members in groupby(checks(Path.cwd()), key=lambda check: check.group):
        if not as_json:
            say(group)
        for check in members:
            found.append(check)
            if as_json:
                continue
            say(f"  {check.name:<20} {check.state:<7} {plain(check.value)}")
            if check.way_out:
                say(f"  {'':<28} {plain(check.way_out)}")
    if as_json:
        say_json(found)
    if any(check.state is State.WRONG for check in found):
        raise typer.Exit(Exit.SOME_FAILED)
