from __future__ import annotations

import csv
import io
import json
import os
import signal
import subprocess
import sys
import xml.etree.ElementTree as ET

import pytest

from banana100_core.project import Project
from banana100_core.project.runs import runs, steps
from banana100_core.project.scores import step_scores
from banana100_core.scoring import terms

QUICK = ("--metric", "piqe", "--metric", "brisque")


@pytest.fixture(scope="module")
def made(tmp_path_factory, make_png):
    """A project with two repeats of six steps."""
    folder = tmp_path_factory.mktemp("made")
    path = folder / "study.b100"
    Project.create(path).close()
    (folder / "Fog.png").write_bytes(make_png(256, 192))
    options = ("--initial", folder / "Fog.png", "--provider", "codec_loss", "--steps", "6", "--repeats", "2")
    done = subprocess.run(
        [sys.executable, "-m", "banana100_core.cli", "generate", path, *options], check=False
    )
    assert done.returncode == 0
    return path


@pytest.fixture
def study(made, tmp_path):
    """A copy of it to be scored."""
    path = tmp_path / "study.b100"
    path.write_bytes(made.read_bytes())
    return path


def test_score_gaps_and_contact_sheet(banana100, study, tmp_path) -> None:
    done = banana100("score", study, *QUICK)
    assert done.stdout.splitlines()[0].split() == ["METRIC", "SCORED", "FAILED", "METHOD", "VERSION"]
    with Project.open(study, read_only=True) as project:
        assert len(step_scores(project)) == 2 * 2 * 7
    again = json.loads(banana100("score", study, *QUICK, "--json").stdout)
    assert [(row["metric"], row["scored"], row["failed"]) for row in again["metrics"]] == [
        ("brisque", 13, 0),
        ("piqe", 13, 0),
    ]

    table = banana100("gaps", study).stdout.splitlines()
    assert len(table) == 3
    assert "±" in table[1]
    rows = list(csv.DictReader(io.StringIO(banana100("gaps", study, "--format", "csv").stdout)))
    assert [(row["repeat"], row["metric"]) for row in rows] == [
        ("1", "brisque"),
        ("1", "piqe"),
        ("2", "brisque"),
        ("2", "piqe"),
    ]
    assert all(row["delta_5"] and not row["delta_20"] for row in rows)
    gaps = json.loads(banana100("gaps", study, "--json", "--metric", "piqe", "--run", 2).stdout)["gaps"]
    assert [(row["run_id"], row["metric"]) for row in gaps] == [(2, "piqe")]
    assert "gaps.svg: " in banana100("gaps", study, "--format", "svg", "--out", "gaps.svg").stdout
    assert ET.parse(tmp_path / "gaps.svg").getroot().tag.endswith("svg")

    sheet = json.loads(banana100("contact-sheet", study, "sheet.png", "--run", 1, "--json").stdout)
    assert sheet["runs"] == [1]
    assert (tmp_path / "sheet.png").read_bytes().startswith(b"\x89PNG")


def test_gaps_without_scores_say_what_to_do(banana100, study) -> None:
    assert "`banana100 score` makes them" in banana100("gaps", study).stderr


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("score", "--metric", "beauty"), "There is no metric 'beauty'"),
        (("score", "--run", "7"), "has no run 7"),
        (("score", "--metric", "piqe", "--backend", "abacus"), "piqe has no backend 'abacus'"),
        (
            ("score", "--backend", "abacus"),
            "There is no backend 'abacus'. There are: adapter, native, pyiqa.",
        ),
        (
            ("score", "--metric", "piqe", "--device", "cuda:77"),
            "There is no device 'cuda:77' here. There are: cpu",
        ),
        (("gaps", "--metric", "beauty"), "There is no metric 'beauty'"),
        (("contact-sheet", "sheet.docx"), "sheet.docx"),
        (("contact-sheet", "sheet.png", "--step", "77"), "has none of these steps: 77"),
    ],
)
def test_what_can_not_be_done_is_said_in_one_line(banana100, study, arguments, said) -> None:
    command, *rest = arguments
    done = banana100(command, study, *rest, code=2)
    assert said in done.stderr
    assert done.stderr.count("\n") == 1


def test_pictures_that_can_not_be_scored_are_each_named(banana100, study, make_png, tmp_path) -> None:
    folder = tmp_path / "tiny_r1"
    folder.mkdir()
    (folder / "step_001.png").write_bytes(make_png(40, 40))
    banana100("import", "folder", study, folder)
    done = banana100("score", study, "--metric", "niqe", code=1)
    (line,) = (line for line in done.stderr.splitlines() if line.startswith("banana100: "))
    assert "step 1 (run 3): niqe: " in line
    assert "--retry" in done.stderr
    figures = json.loads(banana100("score", study, "--metric", "niqe", "--retry", "--json", code=1).stdout)
    assert [(row["run_id"], row["step"], row["metric"]) for row in figures["failures"]] == [(3, 1, "niqe")]


def scores(path) -> set[tuple[str, float]]:
    with Project.open(path, read_only=True) as project:
        return {(score.image_sha256, score.score) for score in step_scores(project)}


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes in folders there")
def test_an_interrupted_scoring_keeps_its_scores_and_goes_on(
    banana100, start_banana100, wait_until, study, make_png, tmp_path
) -> None:
    last, kept = tmp_path / "last_r1" / "step_001.png", tmp_path / "kept.png"
    last.parent.mkdir()
    last.write_bytes(make_png(256, 192, seed=1))
    banana100("import", "folder", study, last.parent)
    with Project.open(study, read_only=True) as project:
        images = {step.image.sha256 for run in runs(project) for step in steps(project, run.id)}
    # Who reads a pipe that nobody writes to is in the middle of it for as long as it takes.
    last.rename(kept)
    os.mkfifo(last)
    arguments = ("score", study, "--metric", "niqe")
    with start_banana100(*arguments) as process:
        wait_until(process, lambda: len(scores(study)) == len(images) - 1)
        os.killpg(process.pid, signal.SIGINT)
        assert "banana100: interrupted; all finished work is kept" in process.stderr.read()
        assert process.wait() == 130
    before = scores(study)
    assert len(before) == len(images) - 1
    kept.replace(last)
    banana100("check", study)
    banana100(*arguments)
    after = scores(study)
    assert before < after
    assert {sha256 for sha256, _ in after} == images


def test_terms_are_needed_for_what_runs_through_pyiqa(banana100, study) -> None:
    pytest.importorskip("pyiqa")
    refused = banana100("score", study, "--metric", "piqe", "--backend", "pyiqa", code=2)
    assert "piqe can't score. It runs through pyiqa" in refused.stderr
    assert "--accept-terms" in refused.stderr
    several = banana100("score", study, "--backend", "pyiqa", code=2)
    assert "brisque, niqe, piqe: not scored, as pyiqa's terms have not been accepted" in several.stderr
    fetched = banana100("weights", "fetch", "cnniqa", code=2)
    assert "--accept-terms" in fetched.stderr
    assert not terms.accepted()


def test_terms_are_accepted_once(banana100, study, monkeypatch) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    banana100("score", study, "--metric", "piqe", "--accept-terms")
    assert terms.accepted()
    offline = banana100("weights", "fetch", "cnniqa", code=2)
    assert "HF_HUB_OFFLINE is set" in offline.stderr or "nothing to fetch" in offline.stderr


def test_metrics_lists_all_with_what_they_need(banana100, study) -> None:
    listed = json.loads(banana100("metrics", "--json").stdout)
    assert len(listed) == 23
    by_key = {row["metric"]: row for row in listed}
    assert by_key["piqe"]["state"] == "ready"
    assert by_key["brisque"]["lower_is_better"] is True
    assert all(row["way_out"] and row["reason"] for row in listed if row["state"] != "ready")
    shown = banana100("metrics", study).stdout
    assert "0 to 150" in shown
    assert "SCORED" in shown
