"""Asking for pyiqa's terms: by an option, or on a terminal by a question."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from banana100_core.cli.console import is_terminal, note

AcceptTerms = Annotated[
    bool,
    typer.Option(
        "--accept-terms", help="Accept pyiqa's terms, which allow noncommercial use only; needed once."
    ),
]


def accept_terms(*, asked_for: bool) -> None:
    """Accept the terms if the option was given."""
    from banana100_core.scoring import terms

    if asked_for:
        terms.accept()


def ask_for_terms() -> bool:
    """Show the terms on a terminal and ask; False where they are not accepted or nobody can be asked."""
    from banana100_core.scoring import terms

    if terms.accepted():
        return True
    if not (sys.stdin.isatty() and is_terminal(sys.stderr)):
        return False
    note(terms.TERMS)
    if typer.confirm("Do you accept these terms?", err=True):
        terms.accept()
        return True
    return False
