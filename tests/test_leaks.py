"""A test that leaves something running fails, and says what."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest_plugins = ["pytester"]


@pytest.fixture
def outcome(pytester):
    conftest = (Path(__file__).parent / "conftest.py").read_text()

    def run(body: str, *, grace: float = 0.2) -> pytest.RunResult:
        pytester.makeconftest(conftest.replace("GRACE_SECONDS = 30.0", f"GRACE_SECONDS = {grace}"))
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
        left = []

        def test_leaves_a_process():
            left.append(subprocess.Popen(["cat"], stdin=subprocess.PIPE, stdout=subprocess.PIPE))
            left[0].stdin.write(b"!")
            left[0].stdin.flush()
            assert left[0].stdout.read(1)  # so that it has its name
        """
    )
    result.stdout.fnmatch_lines(["*still running after the test: process * (cat)*"])
    result.assert_outcomes(passed=1, errors=1)


def test_what_ends_in_time_is_no_leak(outcome):
    outcome(
        """
        import subprocess, threading

        def test_ends_both():
            threading.Thread(target=lambda: None).start()
            subprocess.Popen(["true"])
        """,
        grace=60.0,
    ).assert_outcomes(passed=1)
