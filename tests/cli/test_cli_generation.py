from __future__ import annotations

import hashlib
import json
import os
import signal
import subprocess
import sys

import pytest

from banana100_core.project import Project
from banana100_core.project.images import initial_images
from banana100_core.project.records import NewRun, RunState
from banana100_core.project.runs import add_run, runs, set_run_state, steps

CODEC = ("--provider", "codec_loss")
LONG = 25


def hashes(path) -> list[list[str]]:
    with Project.open(path, read_only=True) as project:
        return [[step.image.sha256 for step in steps(project, run.id)] for run in runs(project)]


@pytest.fixture(scope="module")
def long_run(tmp_path_factory, make_png):
    """What makes a run of some seconds, and the hashes that it has when nothing disturbs it."""
    file = tmp_path_factory.mktemp("long") / "Fog.png"
    file.write_bytes(make_png(1000, 800))
    whole = file.with_name("whole.b100")
    Project.create(whole).close()
    options = ("--initial", str(file), *CODEC, "--steps", str(LONG))
    done = subprocess.run(
        [sys.executable, "-m", "banana100_core.cli", "generate", whole, *options], check=False
    )
    assert done.returncode == 0
    return options, hashes(whole)


def test_generate_makes_runs_and_says_what_the_editor_is(banana100, empty, picture) -> None:
    done = banana100("generate", empty, "--initial", picture, *CODEC, "--steps", 3, "--repeats", 2)
    assert "Codec loss" in done.stdout
    assert done.stdout.endswith("2 runs done, 6 steps\n")
    figures = json.loads(
        banana100("generate", empty, "--initial", "Dongpo 东坡", *CODEC, "--steps", 1, "--json").stdout
    )
    assert [(run["repeat"], run["state"], run["steps_done"]) for run in figures] == [(3, "done", 1)]
    assert [len(run) for run in hashes(empty)] == [4, 4, 2]


def test_the_default_editor_is_the_restoration_loop(banana100, empty, picture) -> None:
    banana100("generate", empty, "--initial", picture, "--steps", 1)
    with Project.open(empty, read_only=True) as project:
        assert [run.provider for run in runs(project)] == ["restoration_loop"]


def test_a_dry_run_shows_the_plan_and_changes_nothing(banana100, empty, picture) -> None:
    before = hashlib.sha256(empty.read_bytes()).hexdigest()
    arguments = ("generate", empty, "--initial", picture, "--steps", 5, "--repeats", 2, "--dry-run")
    shown = banana100(*arguments).stdout
    assert "Produce an exact replica of the provided image, with no alterations." in shown
    assert "cost   nothing" in shown
    assert "(estimate from what is typical of the model)" in shown
    assert "1 to 5  Produce" in shown
    fruit = banana100(*arguments[:4], "--steps", 100, "--protocol", "add-100-fruits", "--dry-run").stdout
    assert fruit.count(" to the table, and change nothing else.") == 100
    mirror = banana100(*arguments, "--protocol", "reconstruct").stdout
    assert "1, 4   Simplify" in mirror
    plan = json.loads(banana100(*arguments, "--json").stdout)
    assert (plan["calls"], plan["cost_usd"]) == (10, {"low": 0, "high": 0})
    assert [run["seed"] for run in plan["runs"]] == [0, 1]
    assert hashlib.sha256(empty.read_bytes()).hexdigest() == before


def test_a_setting_that_the_editor_takes_no_heed_of_is_named(banana100, empty, picture) -> None:
    options = ("generate", empty, "--initial", picture, *CODEC, "--dry-run")
    told = banana100(*options, "--temperature", 1, "--resolution", "1K").stderr
    assert told.startswith("banana100: ")
    assert "takes no heed of --temperature, --resolution" in told
    assert "no heed" not in banana100(*options, "--seed-mode", "fixed").stderr


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--initial", "nowhere.png"), "'nowhere.png' is neither an image file nor an initial image"),
        (("--initial", "Dongpo 东坡.png", "--provider", "nobody"), "There is no editor 'nobody'"),
        (("--initial", "Dongpo 东坡.png", "--model", "none"), "has no model 'none'"),
        (("--initial", "Dongpo 东坡.png", "--protocol", "none"), "There is no protocol 'none'"),
        (("--initial", "cut.png"), "cut.png"),
        (("--initial", "Dongpo 东坡.png", "--provider", "gemini", "--resolution", "512"), "makes no 512"),
    ],
)
def test_what_can_not_be_planned_is_said_and_adds_nothing(banana100, empty, picture, arguments, said) -> None:
    picture.with_name("cut.png").write_bytes(picture.read_bytes()[:200])
    done = banana100("generate", empty, *arguments, code=2)
    assert said in done.stderr
    assert done.stderr.count("\n") == 1
    with Project.open(empty, read_only=True) as project:
        assert runs(project) == []
        assert initial_images(project) == []


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM])
def test_interrupted_runs_keep_their_steps_and_resume_as_if_nothing_had_been(
    banana100, start_banana100, wait_until, empty, long_run, sent
) -> None:
    options, undisturbed = long_run
    with start_banana100("generate", empty, *options) as process:
        wait_until(process, lambda: hashes(empty) and len(hashes(empty)[0]) > 1)
        if sent is signal.SIGINT:
            # As a terminal does, the worker gets it too; and as `timeout` does, the command gets it twice.
            process.send_signal(sent)
            os.killpg(process.pid, sent)
        else:
            process.send_signal(sent)
        rest = process.stderr.read()
        assert process.wait() == 130
    assert "banana100: interrupted; all finished work is kept" in rest
    assert "Traceback" not in rest

    with Project.open(empty, read_only=True) as project:
        (run,) = runs(project)
        assert run.state is RunState.PLANNED
        assert 0 < run.steps_done < LONG
    banana100("check", empty)
    done = json.loads(banana100("resume", empty, "--json").stdout)
    assert [(run["state"], run["steps_done"]) for run in done] == [("done", LONG)]
    assert hashes(empty) == undisturbed


def test_a_run_that_is_done_stays_so_where_its_editor_is_no_more(banana100, empty) -> None:
    with Project.open(empty) as project:
        run_id = add_run(project, NewRun("Fog", "gone", "gone-1", "replicate", steps_planned=0))
        set_run_state(project, run_id, RunState.DONE)
    assert banana100("resume", empty, "--run", run_id).stdout == "1 run done, 0 steps\n"
    with Project.open(empty, read_only=True) as project:
        assert [run.state for run in runs(project)] == [RunState.DONE]


def test_resume_with_nothing_left_is_done(banana100, empty) -> None:
    assert banana100("resume", empty).stdout == "0 runs done, 0 steps\n"


def test_a_run_that_stopped_is_named(banana100, empty, picture) -> None:
    banana100("generate", empty, "--initial", picture, *CODEC, "--steps", 1)
    with Project.open(empty) as project:
        add_run(project, NewRun("Nobody", "codec_loss", "jpeg-webp", "replicate", steps_planned=2))
    done = banana100("resume", empty, code=1)
    assert "banana100: run 2 (Nobody, repeat 1) is stopped: " in done.stderr
    # It is not tried again until somebody says so.
    assert "To go on with it: --run 2" in banana100("resume", empty).stderr
    banana100("resume", empty, "--run", 2, code=1)
