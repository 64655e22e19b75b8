from __future__ import annotations

import hashlib
import json

import pytest


@pytest.fixture
def runs_folder(tmp_path, make_png):
    """Two runs of an initial image and two steps; one has prompts, one a file cut short."""
    root = tmp_path / "runs 🍌"
    for run in (1, 2):
        folder = root / f"Dongpo_r{run}"
        folder.mkdir(parents=True)
        for step in range(3):
            (folder / f"step_{step:03}.png").write_bytes(make_png(seed=10 * run + step))
    (root / "Dongpo_r1" / "prompts.csv").write_text("step,prompt\n1,<b>once</b>\n2,again\n")
    (root / "Dongpo_r2" / "step_002.png").write_bytes(make_png(seed=22)[:0])
    return root


def test_a_dry_run_says_what_it_understood_and_changes_nothing(banana100, empty, runs_folder) -> None:
    before = hashlib.sha256((empty).read_bytes()).hexdigest()
    shown = banana100("import", "folder", empty, runs_folder, "--dry-run").stdout
    assert hashlib.sha256((empty).read_bytes()).hexdigest() == before
    assert "2 runs, 6 steps; nothing was changed" in shown
    assert "0-2" in shown
    assert "would become failed steps:" in shown
    assert "step_002.png" in shown
    figures = json.loads(banana100("import", "folder", empty, runs_folder, "--dry-run", "--json").stdout)
    assert [len(run["steps"]) for run in figures["runs"]] == [3, 3]
    assert figures["runs"][0]["steps"][1]["notes"]["prompt"] == "<b>once</b>"


def test_an_import_names_what_failed_and_is_done_once(banana100, empty, runs_folder) -> None:
    done = banana100("import", "folder", empty, runs_folder, code=1)
    assert done.stdout == "2 runs added, 0 completed, 0 there already; 6 steps added\n"
    assert "step_002.png: the file is empty" in done.stderr
    again = json.loads(banana100("import", "folder", empty, runs_folder, "--json", code=1).stdout)
    assert (again["runs_added"], again["steps_added"]) == (0, 0)
    totals = json.loads(banana100("info", empty, "--json").stdout)["totals"]
    assert (totals["steps_done"], totals["steps_failed"], totals["initial_images"]) == (3, 1, 1)


def test_copied_images_need_their_files_no_more(banana100, empty, runs_folder) -> None:
    (runs_folder / "Dongpo_r2" / "step_002.png").unlink()
    banana100("import", "folder", empty, runs_folder, "--copy")
    for picture in runs_folder.glob("*/*.png"):
        picture.unlink()
    banana100("check", empty)


def test_a_folder_that_is_not_there_is_said(banana100, empty) -> None:
    assert "nowhere" in banana100("import", "folder", empty, "nowhere", code=2).stderr


def test_a_folder_without_runs_is_refused_and_says_why(banana100, empty, tmp_path, make_png) -> None:
    (tmp_path / "holiday").mkdir()
    (tmp_path / "holiday" / "beach.png").write_bytes(make_png(8, 8))
    told = banana100("import", "folder", empty, tmp_path / "holiday", code=2).stderr
    assert "1 left out" in told
    assert "beach.png: no step number in its name" in told
    assert f"No runs were found in {tmp_path / 'holiday'}" in told
    previewed = banana100("import", "folder", empty, tmp_path / "holiday", "--dry-run", code=2)
    assert "0 runs, 0 steps; nothing was changed" in previewed.stdout
    assert "No runs were found" in previewed.stderr


def test_tags_of_another_program_say_what_is_left_out(banana100, empty, runs_folder, tmp_path) -> None:
    banana100("import", "folder", empty, runs_folder, code=1)
    names = ("Dongpo_r1/step_001.png", "holiday.png")

    def coco(*numbers: int) -> str:
        record = {
            "images": [{"id": n, "file_name": names[n], "width": 64, "height": 48} for n in numbers],
            "annotations": [{"image_id": n, "category_id": 1, "bbox": [1, 1, 9, 9]} for n in numbers],
            "categories": [{"id": 1, "name": "noise"}],
        }
        (tmp_path / "tags.json").write_text(json.dumps(record))
        return "tags.json"

    options = ("--annotator", "Eve", "--category", "noise=persistent_noise", "--dry-run")
    assert "1 tag added" in banana100("import", "tags", empty, coco(0), *options).stdout
    told = banana100("import", "tags", empty, coco(0, 1), *options, code=1)
    assert "1 tag added" in told.stdout
    assert "picture holiday.png is left out" in told.stderr
    assert "1 annotation of pictures that were left out" in told.stderr
    assert "None of the pictures" in banana100("import", "tags", empty, coco(1), *options, code=2).stderr


@pytest.fixture
def pico(tmp_path, make_png):
    """A multi-turn list of one sequence of three turns, and the folder of its images."""
    base = tmp_path / "pico"
    (base / "images").mkdir(parents=True)
    names = [f"images/101_attemptB_turn{turn}.png" for turn in (1, 2, 3)]
    for turn, name in enumerate(names):
        (base / name).write_bytes(make_png(seed=turn))
    ids = ["edit_turn1", "edit_turn2", "final_image"]
    line = {
        "files": [{"id": key, "url": name} for key, name in zip(ids, names, strict=True)],
        "metadata_edit_turn_prompts": ["add a hat", "make it red", "remove the hat"],
    }
    (tmp_path / "multi-turn.jsonl").write_text(json.dumps(line) + "\n{ broken\n")
    return base


def test_a_base_without_the_pictures_of_the_list_is_refused(banana100, empty, pico) -> None:
    told = banana100("import", "pico", empty, "multi-turn.jsonl", "--base", pico / "images", code=2).stderr
    assert "2 left out" in told
    assert "names no picture that is below" in told


def test_pico_sequences_become_runs(banana100, empty, pico) -> None:
    arguments = ("import", "pico", empty, "multi-turn.jsonl", "--base", pico)
    preview = banana100(*arguments, "--dry-run").stdout
    assert "1 run, 3 steps; nothing was changed" in preview
    assert "line 2" in preview
    report = json.loads(banana100(*arguments, "--json").stdout)
    assert (report["runs_added"], report["steps_added"]) == (1, 3)
    runs = json.loads(banana100("info", empty, "--json").stdout)["runs"]
    assert [(run["steps_done"], run["state"]) for run in runs] == [(3, "done")]
