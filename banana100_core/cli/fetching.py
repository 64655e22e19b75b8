"""The command that fetches weights, and how it shows what arrives: weights fetch."""

from __future__ import annotations

import sys
import threading
from typing import TYPE_CHECKING, Annotated, Self

import typer

from banana100_core.cli.console import AsJson, complain, in_bytes, is_terminal, note, plain, say, say_json
from banana100_core.cli.exits import Exit
from banana100_core.cli.terms import AcceptTerms, accept_terms, ask_for_terms
from banana100_core.scoring.terms import TermsNotAcceptedError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.progress import Progress, TaskID

    from banana100_core.scoring.weights_fetch import FetchReport


def fetch(
    metric: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="METRIC",
            help="Fetch what these lack; else what all lack, but for models of many gigabytes.",
            show_default=False,
        ),
    ] = None,
    yes: AcceptTerms = False,
    as_json: AsJson = False,
) -> None:
    """Fetch the weights that metrics lack.

    They come by Hugging Face's and torch's own loaders: HF_ENDPOINT, HF_TOKEN, HF_HOME, TORCH_HOME and
    proxies are honoured. Files that are whole are kept when it is interrupted.
    """
    accept_terms(asked_for=yes)
    try:
        report = _fetch(metric or ())
    except TermsNotAcceptedError:
        if not ask_for_terms():
            raise
        report = _fetch(metric or ())
    if as_json:
        say_json(report)
    else:
        for found in report.fetched:
            say(f"fetched {plain(found.file.name)} ({in_bytes(found.byte_size or 0)}): {plain(found.path)}")
        if not report.fetched and not report.failed:
            say("nothing is missing")
        for file in report.too_large:
            note(f"left out {plain(file.name)}, a model of many gigabytes: name its metric to fetch it")
    for _file, reason in report.failed:
        complain(reason)
    if report.failed:
        raise typer.Exit(Exit.SOME_FAILED)


def _fetch(metrics: Sequence[str]) -> FetchReport:
    from banana100_core.scoring.weights_fetch import fetch_weights

    with ArrivalDisplay() as display:
        return fetch_weights(metrics, display)


class ArrivalDisplay:
    """Shows what arrives on stderr while it is entered: bars on a terminal, else a line a file."""

    def __init__(self) -> None:
        self._lock = threading.Lock()  # a whole model arrives on several threads
        self._bars: Progress | None = None
        self._tasks: dict[str, TaskID | None] = {}

    def __enter__(self) -> Self:
        if is_terminal(sys.stderr):
            self._bars = _bars()
            self._bars.start()
        return self

    def __exit__(self, *_what: object) -> None:
        if self._bars is not None:
            self._bars.stop()

    def __call__(self, name: str, done: int, total: int | None) -> None:
        """Show how much of a file is here, in bytes."""
        with self._lock:
            if name not in self._tasks:
                self._tasks[name] = self._begin(name, total)
            task = self._tasks[name]
            if self._bars is not None and task is not None:
                self._bars.update(task, completed=done, total=total)

    def _begin(self, name: str, total: int | None) -> TaskID | None:
        if self._bars is not None:
            return self._bars.add_task(plain(name), total=total)
        note(f"fetching {plain(name)}" + (f", {in_bytes(total)}" if total else ""))
        return None


def _bars() -> Progress:
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        DownloadColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
        TransferSpeedColumn,
    )

    return Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=24),
        DownloadColumn(),
        TransferSpeedColumn(),
        TimeRemainingColumn(),
        console=Console(file=sys.stderr, markup=False, highlight=False, emoji=False),
    )
