from __future__ import annotations

import contextlib
import json
import sqlite3
import sys
from pathlib import Path

import pytest
from PIL import Image

from banana100_core.project import Project
from banana100_core.project.records import NewRun
from banana100_core.project.runs import add_run

linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux may have no display")

NO_DISPLAY = {"DISPLAY": None, "WAYLAND_DISPLAY": None, "QT_QPA_PLATFORM": None}


@linux
def test_open_without_a_display_says_the_way_out(banana100_process, empty) -> None:
    done = banana100_process("open", empty, code=2, **NO_DISPLAY)
    assert done.stderr.startswith("banana100: The window can't be shown: there is no display")
    assert "--screenshot OUT.png" in done.stderr
    assert done.stderr.count("\n") == 1


@linux
def test_open_with_a_display_where_nothing_answers_says_so(banana100_process, empty) -> None:
    done = banana100_process("open", empty, code=2, **NO_DISPLAY | {"DISPLAY": ":4242"})
    assert "nothing answers at DISPLAY=:4242" in done.stderr


def test_open_tells_of_an_unusable_project_before_the_window_starts(banana100_process, tmp_path) -> None:
    done = banana100_process("open", "none.b100", "--screenshot", "w.png", code=2)
    assert "There is no project" in done.stderr
    assert not (tmp_path / "w.png").exists()
    done = banana100_process("open", "--screenshot", "nowhere/w.png", code=2)
    assert "There is no folder nowhere" in done.stderr


def test_a_picture_of_the_window_never_takes_the_place_of_a_project(banana100, empty) -> None:
    before = empty.read_bytes()
    assert ".png" in banana100("open", empty, "--screenshot", empty, code=2).stderr
    assert empty.read_bytes() == before


def test_a_picture_is_drawn_of_a_project_in_use_too(banana100_process, tmp_path, empty, in_use) -> None:
    with in_use(empty):
        done = banana100_process("open", empty, "--screenshot", "w.png", **NO_DISPLAY)
    assert "can't be opened" not in done.stderr
    assert (tmp_path / "w.png").exists()


def test_open_takes_a_project_of_an_older_version_unless_nothing_may_change(
    banana100_process, tmp_path, empty
) -> None:
    with contextlib.closing(sqlite3.connect(empty)) as connection:
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        connection.execute(f"PRAGMA user_version = {version - 1}")
    done = banana100_process("open", empty, "--read-only", "--screenshot", "w.png", code=2, **NO_DISPLAY)
    assert "was written by an older version" in done.stderr
    banana100_process("open", empty, "--screenshot", "w.png", **NO_DISPLAY)
    assert (tmp_path / "w.png").exists()


def test_a_screenshot_needs_no_display(banana100, banana100_process, tmp_path, empty, picture) -> None:
    banana100("generate", empty, "--initial", picture, "--provider", "codec_loss", "--steps", 2)
    banana100_process("open", empty, "--read-only", "--screenshot", "w.png", **NO_DISPLAY)
    with Image.open(tmp_path / "w.png") as window:
        assert min(window.size) >= 400
        assert len(window.convert("L").getcolors()) > 20


def test_demo_leaves_a_study_of_ones_own_alone(banana100, empty) -> None:
    with Project.open(empty) as project:
        add_run(project, NewRun("Dongpo", "gemini", "some", "replicate", steps_planned=2))
    for option in ((), ("--no-window",)):
        assert "not the demo study" in banana100("demo", empty, *option, code=2).stderr


@pytest.fixture
def nearly_built_demo(tmp_path):
    """The demo study where it is by default, its runs said to be done, so that only scores are missing."""
    from banana100_core.demo import create_demo

    path = tmp_path / "demo" / "demo.b100"
    path.parent.mkdir()
    create_demo(path).close()
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE run SET state = 'done', steps_planned = 0")
    connection.close()
    return path


@linux
def test_demo_without_a_display_scores_all_and_leaves_two_pictures(
    banana100, banana100_process, tmp_path, nearly_built_demo
) -> None:
    done = banana100_process("demo", **NO_DISPLAY)
    assert "there is no display" in done.stderr
    for name, said in (
        ("contact-sheet.png", "contact sheet: "),
        ("screenshot.png", "screenshot of the window: "),
    ):
        with Image.open(nearly_built_demo.with_name(name)) as picture:
            assert min(picture.size) >= 200
        assert f"{said}{Path('demo') / name}\n" in done.stdout
    totals = json.loads(banana100("info", nearly_built_demo, "--json").stdout)["totals"]
    assert {row["metric"]: (row["failed"], row["missing"]) for row in totals["scores"]} == {
        "brisque": (0, 0),
        "niqe": (0, 0),
        "piqe": (0, 0),
    }
    # All is there: the second time nothing is made, and with --no-window no picture either.
    nearly_built_demo.with_name("screenshot.png").unlink()
    banana100("demo", "--no-window")
    assert not nearly_built_demo.with_name("screenshot.png").exists()
