from __future__ import annotations

import json

import pytest

from banana100_core.imaging.decode import inspect
from banana100_core.project import Project
from banana100_core.project.images import NewImage
from banana100_core.project.records import NewRun, NewStep, Outcome
from banana100_core.project.runs import add_run, add_steps


def test_drift_is_shown_written_and_given_as_json(banana100, empty, make_png, tmp_path) -> None:
    with Project.open(empty) as project:
        run_id = add_run(project, NewRun("Dongpo", "codec_loss", "jpeg", "replicate", steps_planned=2))
        for number in (1, 2):
            data = make_png(seed=number)
            add_steps(project, [(NewStep(run_id, number, Outcome.DONE), NewImage(inspect(data), data))])
    shown = banana100("drift", empty).stdout.splitlines()
    assert shown[0].split()[:4] == ["RUN", "STEP", "PSNR", "SSIM"]
    assert shown[1].split()[:4] == ["1", "1", "same", "1.000"]
    assert len(shown) == 3
    figures = json.loads(banana100("drift", empty, "--json").stdout)
    assert figures["steps"][1]["psnr"] > 0
    assert figures["unreadable"] == []
    banana100("drift", empty, "--format", "csv", "--out", tmp_path / "drift.csv")
    assert (tmp_path / "drift.csv").read_text("utf-8").count("\n") == 3
    with Project.open(empty) as project:
        add_run(project, NewRun("Dongpo", "codec_loss", "jpeg", "replicate", 2, steps_planned=2))
        lost = NewStep(2, 2, Outcome.DONE)
        add_steps(project, [(lost, NewImage(inspect(data), data))])
    assert "run 2: step 1" in banana100("drift", empty, code=1).stderr


@pytest.mark.parametrize("command", ["gaps", "drift"])
def test_what_is_written_takes_the_place_of_an_older_text_alone(banana100, empty, tmp_path, command) -> None:
    before = empty.read_bytes()
    assert "is no text" in banana100(command, empty, "--out", empty, code=2).stderr
    assert empty.read_bytes() == before
    assert "There is no folder" in banana100(command, empty, "--out", "nowhere/x.csv", code=2).stderr
    assert "is a folder" in banana100(command, empty, "--out", tmp_path, code=2).stderr
    for _ in range(2):
        assert banana100(command, empty, "--format", "csv", "--out", "x.csv").stdout.startswith("x.csv: ")
    assert (tmp_path / "x.csv").read_text("utf-8").startswith("run_id,")
    assert {file.name for file in tmp_path.iterdir()} == {empty.name, "x.csv"}


def test_a_report_is_written(banana100, empty, tmp_path) -> None:
    out = tmp_path / "report.html"
    assert str(out) in banana100("report", empty, out).stdout
    assert out.read_text("utf-8").startswith("<!DOCTYPE html>")
    assert json.loads(banana100("report", empty, out, "--json").stdout)["byte_size"] == out.stat().st_size
    assert "is no report" in banana100("report", empty, empty, code=2).stderr
