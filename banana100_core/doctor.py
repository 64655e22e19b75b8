"""What this machine has, and what is missing for the program to work."""

from __future__ import annotations

import ctypes
import os
import platform
import re
import shutil
import socket
import sqlite3
import sys
from dataclasses import dataclass
from enum import StrEnum
from importlib import metadata
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from banana100_core.errors import BananaError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

DISTRIBUTION = "banana100-inspector"

_NEEDED = ("PySide6_Essentials", "pyqtgraph", "numpy", "pillow", "scikit-image", "ncnn", "sqlite-utils")
_LEARNED_METRICS = ("torch", "torchvision", "pyiqa")
_KEYS = ("GOOGLE_API_KEY", "GEMINI_API_KEY")  # the first wins, as in Google's own client

# What Qt's wheels take from the system, and Debian's package of it.
_QT_LIBRARIES = {
    "libglib-2.0.so.0": "libglib2.0-0",
    "libdbus-1.so.3": "libdbus-1-3",
    "libEGL.so.1": "libegl1",
    "libGL.so.1": "libgl1",
    "libfontconfig.so.1": "libfontconfig1",
    "libxkbcommon.so.0": "libxkbcommon0",
}
_X11_LIBRARIES = {
    "libxkbcommon-x11.so.0": "libxkbcommon-x11-0",
    "libxcb-cursor.so.0": "libxcb-cursor0",
    "libxcb-icccm.so.4": "libxcb-icccm4",
    "libxcb-image.so.0": "libxcb-image0",
    "libxcb-keysyms.so.1": "libxcb-keysyms1",
    "libxcb-randr.so.0": "libxcb-randr0",
    "libxcb-render-util.so.0": "libxcb-render-util0",
    "libxcb-shape.so.0": "libxcb-shape0",
}
_WAYLAND_LIBRARIES = {
    "libwayland-client.so.0": "libwayland-client0",
    "libwayland-cursor.so.0": "libwayland-cursor0",
}
_FONT_FOLDERS = ("/usr/share/fonts", "/usr/local/share/fonts", "~/.local/share/fonts", "~/.fonts")
_FONT_SUFFIXES = frozenset({".ttf", ".otf", ".ttc", ".pfb"})


class State(StrEnum):
    """What a check found."""

    OK = "ok"
    ABSENT = "absent"  # something optional is not there
    WRONG = "wrong"  # a part of the program can't work


@dataclass(frozen=True, slots=True)
class Check:
    """One thing looked at; `way_out` says what to do unless it is well."""

    group: str
    name: str
    state: State
    value: str
    way_out: str = ""


def checks(folder: Path) -> Iterator[Check]:
    """Look at versions, devices, memory, the disk of `folder`, what the window needs, and keys.

    Takes seconds where torch is installed: it is asked for its devices in a process of its own.
    """
    return chain(
        _versions(), _devices(), _metrics(), _memory(), _disk(folder), window_checks(), _keys(os.environ)
    )


def _versions() -> Iterator[Check]:
    from banana100_core.scoring.methods import GET_LEARNED_METRICS

    yield Check("versions", "banana100", State.OK, version(DISTRIBUTION) or "unknown")
    yield Check("versions", "python", State.OK, f"{platform.python_version()} on {platform.platform()}")
    yield Check("versions", "sqlite", State.OK, sqlite3.sqlite_version)
    for name in _NEEDED:
        if found := version(name):
            yield Check("versions", name, State.OK, found)
        else:
            yield Check("versions", name, State.WRONG, "not installed", f"pip install {name}")
    for name in _LEARNED_METRICS:
        if found := version(name):
            yield Check("versions", name, State.OK, found)
        else:
            way_out = f"only the learned metrics need it. {GET_LEARNED_METRICS}"
            yield Check("versions", name, State.ABSENT, "not installed", way_out)


def version(distribution: str) -> str | None:
    """Return the version of an installed package, without importing it."""
    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return None


def _devices() -> Iterator[Check]:
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    yield Check("devices", "cpu", State.OK, f"{cores} cores, {platform.machine()}")
    if not version("torch"):
        return
    from banana100_core.scoring.devices import graphics_cards

    try:
        devices = graphics_cards()
    except BananaError as error:
        yield Check("devices", "torch", State.WRONG, str(error), "reinstall torch")
        return
    for name, title in devices.items():
        yield Check("devices", name, State.OK, title)
    if not devices:
        yield Check("devices", "gpu", State.ABSENT, "none that torch can use", "learned metrics use the CPU")


def _metrics() -> Iterator[Check]:
    from banana100_core.scoring import methods

    statuses = methods.statuses()
    ready = [status.metric for status in statuses.values() if status.state is methods.State.READY]
    value = f"{len(ready)} of {len(statuses)} can score: {', '.join(ready)}"
    if len(ready) < len(statuses):
        yield Check(
            "metrics", "metrics", State.ABSENT, value, "`banana100 metrics` says what the others need"
        )
    else:
        yield Check("metrics", "metrics", State.OK, value)


def _memory() -> Iterator[Check]:
    import psutil

    memory = psutil.virtual_memory()
    value = f"{memory.available / 1e9:.1f} GB free of {memory.total / 1e9:.1f} GB"
    if memory.available < 2e9:
        yield Check("machine", "memory", State.WRONG, value, "close other programs: scoring needs about 2 GB")
    else:
        yield Check("machine", "memory", State.OK, value)


def _disk(folder: Path) -> Iterator[Check]:
    usage = shutil.disk_usage(folder)
    value = f"{usage.free / 1e9:.1f} GB free of {usage.total / 1e9:.1f} GB"
    if usage.free < 1e9:
        yield Check("machine", "disk", State.WRONG, value, f"make room on the disk of {folder.resolve()}")
    else:
        yield Check("machine", "disk", State.OK, value)


def window_checks() -> Iterator[Check]:
    """Look at what the window needs."""
    if metadata.entry_points(group="banana100.window"):
        yield Check("window", "entry point", State.OK, "installed")
    else:
        yield Check("window", "entry point", State.WRONG, "not installed", "pip install --editable .")
    missing = missing_packages()
    if missing:
        yield Check("window", "libraries", State.WRONG, "missing: " + " ".join(missing), apt_line(missing))
    else:
        yield Check("window", "libraries", State.OK, "all found")
    problem = display_problem()
    if problem:
        yield Check("window", "display", State.ABSENT, problem, "pictures of the window can still be made")
    else:
        yield Check("window", "display", State.OK, _display_name(os.environ))


def missing_packages() -> list[str]:
    """Name the Debian packages of libraries and fonts that Qt lacks here; empty where Qt brings its own."""
    if not sys.platform.startswith("linux"):
        return []
    wanted = dict(_QT_LIBRARIES)
    if os.environ.get("WAYLAND_DISPLAY"):
        wanted |= _WAYLAND_LIBRARIES
    elif os.environ.get("QT_QPA_PLATFORM") != "offscreen":
        wanted |= _X11_LIBRARIES
    missing = [package for library, package in wanted.items() if not _loads(library)]
    if not _has_font(Path(folder).expanduser() for folder in _FONT_FOLDERS):
        missing.append("fonts-dejavu-core")
    return missing


def apt_line(packages: Iterable[str]) -> str:
    """Return the command that installs Debian packages."""
    sudo = "" if hasattr(os, "geteuid") and os.geteuid() == 0 else "sudo "
    return f"{sudo}apt-get install -y --no-install-recommends {' '.join(packages)}"


def _loads(library: str) -> bool:
    try:
        ctypes.CDLL(library)
    except OSError:
        return False
    return True


def _has_font(folders: Iterable[Path]) -> bool:
    return any(
        Path(name).suffix.lower() in _FONT_SUFFIXES
        for folder in folders
        for _, _, names in os.walk(folder)
        for name in names
    )


def display_problem() -> str | None:
    """Say why no window can be shown here; None where one can.

    Qt ends the whole process where it can't reach the display that it was promised, so this is asked first.
    """
    if not sys.platform.startswith("linux"):
        return None
    chosen = os.environ.get("QT_QPA_PLATFORM", "")
    if chosen and not chosen.startswith(("xcb", "wayland")):
        return None
    wayland, x11 = os.environ.get("WAYLAND_DISPLAY"), os.environ.get("DISPLAY")
    if not wayland and not x11:
        return "there is no display: neither DISPLAY nor WAYLAND_DISPLAY is set"
    if (wayland and _answers(_wayland_socket(wayland))) or (x11 and _x11_answers(x11)):
        return None
    named = " and ".join(
        f"{name}={value}" for name, value in (("WAYLAND_DISPLAY", wayland), ("DISPLAY", x11)) if value
    )
    return f"there is no display: nothing answers at {named}"


def _wayland_socket(name: str) -> str:
    return os.path.join(os.environ.get("XDG_RUNTIME_DIR", "/run/user/0"), name)  # noqa: PTH118 - may be absolute


def _x11_answers(display: str) -> bool:
    match = re.fullmatch(r"(?P<host>.*):(?P<number>\d+)(\.\d+)?", display)
    if match is None or "/" in match["host"]:
        return True  # another transport, which only X itself can judge
    if match["host"] in {"", "unix"}:
        path = f"/tmp/.X11-unix/X{match['number']}"  # noqa: S108 - where X servers listen
        return _answers(path) or _answers("\0" + path)
    try:
        socket.create_connection((match["host"], 6000 + int(match["number"])), timeout=2).close()
    except OSError:
        return False
    return True


def _answers(path: str) -> bool:
    with socket.socket(socket.AF_UNIX) as caller:
        try:
            caller.connect(path)
        except OSError:
            return False
    return True


def _display_name(environment: Mapping[str, str]) -> str:
    for name in ("QT_QPA_PLATFORM", "WAYLAND_DISPLAY", "DISPLAY"):
        if value := environment.get(name):
            return f"{name}={value}"
    return "the system's"


def _keys(environment: Mapping[str, str]) -> Iterator[Check]:
    for name in _KEYS:
        if environment.get(name):
            yield Check("keys", "Gemini", State.OK, f"present in {name} (never shown)")
            return
    way_out = f"only the Gemini editor needs one: set {_KEYS[0]}"
    yield Check("keys", "Gemini", State.ABSENT, "none", way_out)
