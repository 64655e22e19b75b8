from __future__ import annotations

import hashlib
import json
import sqlite3

import pytest

from banana100_core.imaging.decode import inspect
from banana100_core.project import Project
from banana100_core.project.database import MAJOR, MINOR
from banana100_core.project.images import NewImage, image_folder
from banana100_core.project.records import NewRun, NewScore, NewStep, NewTag, Outcome
from banana100_core.project.runs import add_run, add_steps
from banana100_core.project.scores import add_scores
from banana100_core.project.tags import add_tag


@pytest.fixture
def study(tmp_path, make_png):
    """A project with a run of three steps, one failed; one score, one failed score, two tags."""
    path = tmp_path / "study.b100"
    images = []
    for seed in range(3):
        data = make_png(seed=seed)
        images.append(NewImage(inspect(data), data=data))
    with Project.create(path) as project:
        run_id = add_run(
            project, NewRun("Dongpo\x1b[31m", "codec_loss", "jpeg-webp", "replicate", steps_planned=5)
        )
        add_steps(
            project,
            [
                (NewStep(run_id, 0, Outcome.INITIAL), images[0]),
                (NewStep(run_id, 1, Outcome.DONE, cost_usd=0.5), images[1]),
                (NewStep(run_id, 2, Outcome.DONE, cost_usd=0.25), images[2]),
                (NewStep(run_id, 3, Outcome.FAILED, reason="cut short"), None),
            ],
        )
        add_scores(
            project,
            [
                NewScore(images[1].image.sha256, "piqe", "v1", 3.0),
                NewScore(images[2].image.sha256, "piqe", "v1", None, "too small"),
            ],
        )
        for mode, onset in (("persistent_noise", 2), ("green_tint", 1)):
            add_tag(project, "anna", NewTag(run_id, mode, onset))
    return path


def test_new_makes_an_empty_project_and_never_replaces_a_file(banana100, tmp_path) -> None:
    assert banana100("new", "a.b100").stdout == "a.b100: made\n"
    before = (tmp_path / "a.b100").read_bytes()
    assert "exists already" in banana100("new", "a.b100", code=2).stderr
    assert (tmp_path / "a.b100").read_bytes() == before
    assert "none yet" in banana100("info", "a.b100").stdout


def test_new_can_keep_images_in_a_folder(banana100, tmp_path, picture) -> None:
    banana100("new", "a.b100", "--images", "folder")
    banana100("generate", "a.b100", "--initial", picture, "--provider", "codec_loss", "--steps", 1)
    assert len(list(image_folder(tmp_path / "a.b100").glob("??/*"))) == 2
    figures = json.loads(banana100("info", "a.b100", "--json").stdout)
    assert figures["image_storage"] == "folder"
    assert [row["storage"] for row in figures["totals"]["images"]] == ["folder"]


def test_info_counts_what_a_project_holds(banana100, study) -> None:
    figures = json.loads(banana100("info", study, "--json").stdout)
    totals = figures["totals"]
    assert figures["file"] == str(study)
    assert totals["schema_version"] == f"{MAJOR}.{MINOR}"
    assert totals["runs"] == {"planned": 1, "done": 0, "stopped": 0, "cancelled": 0}
    assert (totals["steps_done"], totals["steps_failed"], totals["steps_planned"]) == (2, 1, 5)
    assert [(row["storage"], row["images"]) for row in totals["images"]] == [("blob", 3)]
    assert totals["scores"] == [
        {"metric": "piqe", "method_version": "v1", "scored": 1, "failed": 1, "missing": 1}
    ]
    assert totals["tags"] == [{"annotator": "anna", "tags": 2, "runs": 1}]
    assert totals["cost_usd"] == 0.75
    assert figures["runs"][0]["initial_image"] == "Dongpo\x1b[31m"


def test_info_shows_names_from_outside_as_plain_text(banana100, study) -> None:
    shown = banana100("info", study).stdout
    assert "\x1b" not in shown
    assert r"Dongpo\x1b[31m" in shown
    assert "2/5, 1 failed" in shown
    assert "$0.75" in shown


def test_info_and_check_read_a_project_that_another_process_writes(banana100, study, in_use) -> None:
    with in_use(study) as process:
        assert "1 planned" in banana100("info", study).stdout
        banana100("check", study)
        for command in (["resume"], ["score"], ["import", "folder"]):
            done = banana100(*command, study, *(["."] if command[0] == "import" else []), code=2)
            assert f"in use by process {process.pid}" in done.stderr
            assert "`banana100 open --read-only`" in done.stderr
            assert done.stderr.count("\n") == 1


def test_check_finds_a_changed_image_and_says_so(banana100, study) -> None:
    assert banana100("check", study).stdout.endswith("0 errors, 0 warnings\n")
    with sqlite3.connect(study) as connection:
        sha256 = connection.execute("SELECT sha256 FROM blob").fetchone()[0]
        connection.execute("UPDATE blob SET bytes = x'00' WHERE sha256 = ?", (sha256,))
    connection.close()
    done = banana100("check", study, code=1)
    assert f"error: The image {sha256} in the project file: " in done.stdout
    findings = json.loads(banana100("check", study, "--json", code=1).stdout)
    assert [finding["severity"] for finding in findings] == ["error"]


def test_pack_makes_one_file_that_needs_no_other(banana100, tmp_path, make_png) -> None:
    folder = tmp_path / "run 1"
    folder.mkdir()
    for number in range(3):
        (folder / f"{number}.png").write_bytes(make_png(seed=number))
    banana100("new", "a.b100")
    banana100("import", "folder", "a.b100", folder)
    before = hashlib.sha256((tmp_path / "a.b100").read_bytes()).hexdigest()
    packed = json.loads(banana100("pack", "a.b100", "b.b100", "--json").stdout)
    assert packed == {"file": "b.b100", "byte_size": (tmp_path / "b.b100").stat().st_size}
    assert hashlib.sha256((tmp_path / "a.b100").read_bytes()).hexdigest() == before
    for picture in folder.iterdir():
        picture.unlink()
    assert banana100("check", "b.b100").stdout.endswith("0 errors, 0 warnings\n")
    assert "missing" in banana100("check", "a.b100", code=1).stdout
    assert "exists already" in banana100("pack", "a.b100", "b.b100", code=2).stderr
