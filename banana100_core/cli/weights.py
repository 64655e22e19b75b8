"""Commands about weights files: weights list, fetch, add, verify, convert-rali."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from banana100_core.cli.console import AsJson, columns, complain, count, in_bytes, plain, say, say_json
from banana100_core.cli.display import WorkDisplay
from banana100_core.cli.exits import Exit
from banana100_core.cli.fetching import fetch

if TYPE_CHECKING:
    from collections.abc import Sequence

    from banana100_core.scoring.weights import FoundWeights

_NAMED = 3  # files left aside

app = typer.Typer(help="Weights files of learned metrics.", no_args_is_help=True, rich_markup_mode=None)

app.command("fetch")(fetch)


@app.command("list")
def list_files(as_json: AsJson = False) -> None:
    """Show which weights files are there and which are missing."""
    from banana100_core.scoring.weights import list_weights

    _say_weights(list_weights(), as_json=as_json)


@app.command("add")
def add(
    folder: Annotated[
        Path, typer.Argument(metavar="DIR", help="The folder that holds weights files.", show_default=False)
    ],
    as_json: AsJson = False,
) -> None:
    """Copy weights files from a folder to where metrics look.

    Files are known by their names, and refused when their SHA-256 is not the one that it should be.
    """
    from banana100_core.scoring.weights_folder import add_weights

    with WorkDisplay("adding weights") as display:
        report = add_weights(folder, display)
    if as_json:
        say_json(report)
    else:
        for found in report.added:
            say(f"added {plain(found.file.name)}: {plain(found.path)}")
        if report.unknown:
            some = ", ".join(plain(path.name) for path in report.unknown[:_NAMED])
            more = ", ..." if len(report.unknown) > _NAMED else ""
            say(f"left aside {count(len(report.unknown), 'file')} that no metric needs: {some}{more}")
        say(f"{len(report.added):,} added; {len(report.missing):,} still missing")
        users = _users()
        say(
            columns(
                ("", found.file.name, found.state, ", ".join(users[found.file.name]))
                for found in report.missing
            )
        )
    for path, reason in report.wrong:
        complain(f"{path} was not taken: {reason}")
    if report.wrong:
        raise typer.Exit(Exit.SOME_FAILED)


@app.command("verify")
def verify(as_json: AsJson = False) -> None:
    """Read every weights file whole and compare its SHA-256."""
    from banana100_core.scoring.weights import WeightsState, explain, verify_weights, way_out

    with WorkDisplay("verifying weights") as display:
        files = verify_weights(display)
    _say_weights(files, as_json=as_json)
    wrong = [found for found in files if found.state is WeightsState.WRONG]
    for found in wrong:
        complain(f"{explain(found)} {way_out(found)}")
    if wrong:
        raise typer.Exit(Exit.SOME_FAILED)


@app.command("convert-rali")
def convert_rali(
    folder: Annotated[
        Path | None,
        typer.Argument(
            metavar="DIR", help="RALI's folder; else where RALI looks for it.", show_default=False
        ),
    ] = None,
) -> None:
    """Convert RALI's pca.pkl to pca.npz, once.

    A pickle can hold a program. Nothing else ever opens this one, and here only arrays and a PCA are let in.
    """
    from banana100_core.scoring.vision_language.model_folder import model_folder
    from banana100_core.scoring.vision_language.rali import KEY, Files
    from banana100_core.scoring.vision_language.rali_pca import WARNING, convert_rali_pca

    files = Files.of(folder or model_folder(KEY))
    complain(WARNING)
    convert_rali_pca(files.pickle, files.pca)
    say(f"converted to {plain(files.pca)}")


def _say_weights(files: Sequence[FoundWeights], *, as_json: bool) -> None:
    users = _users()
    if as_json:
        say_json(
            [
                {
                    "file": found.file,
                    "path": found.path,
                    "state": found.state,
                    "sha256": found.sha256,
                    "byte_size": found.byte_size,
                    "metrics": users[found.file.name],
                }
                for found in files
            ]
        )
        return
    by_folder: dict[Path, list[FoundWeights]] = {}
    for found in files:
        by_folder.setdefault(found.path.parent, []).append(found)
    for folder, members in by_folder.items():
        say(plain(folder))
        say(
            columns(
                [
                    (
                        "",
                        found.file.file or found.file.name,
                        found.state,
                        "" if found.byte_size is None else in_bytes(found.byte_size),
                        ", ".join(users[found.file.name]),
                    )
                    for found in members
                ],
                numbers={3},
            )
        )


def _users() -> dict[str, list[str]]:
    """Metrics that need a file, by its name; of native metrics the parameters ship."""
    from banana100_core.catalog.metrics import metrics
    from banana100_core.scoring.methods import NATIVE, available_backends

    users: dict[str, list[str]] = {}
    for metric in metrics().values():
        for file in metric.weights if NATIVE not in available_backends(metric.key) else ():
            users.setdefault(file.name, []).append(metric.key)
    return users
