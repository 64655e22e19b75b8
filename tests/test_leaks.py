"""A test that leaves something running fails, and says what."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest_plugins = ["pytester"]


@pytest.fixture
def outcome(pytester):
    pytester.makeconftest((Path(__file__).parent / "conftest.py").read_text().replace("= 5.0", "= 0.2"))

    def run(body: str) -> pytest.RunResult:
        pytester.makepyfile(body)
        return pytester.runpytest_inprocess("-p", "no:cacheprovider")

    return run


def test_a_thread_left_running_is_named(outcome):
    result = outcome(
        """
        import threading
        ended = threading.Event()

        def test_leaves_a_thread():
            threading.Thread(target=ended.wait, name="forgotten").start()

        def test_lets_it_end():
            ended.set()
        """
    )
    result.stdout.fnmatch_lines(["*still running after the test: thread 'forgotten' (Event.wait)*"])
    result.assert_outcomes(passed=2, errors=1)


def test_a_process_left_running_is_named_and_ended(outcome):
    result = outcome(
        """
        import subprocess

        def test_leaves_a_process():
            subprocess.Popen(["sleep", "60"])
        """
    )
    result.stdout.fnmatch_lines(["*still running after the test: process * (sleep 60)*"])
    result.assert_outcomes(passed=1, errors=1)


def test_what_ends_in_time_is_no_leak(outcome):
    outcome(
        """
        import subprocess, threading

        def test_ends_both():
            threading.Thread(target=lambda: None).start()
            subprocess.Popen(["true"])
        """
    ).assert_outcomes(passed=1)
