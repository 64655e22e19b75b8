from __future__ import annotations

import sqlite3
import sys

import pytest
from PIL import Image

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


def test_a_screenshot_needs_no_display(banana100, banana100_process, tmp_path, empty, picture) -> None:
    banana100("generate", empty, "--initial", picture, "--provider", "codec_loss", "--steps", 2)
    banana100_process("open", empty, "--read-only", "--screenshot", "w.png", **NO_DISPLAY)
    with Image.open(tmp_path / "w.png") as window:
        assert min(window.size) >= 400
        assert len(window.convert("L").getcolors()) > 20


@pytest.fixture(scope="module")
def demo_without_runs_left(tmp_path_factory):
    """A demo project whose runs are all planned with no steps left, so that building it ends at once."""
    from banana100_core.demo import create_demo

    path = tmp_path_factory.mktemp("demo") / "demo.b100"
    create_demo(path).close()
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE run SET state = 'done', steps_planned = 0")
    connection.close()
    return path
