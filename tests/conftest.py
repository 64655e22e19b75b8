"""What all tests share: settings of their own, a project, pictures, and a look at what they leave behind."""

from __future__ import annotations

import contextlib
import io
import multiprocessing
import os
import select
import signal
import tempfile
import threading
from multiprocessing import resource_tracker
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

GRACE_SECONDS = 30.0  # what ends by itself may take long on a busy machine


def pytest_addoption(parser):
    parser.addoption("--headed", action="store_true", help="show the windows of tests on the screen")


def pytest_configure(config):
    # How long an example takes depends on what else the machine is at.
    settings.register_profile(
        "tests", parent=settings.default, deadline=None, suppress_health_check=[HealthCheck.too_slow]
    )
    settings.load_profile("tests")
    if not config.getoption("--headed"):
        os.environ["QT_QPA_PLATFORM"] = "offscreen"
    # A shell starts what runs in the background with SIGINT ignored, and what tests start would inherit that.
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    # Workers that gave way would stand still for minutes while other processes of the tests keep all cores.
    os.environ["BANANA100_GIVE_WAY"] = "0"
    # Here too, and not only for each test: fixtures of a whole module begin before those of its tests.
    home = tempfile.TemporaryDirectory(prefix="banana100-tests-", ignore_cleanup_errors=True)
    config.add_cleanup(home.cleanup)
    for name, folder in _homes(Path(home.name)).items():
        os.environ[name] = folder


def _homes(home: Path) -> dict[str, str]:
    names = {"CONFIG": "config", "DATA": "data", "CACHE": "cache", "STATE": "state"}
    return {f"XDG_{name}_HOME": str(home / folder) for name, folder in names.items()}


@pytest.fixture(autouse=True)
def own_settings(tmp_path_factory, monkeypatch):
    """Keep a test away from the user's settings and from other tests'."""
    for name, folder in _homes(tmp_path_factory.mktemp("home")).items():
        monkeypatch.setenv(name, folder)


@pytest.fixture(autouse=True)
def nothing_left_running():
    """Fail a test that leaves threads or processes, and name them."""
    threads, processes = set(threading.enumerate()), _children()
    yield
    left = [
        f"thread {thread.name!r} ({_target_of(thread)})"
        for thread in set(threading.enumerate()) - threads
        if not thread.daemon and _outlives_grace(thread)
    ]
    left += [
        f"process {pid} ({command})"
        for pid in _children() - processes
        if (command := _killed_after_grace(pid)) is not None
    ]
    if left:
        pytest.fail("still running after the test: " + ", ".join(left))


def _target_of(thread: threading.Thread) -> str:
    target = getattr(thread, "_target", None)
    return getattr(target, "__qualname__", type(thread).__qualname__)


def _outlives_grace(thread: threading.Thread) -> bool:
    thread.join(GRACE_SECONDS)
    return thread.is_alive()


def _children() -> set[int]:
    multiprocessing.active_children()  # collects those that have ended
    children = set()
    for thread in os.listdir("/proc/self/task"):  # noqa: PTH208 - a thread may end while they are looked through
        with contextlib.suppress(OSError):
            children |= {int(pid) for pid in Path(f"/proc/self/task/{thread}/children").read_text().split()}
    kept_by_python = resource_tracker._resource_tracker._pid  # one for all processes that it spawns
    return {pid for pid in children if _is_alive(pid) and pid != kept_by_python}


def _is_alive(pid: int) -> bool:
    with contextlib.suppress(OSError, IndexError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    return False


def _command_of(pid: int) -> str:
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace").strip()
    return "gone"


def _killed_after_grace(pid: int) -> str | None:
    """Wait for a process to end; one that doesn't is killed, so that other tests don't meet it.

    Returns:
        The command of the process that was killed, read late: one that has only just begun has none yet.
    """
    try:
        descriptor = os.pidfd_open(pid)
    except OSError:
        return None
    try:
        if select.select([descriptor], [], [], GRACE_SECONDS)[0]:
            return None
        command = _command_of(pid)
        os.kill(pid, signal.SIGKILL)
        return command
    finally:
        os.close(descriptor)


@pytest.fixture
def project(tmp_path):
    """A new project, open for writing."""
    from banana100_core.project import Project

    with Project.create(tmp_path / "study.b100") as project:
        yield project


@pytest.fixture(scope="session")
def next_moment():
    """Lets the clock go on, as far as projects tell the time, so that what is said next is said later."""
    from banana100_core.project.rows import now

    def wait() -> None:
        moment = now()
        while now() <= moment:
            pass

    return wait


@pytest.fixture(scope="session")
def make_png():
    """Makes a PNG of smooth colours and noise; another `seed` gives another picture."""
    import numpy as np
    from PIL import Image

    def make(width: int = 64, height: int = 48, seed: int = 0) -> bytes:
        random = np.random.default_rng(seed)
        coarse = random.integers(0, 256, (4, 4, 3), dtype=np.uint8)
        smooth = np.asarray(Image.fromarray(coarse).resize((width, height), Image.Resampling.BICUBIC))
        noise = random.integers(-12, 13, (height, width, 3))
        pixels = np.clip(smooth.astype(np.int16) + noise, 0, 255).astype(np.uint8)
        stream = io.BytesIO()
        Image.fromarray(pixels).save(stream, "PNG")
        return stream.getvalue()

    return make
