from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

PROGRAM = [sys.executable, "-m", "banana100_core.cli"]


@dataclass(frozen=True)
class Done:
    """What a command printed."""

    stdout: str
    stderr: str


@pytest.fixture
def banana100(tmp_path, monkeypatch):
    """Runs a command to its end in the test's folder and process, and compares its exit code."""
    from typer.testing import CliRunner

    from banana100_core.cli.commands import app

    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")

    def run(*arguments: object, code: int = 0) -> Done:
        result = CliRunner().invoke(app, [str(argument) for argument in arguments], prog_name="banana100")
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        assert result.exit_code == code, result.output
        return Done(result.stdout, result.stderr)

    return run


@pytest.fixture
def banana100_process(tmp_path):
    """Runs a command to its end in a process of its own, in the test's folder."""

    def run(*arguments: object, code: int = 0, **environment: str | None) -> Done:
        done = subprocess.run(
            [*PROGRAM, *map(str, arguments)],
            cwd=tmp_path,
            env=_environment(environment),
            capture_output=True,
            encoding="utf-8",
            timeout=300,
            check=False,
        )
        assert done.returncode == code, done.stdout + done.stderr
        assert "Traceback" not in done.stderr
        return Done(done.stdout, done.stderr)

    return run


def _environment(changes: dict[str, str | None]) -> dict[str, str]:
    merged = {**os.environ, "PYTHONIOENCODING": "utf-8", "COLUMNS": "100", **changes}
    return {name: value for name, value in merged.items() if value is not None}


@pytest.fixture
def start_banana100(tmp_path):
    """Starts a command in a process group of its own, as a shell does, so that it can be interrupted."""

    @contextmanager
    def start(*arguments: object):
        with subprocess.Popen(
            [*PROGRAM, *map(str, arguments)],
            cwd=tmp_path,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
            start_new_session=True,
        ) as process:
            try:
                yield process
            finally:
                if process.poll() is None:
                    os.killpg(process.pid, signal.SIGKILL)

    return start


@pytest.fixture
def wait_until():
    """Waits for what a command does to a project; one that ends before fails the test."""

    def wait(process: subprocess.Popen[str], condition: Callable[[], bool]) -> None:
        polled, end = threading.Event(), time.monotonic() + 120
        while not condition():
            assert process.poll() is None, process.stderr.read()
            assert time.monotonic() < end
            polled.wait(0.05)

    return wait


@pytest.fixture
def empty(tmp_path):
    """An empty project's file."""
    from banana100_core.project import Project

    path = tmp_path / "a.b100"
    Project.create(path).close()
    return path


@pytest.fixture
def picture(tmp_path, make_png):
    """A small picture's file, named Dongpo."""
    file = tmp_path / "Dongpo 东坡.png"
    file.write_bytes(make_png(96, 64))
    return file


@pytest.fixture
def in_use(tmp_path):
    """Holds a project open for writing in another process."""

    @contextmanager
    def hold(path):
        code = (
            "import sys; from pathlib import Path; from banana100_core.project import Project\n"
            "with Project.open(Path(sys.argv[1])): print('open', flush=True); sys.stdin.read()"
        )
        with subprocess.Popen(
            [sys.executable, "-c", code, str(path)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            encoding="utf-8",
        ) as process:
            assert process.stdout.readline() == "open\n"
            try:
                yield process
            finally:
                process.stdin.close()

    return hold
