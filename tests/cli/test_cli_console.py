from __future__ import annotations

import io
import json
import math
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

import pytest

from banana100_core.cli import console
from banana100_core.cli.display import WorkDisplay


class Colour(StrEnum):
    RED = "red"


@dataclass(frozen=True)
class Thing:
    name: str
    colour: Colour
    file: Path
    scores: tuple[float, ...]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Dongpo 东坡 é 🍌", "Dongpo 东坡 é 🍌"),
        ("two\nlines\t", r"two\nlines\t"),
        ("\x1b[31mred\x1b[0m", r"\x1b[31mred\x1b[0m"),
        ("a\u202eb", r"a\u202eb"),
        ("family \U0001f468\u200d\U0001f469", "family \U0001f468\u200d\U0001f469"),
        ("bad\udc80name", r"bad\udc80name"),
        ("[red]markup[/red]", "[red]markup[/red]"),
    ],
)
def test_text_from_outside_is_shown_plain(text: str, shown: str) -> None:
    assert console.plain(text) == shown


def test_a_table_is_aligned_by_width_on_screen() -> None:
    shown = console.table(["NAME", "N", "NOTE"], [("东坡", 7, "x"), ("fog", 1240, "")], numbers={"N"})
    assert shown.splitlines() == [
        "NAME     N  NOTE",
        "东坡     7  x",
        "fog   1240",
    ]


def test_json_has_no_numbers_that_json_lacks(capsys: pytest.CaptureFixture[str]) -> None:
    console.say_json([Thing("东坡", Colour.RED, Path("a/b"), (1.5, math.nan, math.inf))])
    assert json.loads(capsys.readouterr().out) == [
        {"name": "东坡", "colour": "red", "file": str(Path("a/b")), "scores": [1.5, None, None]}
    ]


@pytest.mark.parametrize(
    ("seconds", "said"),
    [(0.4, "0 s"), (59.4, "59 s"), (200, "3 min 20 s"), (38 * 60 + 12, "38 min"), (7500, "2 h 5 min")],
)
def test_durations_are_said_as_people_do(seconds: float, said: str) -> None:
    assert console.in_time(seconds) == said


@pytest.mark.parametrize(
    ("size", "said"), [(7, "7 bytes"), (1250, "1.2 kB"), (245_000_000, "245 MB"), (2.5e12, "2.5 TB")]
)
def test_sizes_are_said_in_powers_of_1000(size: int, said: str) -> None:
    assert console.in_bytes(int(size)) == said


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_without_a_terminal_progress_is_a_line_every_few_seconds() -> None:
    stream, clock = io.StringIO(), Clock()
    with WorkDisplay("scoring", stream=stream, clock=clock) as display:
        for done in range(101):
            clock.now = done * 0.1
            display(done, 100, "dongpo\nstep 7")
    lines = stream.getvalue().splitlines()
    assert lines[0] == r"scoring: 10 of 100, 10.0 a second, 9 s left, dongpo\nstep 7"
    assert lines[1] == r"scoring: 60 of 100, 10.0 a second, 4 s left, dongpo\nstep 7"
    assert lines[-1] == r"scoring: 100 of 100, 10.0 a second, dongpo\nstep 7"
    assert len(lines) == 3


def test_short_work_prints_no_progress() -> None:
    stream, clock = io.StringIO(), Clock()
    with WorkDisplay("checking", stream=stream, clock=clock) as display:
        display(0, 2)
        clock.now = 0.5
        display(2, 2)
    assert stream.getvalue() == ""


def test_the_rate_begins_anew_with_another_part_of_the_work() -> None:
    stream, clock = io.StringIO(), Clock()
    with WorkDisplay("packing", stream=stream, clock=clock) as display:
        for now, done in ((0, 0), (1, 1000), (5, 0), (7, 20)):
            clock.now = now
            display(done, 1000 if now < 5 else 100)
    assert stream.getvalue().splitlines()[-1] == "packing: 20 of 100, 10.0 a second, 8 s left"


def test_the_last_state_is_said_when_work_is_cut_short() -> None:
    stream, clock = io.StringIO(), Clock()

    def work() -> None:
        with WorkDisplay("importing", stream=stream, clock=clock) as display:
            display(1, 10)
            clock.now = 2.0
            display(3, 10)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        work()
    assert stream.getvalue().splitlines()[-1] == "importing: 3 of 10, 1.0 a second, 7 s left"


def test_no_state_is_said_twice_in_a_row() -> None:
    stream, clock = io.StringIO(), Clock()
    with WorkDisplay("generating", stream=stream, clock=clock) as display:
        for now in (0, 2, 9, 9.5):
            clock.now = now
            display(0, 1, "Fog stopped")
    assert stream.getvalue() == "generating: 0 of 1, Fog stopped\n"


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_on_a_terminal_progress_is_one_bar_and_never_markup(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("COLUMNS", "120")
    stream, clock = Terminal(), Clock()
    with WorkDisplay("scoring", stream=stream, clock=clock) as display:
        display(0, 10, "[red]name[/red]")
        clock.now = 1.0
        display(5, 10, "[red]name[/red]")
    shown = stream.getvalue()
    assert "5/10" in shown
    assert "5.0 a second, 1 s left" in shown
    assert "[red]name[/red]" in shown
