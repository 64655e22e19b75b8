"""Commands that look for failure modes: suggest."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from banana100_core.cli.console import AsJson, complain, count, say, say_json, table
from banana100_core.cli.display import WorkDisplay
from banana100_core.cli.exits import Exit
from banana100_core.cli.options import ProjectFile, Runs

if TYPE_CHECKING:
    from banana100_core.project.records import Suggestion
    from banana100_core.project.suggestions import Acceptance


def suggest(project: ProjectFile, run: Runs = None, as_json: AsJson = False) -> None:
    """Look for failure modes that arithmetic can see.

    Aspect ratio, monochrome, mirroring and rotation failures, green tint and noise; each with its figure and
    its reason. A suggestion is no tag and counts nowhere before an annotator accepts it.
    """
    from banana100_core.analysis.suggestions import suggest as find
    from banana100_core.project import Project
    from banana100_core.project.suggestions import acceptance, suggestions

    with Project.open(project) as opened:
        with WorkDisplay("looking at pictures") as display:
            search = find(opened, run or None, progress=display)
        found, decided = suggestions(opened), acceptance(opened)
    if as_json:
        say_json(
            {"new": search.new, "unreadable": search.unreadable, "suggestions": found, "acceptance": decided}
        )
    else:
        _say(found, decided, search.new)
    for reason in search.unreadable:
        complain(f"passed over {reason}")
    if search.unreadable:
        raise typer.Exit(Exit.SOME_FAILED)


def _say(found: list[Suggestion], decided: list[Acceptance], new: int) -> None:
    if found:
        say(
            table(
                ["RUN", "FAILURE MODE", "ONSET", "STATE", "REASON"],
                [(row.run_id, row.failure_mode, row.onset, row.state, row.reason) for row in found],
                numbers={"RUN", "ONSET"},
            )
        )
        say()
    say(f"{count(len(found), 'suggestion')}, {new:,} of them new")
    for row in decided:
        if row.rate is not None:
            say(f"{row.failure_mode}: {row.accepted:,} accepted, {row.rejected:,} rejected ({row.rate:.0%})")
    accepted, rejected = (sum(getattr(row, name) for row in decided) for name in ("accepted", "rejected"))
    if accepted + rejected:
        say(f"acceptance rate: {accepted / (accepted + rejected):.0%} of {accepted + rejected:,} decided")
