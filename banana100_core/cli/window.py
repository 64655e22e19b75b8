"""Commands that open the window: demo, open."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from banana100_core.cli.console import complain, in_time, note, plain, say
from banana100_core.cli.exits import Exit
from banana100_core.errors import (
    BananaError,
    OlderProjectError,
    ProjectInUseError,
    ProjectReadOnlyError,
    ProviderError,
)
from banana100_core.installation import is_frozen

if TYPE_CHECKING:
    from collections.abc import Callable

DEMO_PROJECT = Path("demo/demo.b100")
_PICTURES = (".png", ".jpg", ".jpeg", ".webp")


class NoWindowError(BananaError):
    """The window can't be shown on this machine."""


def demo(
    project: Annotated[
        Path, typer.Argument(metavar="PROJECT", help="The project file to make or to go on with.")
    ] = DEMO_PROJECT,
    no_window: Annotated[
        bool, typer.Option("--no-window", help="Build and score everything, and show no window.")
    ] = False,
) -> None:
    """Open the window on a sample study.

    Its runs arrive in the window and are scored live. Without a display all is built and scored first, and a
    picture of the window and a contact sheet are left beside the project.
    """
    from banana100_core.demo import need_demo
    from banana100_core.doctor import display_problem

    need_demo(project)
    problem = None if no_window else display_problem()
    if not no_window and problem is None:
        project.parent.mkdir(parents=True, exist_ok=True)
        raise typer.Exit(_window()(project, demo=True))
    if problem is not None:
        note(f"banana100: {problem}; the demo study is built and scored without a window")
    _build(project)
    if problem is not None:
        _leave_pictures(project)


def open_window(
    project: Annotated[
        Path | None, typer.Argument(metavar="PROJECT", help="The project file, *.b100.", show_default=False)
    ] = None,
    screenshot: Annotated[
        Path | None,
        typer.Option(metavar="OUT.png", help="Leave a picture of the window there instead of showing it."),
    ] = None,
    read_only: Annotated[bool, typer.Option("--read-only", help="Change nothing in the project.")] = False,
    watch: Annotated[bool, typer.Option("--watch", hidden=True)] = False,
) -> None:
    """Open the window."""
    from banana100_core.doctor import display_problem
    from banana100_core.project import Project

    if screenshot is not None:
        _need_place_of_picture(screenshot)
        os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    elif problem := display_problem():
        raise NoWindowError(
            f"The window can't be shown: {problem}. Start it on a desktop or through `ssh -X`, or ask for a "
            "picture of it: banana100 open PROJECT --screenshot OUT.png"
        )
    if project is not None:
        # A file that can't be opened is told here, before a window comes up only to say the same. One of an
        # older version is brought up to date there, unless nothing may be changed.
        try:
            Project.open(project, read_only=True).close()
        except OlderProjectError:
            if read_only:
                raise
        else:
            # A picture needs nothing written: it is drawn of what is in use elsewhere, or read-only, too.
            read_only = read_only or (screenshot is not None and not _can_be_written(project))
    raise typer.Exit(_window()(project, screenshot=screenshot, read_only=read_only, watch=watch))


def _need_place_of_picture(out: Path) -> None:
    if not out.absolute().parent.is_dir():
        raise NoWindowError(f"There is no folder {out.parent}. Make it, or choose another place.")
    if out.suffix.lower() not in _PICTURES:
        raise NoWindowError(f"{out}: a picture of the window ends with {', '.join(_PICTURES)}. Name it so.")


def _can_be_written(project: Path) -> bool:
    from banana100_core.project import Project

    try:
        Project.open(project).close()
    except (ProjectInUseError, ProjectReadOnlyError):
        return False
    return True


def self_test(asked: bool) -> None:
    """Answer `--self-test`: try out every part of the program on a project of its own."""
    if asked:
        os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
        raise typer.Exit(_window("self_test")())


def _window(name: str = "main") -> Callable[..., int]:
    from banana100_core.doctor import apt_line, missing_packages

    if missing := missing_packages():
        raise NoWindowError(f"The window needs libraries that are missing here. Type: {apt_line(missing)}")
    for entry_point in metadata.entry_points(group="banana100.window", name=name):
        window: Callable[..., int] = entry_point.load()
        return window
    raise NoWindowError(
        "The window is not installed. Type, in the program's folder: pip install --editable ."
    )


def _build(path: Path) -> None:
    import time

    from banana100_core.cli.display import WorkDisplay
    from banana100_core.demo import build_demo

    path.parent.mkdir(parents=True, exist_ok=True)
    begun = time.monotonic()
    try:
        with WorkDisplay("building the demo study") as display:
            build_demo(path, display)
    except ProviderError as error:  # some runs stopped; the rest is there
        complain(error)
        raise typer.Exit(Exit.SOME_FAILED) from None
    say(f"{plain(path)}: built and scored in {in_time(time.monotonic() - begun)}")


def _leave_pictures(path: Path) -> None:
    from banana100_core.exchange.contact_sheet import contact_sheet
    from banana100_core.project import Project
    from banana100_core.project.runs import runs

    sheet = path.with_name("contact-sheet.png")
    with Project.open(path, read_only=True) as project:
        contact_sheet(project, [run.id for run in runs(project)], sheet)
    say(f"contact sheet: {plain(sheet)}")

    screenshot = path.with_name("screenshot.png")
    # In a process of its own: a window system that ends its process must not end the command.
    program = [sys.executable] if is_frozen() else [sys.executable, "-m", "banana100_core.cli"]
    child = subprocess.run(
        [*program, "open", os.fspath(path), "--screenshot", os.fspath(screenshot)],
        env={**os.environ, "QT_QPA_PLATFORM": "offscreen"},
        check=False,
    )
    if child.returncode != 0 or not screenshot.exists():
        complain(f"The window could not be drawn (exit code {child.returncode}). See `banana100 doctor`.")
        raise typer.Exit(Exit.SOME_FAILED)
    say(f"screenshot of the window: {plain(screenshot)}")
