from __future__ import annotations

import json
import socket
import sys

import pytest

from banana100_core import doctor
from banana100_core.doctor import State

linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux has displays to look for")


@pytest.fixture
def no_display(monkeypatch):
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM", "XDG_RUNTIME_DIR"):
        monkeypatch.delenv(name, raising=False)


def test_doctor_tells_of_every_part(banana100_process) -> None:
    found = json.loads(banana100_process("doctor", "--json", GOOGLE_API_KEY=None, GEMINI_API_KEY=None).stdout)
    groups = {check["group"] for check in found}
    assert groups == {"versions", "devices", "metrics", "machine", "window", "keys"}
    values = {check["name"]: check["value"] for check in found}
    assert values["python"].startswith(sys.version.split()[0])
    assert "cores" in values["cpu"]
    assert "piqe" in values["metrics"]
    assert values["Gemini"] == "none"


def test_doctor_never_shows_the_key(banana100_process) -> None:
    secret = "AIza-never-to-be-shown"
    done = banana100_process("--log-level", "debug", "doctor", GOOGLE_API_KEY=secret)
    assert "present in GOOGLE_API_KEY (never shown)" in done.stdout
    assert secret not in done.stdout + done.stderr


@linux
@pytest.mark.usefixtures("no_display")
def test_no_display_is_said() -> None:
    assert doctor.display_problem() == "there is no display: neither DISPLAY nor WAYLAND_DISPLAY is set"


@linux
@pytest.mark.usefixtures("no_display")
def test_offscreen_needs_no_display(monkeypatch) -> None:
    monkeypatch.setenv("QT_QPA_PLATFORM", "offscreen")
    assert doctor.display_problem() is None


@linux
@pytest.mark.usefixtures("no_display")
@pytest.mark.parametrize(
    ("name", "value"), [("DISPLAY", ":4242"), ("DISPLAY", "localhost:4242.0"), ("WAYLAND_DISPLAY", "none-0")]
)
def test_a_display_where_nothing_answers_is_none(monkeypatch, name, value) -> None:
    monkeypatch.setenv(name, value)
    assert doctor.display_problem() == f"there is no display: nothing answers at {name}={value}"


@linux
@pytest.mark.usefixtures("no_display")
def test_a_display_that_answers_is_one(monkeypatch, tmp_path) -> None:
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(tmp_path / "wayland-7"))
        server.listen()
        monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
        monkeypatch.setenv("WAYLAND_DISPLAY", "wayland-7")
        assert doctor.display_problem() is None


@linux
def test_missing_libraries_are_named_as_packages_in_one_line_to_type(monkeypatch) -> None:
    monkeypatch.setattr(doctor, "_QT_LIBRARIES", {"libnowhere-banana.so.7": "libnowhere7"})
    monkeypatch.setenv("QT_QPA_PLATFORM", "offscreen")
    missing = doctor.missing_packages()
    assert missing == ["libnowhere7"]
    assert doctor.apt_line(missing).endswith("apt-get install -y --no-install-recommends libnowhere7")
    (libraries,) = (check for check in doctor.window_checks() if check.name == "libraries")
    assert libraries.state is State.WRONG
    assert libraries.way_out == doctor.apt_line(missing)


def test_a_package_that_is_not_installed_has_no_version() -> None:
    assert doctor.version("no-such-package-banana") is None
