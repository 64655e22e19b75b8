"""The table of all commands of `banana100`."""

from __future__ import annotations

import logging
import os
import sys
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from banana100_core.cli import (
    analysis,
    drifting,
    exporting,
    generation,
    importing,
    initial_images,
    judging,
    machine,
    merging,
    metrics,
    projects,
    restoring,
    scoring,
    searching,
    suggesting,
    weights,
    window,
)
from banana100_core.cli.console import complain, in_words, note, prepare_streams, say
from banana100_core.cli.exits import Exit
from banana100_core.errors import BananaError

_ORDER = (
    *("demo", "open", "new", "info", "check", "pack", "restore", "import", "export", "merge", "agreement"),
    "suggest",
    *("metrics", "weights", "score", "gaps", "drift", "report", "contact-sheet"),
    *("initial-images", "generate", "resume", "fake-gemini", "judge", "search", "doctor"),
)


class _Commands(TyperGroup):
    """Tells each error that a person can meet in one line, and ends with its exit code."""

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ANN401 - as typer has it
        return sorted(super().list_commands(ctx), key=_ORDER.index)

    def invoke(self, ctx: Any) -> Any:  # noqa: ANN401 - as typer has it
        prepare_streams()
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            note("banana100: interrupted; all finished work is kept")
            raise typer.Exit(Exit.INTERRUPTED) from None
        except BrokenPipeError:  # the reader of our output had enough
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            raise typer.Exit(Exit.SOME_FAILED) from None
        except (BananaError, OSError) as error:
            logging.getLogger(__name__).debug("the error was raised here", exc_info=True)
            complain(in_words(error) if isinstance(error, OSError) else error)
            raise typer.Exit(Exit.UNUSABLE) from None


app = typer.Typer(
    cls=_Commands,
    help="Look at, score, tag and produce runs of iterative image edits.",
    epilog="Exit codes: 0 done; 1 some items failed, each named; 2 wrong usage or unusable input; "
    "130 interrupted, all finished work is kept.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)

app.command("demo")(window.demo)
app.command("open")(window.open_window)
app.command("new")(projects.new)
app.command("info")(projects.info)
app.command("check")(projects.check)
app.command("pack")(projects.pack)
app.command("restore")(restoring.restore)
app.add_typer(importing.app, name="import")
app.command("merge")(merging.merge)
app.command("metrics")(metrics.metrics)
app.add_typer(weights.app, name="weights")
app.command("score")(scoring.score)
app.command("gaps")(analysis.gaps)
app.command("drift")(drifting.drift)
app.command("report")(drifting.report)
app.command("agreement")(analysis.agreement)
app.command("suggest")(suggesting.suggest)
app.command("contact-sheet")(analysis.contact_sheet)
app.command("export")(exporting.export)
app.command("initial-images")(initial_images.initial_images)
app.command("generate")(generation.generate)
app.command("resume")(generation.resume)
app.command("fake-gemini")(generation.fake_gemini)
app.command("judge")(judging.judge)
app.command("search")(searching.search)
app.command("doctor")(machine.doctor)


def _show_version(asked: bool) -> None:
    if asked:
        from banana100_core.doctor import DISTRIBUTION, version

        say(f"banana100 {version(DISTRIBUTION) or 'unknown'}")
        raise typer.Exit


@app.callback()
def _options(
    log_level: Annotated[
        str,
        typer.Option(
            metavar="LEVEL", help="Log to stderr from this level on: debug, info, warning or error."
        ),
    ] = "warning",
    version: Annotated[  # noqa: ARG001 - answered by its callback
        bool,
        typer.Option("--version", help="Show the version and end.", callback=_show_version, is_eager=True),
    ] = False,
    self_test: Annotated[  # noqa: ARG001 - answered by its callback
        bool,
        typer.Option(
            "--self-test",
            help="Try out every part of the program on a project of its own, and end.",
            callback=window.self_test,
            is_eager=True,
        ),
    ] = False,
) -> None:
    levels = ("debug", "info", "warning", "error")
    if log_level.lower() not in levels:
        raise typer.BadParameter(f"{log_level!r} is none of {', '.join(levels)}", param_hint="--log-level")
    logging.basicConfig(
        level=log_level.upper(), format="%(asctime)s %(levelname)s %(name)s: %(message)s", stream=sys.stderr
    )
