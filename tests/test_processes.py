"""Worker processes: requests, events, errors, deaths, and an end with their parent."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from banana100_core.errors import ImageError, WorkerDiedError
from banana100_core.processes import GIVE_WAY, SilentWorkerError, WorkerProcess, emit

if TYPE_CHECKING:
    from collections.abc import Iterator

HANDLERS = """
import os, signal, sys, threading, time
from banana100_core.errors import ImageError
from banana100_core.processes import emit

class Odd(Exception):
    def __init__(self, a, b):
        super().__init__("odd")

def make():
    calls = 0
    def handle(message):
        nonlocal calls
        calls += 1
        match message:
            case ("echo", value): return value
            case "calls": return calls
            case "pid": return os.getpid()
            case "print": print("noise on stdout"); return "printed"
            case ("emit", count):
                for i in range(count): emit(i)
                return count
            case "image error": raise ImageError("bad.png: not an image")
            case "odd error": raise Odd(1, 2)
            case "unpicklable": return lambda: 0
            case "modules": return sorted(sys.modules)
            case "nice": return os.nice(0), signal.getsignal(signal.SIGINT) == signal.SIG_IGN
            case "last words":
                print("tensor of doom", file=sys.stderr, flush=True)
                os.kill(os.getpid(), signal.SIGKILL)
            case "hang": emit("hanging"); threading.Event().wait()
            case "environment": return os.environ["OMP_NUM_THREADS"]
    return handle

def fail():
    raise ImageError("no model here")
"""


@pytest.fixture
def handlers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> object:
    """A module that the child has to find through the parent's sys.path."""
    (tmp_path / "worker_handlers.py").write_text(HANDLERS)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "worker_handlers", raising=False)
    import worker_handlers

    yield worker_handlers
    sys.modules.pop("worker_handlers", None)


@pytest.fixture
def worker(handlers) -> Iterator[WorkerProcess]:
    process = WorkerProcess(handlers.make, "test worker")
    yield process
    process.stop()


def test_a_reply_comes_back_and_the_handler_is_made_once(worker: WorkerProcess) -> None:
    big = b"x" * 5_000_000
    assert worker.request(("echo", big)) == big
    assert worker.request("calls") == 2


def test_events_arrive_in_order_before_the_reply(worker: WorkerProcess) -> None:
    events: list[int] = []
    assert worker.request(("emit", 50), on_event=events.append) == 50
    assert events == list(range(50))


def test_what_a_library_prints_does_not_disturb(worker: WorkerProcess) -> None:
    assert worker.request("print") == "printed"
    assert worker.request(("echo", 1)) == 1


def test_errors_of_ours_come_back_as_they_are_and_the_worker_goes_on(worker: WorkerProcess) -> None:
    with pytest.raises(ImageError, match=r"bad\.png") as caught:
        worker.request("image error")
    assert "In the worker test worker" in caught.value.__notes__[0]
    with pytest.raises(RuntimeError, match="Odd: odd"):
        worker.request("odd error")
    with pytest.raises(Exception, match="pickle"):
        worker.request("unpicklable")
    assert worker.request("calls") == 4


def test_a_factory_that_fails_says_why(handlers) -> None:
    worker = WorkerProcess(handlers.fail, "broken")
    with pytest.raises(ImageError, match="no model here"):
        worker.request(("echo", 1))
    worker.stop()


def test_a_killed_worker_is_told_with_its_last_words_and_starts_anew(worker: WorkerProcess) -> None:
    first = worker.request("pid")
    assert worker.pid == first
    with pytest.raises(WorkerDiedError, match=r"SIGKILL.*tensor of doom"):
        worker.request("last words")
    assert worker.request("pid") != first


def test_a_request_over_its_time_ends_the_worker(worker: WorkerProcess) -> None:
    worker.request(("echo", 1))
    with pytest.raises(WorkerDiedError, match="no answer within"):
        worker.request("hang", timeout=0.2)
    assert worker.pid is None
    assert worker.request(("echo", 2)) == 2


def test_a_worker_that_falls_silent_is_ended(worker: WorkerProcess) -> None:
    worker.request(("echo", 1))
    heard: list[str] = []
    with pytest.raises(SilentWorkerError, match="silent for 3 seconds"):
        worker.request("hang", timeout=60, on_event=heard.append, patience=3)
    assert heard == ["hanging"]
    assert worker.request(("echo", 2), patience=30) == 2


def test_stop_ends_a_request_in_flight(worker: WorkerProcess) -> None:
    hanging = threading.Event()
    outcome: list[Exception] = []

    def ask() -> None:
        try:
            worker.request("hang", on_event=lambda _: hanging.set())
        except WorkerDiedError as error:
            outcome.append(error)

    thread = threading.Thread(target=ask)
    thread.start()
    assert hanging.wait(60)
    worker.stop()
    thread.join(60)
    assert "was stopped" in str(outcome[0])
    with pytest.raises(WorkerDiedError, match="stopped"):
        worker.request(("echo", 1))


def test_a_background_worker_gives_way_and_ignores_ctrl_c(handlers, monkeypatch) -> None:
    monkeypatch.delenv(GIVE_WAY)
    worker = WorkerProcess(handlers.make, "nice", background=True, environment={"OMP_NUM_THREADS": "1"})
    assert worker.request("nice") == (min(os.nice(0) + 15, 19), True)  # no process gives way further
    assert worker.request("environment") == "1"
    assert worker.pid is not None
    os.kill(worker.pid, signal.SIGINT)
    assert worker.request(("echo", 3)) == 3
    worker.stop()


def test_a_background_worker_claims_its_share_where_it_is_told_to(handlers) -> None:
    worker = WorkerProcess(handlers.make, "nice", background=True, environment={GIVE_WAY: "0"})
    assert worker.request("nice") == (os.nice(0), True)
    worker.stop()


def test_a_worker_imports_neither_the_main_script_nor_qt(worker: WorkerProcess) -> None:
    modules = worker.request("modules")
    assert not [name for name in modules if name.startswith(("PySide6", "torch", "pytest", "__mp_main__"))]


def test_a_worker_ends_with_its_parent(handlers, tmp_path: Path) -> None:
    script = tmp_path / "parent.py"
    script.write_text(
        "import os, signal, worker_handlers\n"  # no __main__ guard: the worker must not run this again
        "from banana100_core.processes import WorkerProcess\n"
        "worker = WorkerProcess(worker_handlers.make, 'orphan')\n"
        "def hanging(event):\n"
        "    print(worker.pid, flush=True)\n"
        "    os.kill(os.getpid(), signal.SIGKILL)\n"
        "worker.request('hang', on_event=hanging)\n"
    )
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(tmp_path), *sys.path])}
    parent = subprocess.run(
        [sys.executable, str(script)],
        check=False,
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert parent.returncode == -signal.SIGKILL, parent.stderr
    (pid,) = map(int, parent.stdout.split())
    deadline = time.monotonic() + 60
    while _alive(pid):
        assert time.monotonic() < deadline, "the worker outlived its parent"
        threading.Event().wait(0.01)


def test_emit_outside_a_worker_does_nothing() -> None:
    emit("nobody listens")


def _alive(pid: int) -> bool:
    try:
        # An orphan that nobody reaps stays as a zombie.
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False
