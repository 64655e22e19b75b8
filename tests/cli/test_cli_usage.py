from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from banana100_core.doctor import DISTRIBUTION, version

COMMANDS = (
    *("demo", "open", "new", "info", "check", "pack", "import", "metrics", "weights", "score"),
    *("gaps", "contact-sheet", "generate", "resume", "doctor"),
)


def test_help_names_every_command_in_their_order_and_the_exit_codes(banana100) -> None:
    shown = banana100("--help").stdout
    listed = [line.split()[0] for line in shown.splitlines() if line[:2] == "  " and line[2:3].isalpha()]
    assert [name for name in listed if name in COMMANDS] == list(COMMANDS)
    assert "130 interrupted" in " ".join(shown.split())


@pytest.mark.parametrize("group", [(), ("import",), ("weights",)])
def test_lists_of_commands_say_what_each_does_without_cutting_it_short(banana100_process, group) -> None:
    shown = banana100_process(*group, "--help", COLUMNS="80").stdout
    assert "Commands:" in shown
    assert "..." not in shown.partition("Commands:")[2]


@pytest.mark.parametrize("command", [*COMMANDS, "import folder", "import pico", "weights add"])
def test_every_command_explains_itself(command: str) -> None:
    from typer.testing import CliRunner

    from banana100_core.cli.commands import app

    done = CliRunner().invoke(app, [*command.split(), "--help"])
    assert done.exit_code == 0
    assert f"Usage: root {command}" in done.output
    summary = done.output.split("\n\n")[1].strip()
    assert summary.endswith(".")


def test_the_command_line_loads_nothing_heavy() -> None:
    code = (
        "import sys; from banana100_core.cli.commands import app\n"
        "heavy = {'numpy', 'torch', 'PySide6', 'PIL', 'sqlite_utils', 'rich.console', 'pandas', 'ncnn'}\n"
        "print(sorted(heavy & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_version(banana100_process) -> None:
    assert banana100_process("--version").stdout == f"banana100 {version(DISTRIBUTION)}\n"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["nonsense"], "No such command"),
        (["info"], "Missing argument"),
        (["--log-level", "loud", "doctor"], "'loud' is none of"),
        (["generate", "x.b100", "--initial", "a.png", "--steps", "0"], "--steps"),
    ],
)
def test_wrong_usage_ends_with_2(banana100_process, arguments: list[str], said: str) -> None:
    assert said in banana100_process(*arguments, code=2).stderr


def test_an_unusable_input_is_one_line_and_2(banana100_process, tmp_path) -> None:
    (tmp_path / "text\n.b100").write_text("no project" * 30)
    done = banana100_process("info", "text\n.b100", code=2)
    assert done.stdout == ""
    assert done.stderr.startswith("banana100: ")
    assert done.stderr.count("\n") == 1
    assert r"text\n.b100 is not a Banana100 project" in done.stderr


def test_the_log_tells_where_an_error_was_raised_when_asked(banana100, tmp_path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "banana100_core.cli", "--log-level", "debug", "info", tmp_path / "none.b100"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert "Traceback" in done.stderr
    assert done.stderr.splitlines()[-1].startswith("banana100: There is no project ")


def test_a_terminal_without_unicode_gets_escapes(banana100_process, empty, picture) -> None:
    arguments = ("generate", empty, "--initial", picture, "--dry-run")
    assert r"Dongpo \u4e1c\u5761" in banana100_process(*arguments, PYTHONIOENCODING="ascii").stdout
    plan = json.loads(banana100_process(*arguments, "--json", PYTHONIOENCODING="ascii").stdout)
    assert plan["runs"][0]["initial_image"] == "Dongpo 东坡"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no disk that is always full")
@pytest.mark.parametrize("arguments", [["--help"], ["metrics"]])
def test_a_full_disk_is_said_in_one_line(arguments: list[str]) -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "banana100_core.cli", *arguments],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert (done.returncode, done.stderr) == (2, "banana100: No space left on device\n")


def test_a_reader_that_had_enough_is_no_error() -> None:
    with subprocess.Popen(
        [sys.executable, "-m", "banana100_core.cli", "metrics", "--json"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        process.stdout.close()
        assert process.stderr.read() == ""
