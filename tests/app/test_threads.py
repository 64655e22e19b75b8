"""Threads beside the UI thread leave Qt alone, but for emitting signals."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

import app
import banana100_core

OURS = tuple(str(Path(package.__file__).parent) for package in (app, banana100_core))


@pytest.fixture
def calls_of_threads():
    """What our code calls in Qt on threads started meanwhile, and where.

    What modules make when they are imported are colours, paths and the like: mere values.
    """
    calls: set[tuple[str, str]] = set()

    def note(frame, event, called):
        code = frame.f_code
        if event == "c_call" and code.co_filename.startswith(OURS) and code.co_name != "<module>":
            name = called.__qualname__
            if name.startswith(("Q", "SignalInstance.")):
                calls.add((name, f"{code.co_filename}:{frame.f_lineno}"))

    threading.setprofile(note)
    yield calls
    threading.setprofile(None)


def test_threads_only_emit_signals(calls_of_threads, request, study, qtbot):
    # Any other call holds the interpreter's lock, and may wait for a lock of Qt's whose holder, the UI
    # thread, waits for the interpreter's.
    window = request.getfixturevalue("window")
    session = window.session
    assert session.open_project(study)
    session.choose_run(session.runs[0].id)
    for _ in range(3):
        session.next_step()
        qtbot.wait(50)
    session.close_project()
    assert {name for name, _line in calls_of_threads} == {"SignalInstance.emit"}, calls_of_threads
