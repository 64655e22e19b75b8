"""Runs of a service from the command line, against the stand-in that `fake-gemini` starts."""

from __future__ import annotations

import json
import re
import signal
import socket
import subprocess
import sys

import pytest

from banana100_core.project import Project
from banana100_core.project.images import initial_images
from banana100_core.project.runs import run, runs, steps

PRO = ("--provider", "gemini", "--model", "gemini-3-pro-image")


@pytest.fixture
def stand_in(monkeypatch):
    """Starts `banana100 fake-gemini` with options and points the client to it; ends it after the test."""
    started = []

    def start(*options):
        command = [sys.executable, "-m", "banana100_core.cli", "fake-gemini", *options]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        started.append(process)
        line = process.stdout.readline()
        assert "A stand-in for Gemini, no image model" in line
        monkeypatch.setenv("GOOGLE_GEMINI_BASE_URL", re.search(r"http://\S+", line)[0])
        monkeypatch.setenv("GEMINI_API_KEY", "any")
        monkeypatch.delenv("GOOGLE_API_KEY", raising=False)

    yield start
    for process in started:
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=120)
        assert process.returncode == 130


def test_a_retired_model_is_told_and_resume_takes_another(banana100, empty, picture, stand_in) -> None:
    stand_in("--faults", "retired,no-image")
    told = banana100("generate", empty, "--initial", picture, *PRO, "--steps", 2, code=1)
    assert "resume PROJECT --run RUN --model MODEL" in told.stderr
    assert "--model needs --run" in banana100("resume", empty, "--model", "gemini-4-image", code=2).stderr
    assert (
        "gemini-3-pro-image" in banana100("resume", empty, "--run", 1, "--model", "nonsense", code=2).stderr
    )
    banana100("resume", empty, "--run", 1, "--model", "gemini-3.1-flash-image", "--budget", 5)
    with Project.open(empty, read_only=True) as project:
        made = run(project, 1)
        assert (made.model, made.steps_done) == ("gemini-3.1-flash-image", 2)
        assert all("stand-in" in step.model_version for step in steps(project, 1)[1:])


def test_a_plan_of_ones_own_protocol_shows_its_cost_and_a_budget_refuses_it(
    banana100, empty, picture
) -> None:
    own = empty.with_name("own.toml")
    own.write_text('prompts = ["Add a hat.", "Take it away."]\n[settings]\nresolution = "4K"\n')
    options = ("generate", empty, "--initial", picture, *PRO, "--protocol", own, "--steps", 10)
    at_4k = json.loads(banana100(*options, "--dry-run", "--json").stdout)
    assert at_4k["cost_usd"]["low"] == pytest.approx(2.4)
    assert at_4k["cost_usd"]["high"] > 2.4
    assert at_4k["runs"][0]["prompts"] == ["Add a hat.", "Take it away."]
    at_2k = json.loads(banana100(*options, "--resolution", "2K", "--dry-run", "--json").stdout)
    assert at_2k["cost_usd"]["low"] == pytest.approx(1.34)
    assert "raise --budget" in banana100(*options, "--budget", 1, code=2).stderr
    assert "resolution is '8K'" in banana100(*options, "--resolution", "8K", code=2).stderr
    own.write_text("prompts = []")
    assert "at least one text" in banana100(*options, code=2).stderr


def test_an_initial_image_is_made_from_a_text(banana100, empty, picture, stand_in) -> None:
    stand_in()
    options = ("generate", empty, *PRO, "--initial-prompt", "Fog=A misty forest", "--steps", 2)
    shown = banana100(*options, "--initial", f"Dish={picture}", "--dry-run").stdout
    assert "Fog is made first, from: A misty forest" in shown
    assert "edits  5" in shown
    banana100(*options, "--initial", f"Dish={picture}")
    with Project.open(empty, read_only=True) as project:
        assert {initial.name for initial in initial_images(project)} == {"Fog", "Dish"}
        assert steps(project, 2)[0].prompt == "A misty forest"
    assert "named 'Fog'" in banana100(*options, code=2).stderr
    for wrong in ("Fog", "=A misty forest"):
        assert "NAME=TEXT" in banana100(*options[:4], "--initial-prompt", wrong, code=2).stderr
    assert "at least one initial image" in banana100("generate", empty, code=2).stderr


def test_without_a_key_nothing_is_planned_and_it_is_said_where_one_goes(
    banana100, empty, picture, monkeypatch
) -> None:
    for name in ("GOOGLE_API_KEY", "GEMINI_API_KEY", "GOOGLE_GENAI_USE_VERTEXAI"):
        monkeypatch.delenv(name, raising=False)
    options = ("generate", empty, "--initial", picture, *PRO, "--steps", 1)
    assert "GEMINI_API_KEY" in banana100(*options, code=2).stderr
    with Project.open(empty, read_only=True) as project:
        assert runs(project) == []
    assert "Nano Banana Pro" in banana100(*options, "--dry-run").stdout


def test_a_port_in_use_is_said(banana100) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        assert f"at port {port}: " in banana100("fake-gemini", "--port", port, code=2).stderr


def test_an_unknown_fault_is_refused_with_those_there_are(banana100) -> None:
    assert "thought-only" in banana100("fake-gemini", "--faults", "earthquake", code=2).stderr
