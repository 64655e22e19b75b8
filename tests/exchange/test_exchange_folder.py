from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from banana100_core.errors import ImportFilesError
from banana100_core.exchange.folder import preview_folder

if TYPE_CHECKING:
    from banana100_core.exchange.preview import FoundRun, ImportPreview

Folder = Callable[[Iterable[str]], Path]


@pytest.fixture
def folder(tmp_path: Path, make_png: Callable[..., bytes]) -> Folder:
    """Makes a folder with pictures of the given names, all different."""

    def make(names: Iterable[str]) -> Path:
        root = tmp_path / "set"
        for seed, name in enumerate(names):
            path = root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(make_png(8, 8, seed))
        return root

    return make


def understood(preview: ImportPreview) -> list[tuple[str, str, int, list[int]]]:
    return [
        (run.initial_image, run.protocol, run.repeat, [step.number for step in run.steps])
        for run in preview.runs
    ]


def only_run(preview: ImportPreview) -> FoundRun:
    (run,) = preview.runs
    return run


RUNS = [(image, repeat) for image in ("Dongpo", "Fog") for repeat in (1, 2)]
LAYOUTS = {
    "a tree": lambda image, run, step: f"{image}/replicate/run{run}/{step}.png",
    "a tree by protocol": lambda image, run, step: f"replicate/{image}/{run}/step {step}.png",
    "flat": lambda image, run, step: f"{image}_replicate_r{run}_step_{step:03}.png",
    "flat with dashes": lambda image, run, step: f"{image}-replicate-run{run}-{step}.png",
    "a folder a run": lambda image, run, step: f"{image}_replicate_run{run}/step_{step:04}.png",
    "a folder an image": lambda image, run, step: f"{image}/replicate_r{run}_{step}.png",
    "below a folder of data": lambda image, run, step: f"data/{image}/replicate/r{run}/img_{step}.png",
    "named pairs": lambda image, run, step: f"initial={image}/protocol=replicate/run={run}/{step}.png",
}


@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS.keys())
def test_layouts(folder: Folder, layout: Callable[[str, int, int], str]) -> None:
    root = folder(layout(image, run, step) for image, run in RUNS for step in range(12))
    preview = preview_folder(root)
    found = [(image.lower(), *rest) for image, *rest in understood(preview)]
    assert found == [(image.lower(), "replicate", run, list(range(12))) for image, run in RUNS]
    assert not preview.ignored
    assert not preview.duplicates
    assert preview.step_count == 48


class TestSteps:
    def test_sort_by_number_and_say_first_last_and_gaps(self, folder: Folder) -> None:
        run = only_run(preview_folder(folder(f"Fog/{step}.png" for step in (10, 9, 2, 1, 5, 12))))
        assert [step.number for step in run.steps] == [1, 2, 5, 9, 10, 12]
        assert (run.first, run.last, run.missing) == (1, 12, (3, 4, 6, 7, 8, 11))
        assert not run.has_initial

    def test_of_one_run_may_differ_in_more_than_the_number(self, folder: Folder) -> None:
        names = ["step_1_seed_17.png", "step_2_seed_99.png", "step_3_seed_5.png"]
        run = only_run(preview_folder(folder(f"Fog/{name}" for name in names)))
        assert [step.number for step in run.steps] == [1, 2, 3]
        assert run.initial_image == "Fog"

    def test_found_twice_are_told(self, folder: Folder) -> None:
        preview = preview_folder(folder(["Fog/step_1.png", "Fog/step_1 (1).png", "Fog/step_1.jpg"]))
        assert only_run(preview).steps[0].file.name == "step_1.jpg"
        assert sorted(remark.path.name for remark in preview.duplicates) == ["step_1 (1).png", "step_1.png"]
        assert "step 1 of Fog is step_1.jpg already" in preview.duplicates[0].reason

    def test_that_cannot_be_read_are_told_and_stay(self, folder: Folder) -> None:
        root = folder(["Fog/1.png", "Fog/2.png", "Fog/3.png"])
        (root / "Fog/2.png").write_bytes(b"")
        (root / "Fog/3.png").write_bytes(b"<html>")
        preview = preview_folder(root)
        assert [step.number for step in only_run(preview).steps] == [1, 2, 3]
        assert [(r.path.name, r.reason.partition("(")[0]) for r in preview.unreadable] == [
            ("2.png", "the file is empty "),
            ("3.png", "not a picture this program reads "),
        ]


class TestInitialImages:
    @pytest.mark.parametrize(
        "name", ["original", "initial", "input", "step_0", "000", "Initial image", "Fog"]
    )
    def test_beside_the_steps(self, folder: Folder, name: str) -> None:
        run = only_run(preview_folder(folder([f"Fog/{name}.png", "Fog/1.png", "Fog/2.png"])))
        assert run.steps[0].number == 0
        assert run.steps[0].file.stem == name

    def test_above_the_runs(self, folder: Folder) -> None:
        names = ["Fog/original.png", "Fog/r1/1.png", "Fog/r2/1.png", "Sand/r1/1.png"]
        preview = preview_folder(folder(names))
        assert [run.has_initial for run in preview.runs] == [True, True, False]

    @pytest.mark.parametrize(
        "place", ["initial_images/{}.png", "originals/{}.png", "{}.png", "{}_original.png"]
    )
    def test_by_name(self, folder: Folder, place: str) -> None:
        names = [place.format(image) for image in ("Fog", "Sand")]
        root = folder([*names, "Fog_r1_1.png", "Fog_r2_1.png", "Sand_r1_1.png"])
        preview = preview_folder(root)
        assert [run.steps[0].file for run in preview.runs] == [
            root / names[0],
            root / names[0],
            root / names[1],
        ]
        assert not preview.ignored

    def test_a_nameless_one_among_runs_of_several_images_is_not_guessed(self, folder: Folder) -> None:
        preview = preview_folder(folder(["original.png", "Fog_r1_1.png", "Sand_r1_1.png"]))
        assert not any(run.has_initial for run in preview.runs)
        assert [remark.path.name for remark in preview.ignored] == ["original.png"]

    @pytest.mark.parametrize("name", ["result", "mask", "Fog_final"])
    def test_other_pictures_are_not_taken_for_one(self, folder: Folder, name: str) -> None:
        preview = preview_folder(folder([f"Fog/{name}.png", "Fog/1.png"]))
        assert not only_run(preview).has_initial
        assert [remark.reason for remark in preview.ignored] == ["no step number in its name"]


class TestRepeats:
    def test_without_a_number_are_counted_in_natural_order(self, folder: Folder) -> None:
        names = ["first", "second 2", "second 10"]
        root = folder(f"{model}/Fog/replicate/{name}/1.png" for model in ("flux", "qwen") for name in names)
        found = [(run.model, run.title.rpartition("/")[2], run.repeat) for run in preview_folder(root).runs]
        assert found == [(m, name, i) for m in ("flux", "qwen") for i, name in enumerate(names, start=1)]

    def test_fill_up_what_is_not_taken(self, folder: Folder) -> None:
        root = folder(f"Fog/replicate/{name}/1.png" for name in ("a", "b", "r2"))
        assert [run.repeat for run in preview_folder(root).runs] == [1, 3, 2]


class TestOddFolders:
    def test_loops_of_links_end(self, folder: Folder) -> None:
        root = folder(["Fog/1.png", "Sand/1.png"])
        (root / "Fog" / "loop").symlink_to(root, target_is_directory=True)
        (root / "Fog" / "self").symlink_to(root / "Fog", target_is_directory=True)
        (root / "A").symlink_to(root / "Sand", target_is_directory=True)
        preview = preview_folder(root)
        assert [run.title for run in preview.runs] == ["Fog", "Sand"]
        assert len(preview.ignored) == 3
        assert {remark.reason for remark in preview.ignored} == {
            "leads to a folder that was looked into already"
        }

    def test_links_lead_to_pictures_elsewhere(
        self, folder: Folder, tmp_path: Path, make_png: Callable
    ) -> None:
        root = folder(["Fog/1.png"])
        (tmp_path / "blob").write_bytes(make_png(8, 8, 99))
        (root / "Fog/2.png").symlink_to(tmp_path / "blob")
        (root / "Fog/3.png").symlink_to(tmp_path / "nowhere")
        preview = preview_folder(root)
        assert [step.number for step in only_run(preview).steps] == [1, 2, 3]
        assert [remark.path.name for remark in preview.unreadable] == ["3.png"]

    def test_odd_names_survive(self, folder: Folder) -> None:
        names = ['it\'s "quoted"', "new\nline", "🍌 banana", "a" * 200, "%s{0}<b>", "東坡 肉"]
        preview = preview_folder(folder(f"{name}/1.png" for name in names))
        assert {run.initial_image for run in preview.runs} == set(names)

    @pytest.mark.skipif(os.name == "nt", reason="file names are text there")
    def test_names_that_are_no_text_survive(self, folder: Folder) -> None:
        root = folder(["Fog/1.png"])
        odd = os.fsencode(root) + b"/F\xff"
        Path(os.fsdecode(odd)).mkdir()
        (root / "Fog/1.png").rename(Path(os.fsdecode(odd)) / "1.png")
        assert only_run(preview_folder(root)).steps[0].file.exists()

    @pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes in folders there")
    def test_a_pipe_is_not_opened(self, folder: Folder) -> None:
        root = folder(["Fog/1.png"])
        os.mkfifo(root / "Fog/2.png")
        preview = preview_folder(root)
        assert [step.number for step in only_run(preview).steps] == [1]
        assert [remark.reason for remark in preview.ignored] == ["is no plain file"]

    def test_hidden_files_are_passed_over_and_others_told(self, folder: Folder) -> None:
        root = folder(["Fog/1.png", "Fog/._1.png", "__MACOSX/Fog/1.png", ".cache/1.png"])
        (root / "README.md").write_text("hello")
        preview = preview_folder(root)
        assert preview.step_count == 1
        assert [(r.path.name, r.reason) for r in preview.ignored] == [
            ("README.md", "neither a picture nor a side file")
        ]

    def test_a_very_deep_tree(self, folder: Folder) -> None:
        root = folder(["Fog/1.png"])
        deep = root / "/".join(["d"] * 300)
        deep.mkdir(parents=True)
        assert preview_folder(root).step_count == 1

    @pytest.mark.parametrize("name", ["nowhere", "file.txt"])
    def test_no_folder_is_an_error_with_a_way_out(self, tmp_path: Path, name: str) -> None:
        (tmp_path / "file.txt").write_text("x")
        with pytest.raises(ImportFilesError, match=rf"{name} can't be imported: .*Name a folder"):
            preview_folder(tmp_path / name)

    def test_an_empty_folder_holds_nothing(self, tmp_path: Path) -> None:
        assert preview_folder(tmp_path).runs == ()

    def test_reading_tells_how_far_it_is(self, folder: Folder) -> None:
        told: list[tuple[int, int, str]] = []
        preview_folder(folder(["Fog/1.png", "Sand/1.png"]), lambda *state: told.append(state))
        assert told
        assert all(isinstance(done, int) and isinstance(what, str) for done, _, what in told)

    def test_a_run_has_the_same_source_seen_from_above(self, folder: Folder) -> None:
        root = folder(["Fog/replicate/r1/1.png", "Fog/replicate/r2/1.png"])
        above = {run.source for run in preview_folder(root).runs}
        inside = only_run(preview_folder(root / "Fog/replicate/r1"))
        assert inside.source in above
        assert inside.initial_image == "Fog"
        assert inside.repeat == 1


class TestSideFiles:
    def test_csv_by_file_name(self, folder: Folder) -> None:
        root = folder(["Fog/r1/1.png", "Fog/r1/2.png", "Fog/r2/1.png"])
        (root / "prompts.csv").write_text(
            "file,prompt,reasoning_summary,seed\n"
            'r1/1.png,"a, b",line 1,7\n'
            "Fog\\r1\\2.png,c,,8\n"
            "r2/1.png,d,,\n",
            "utf-8-sig",
        )
        preview = preview_folder(root)
        first, second = preview.runs
        assert [step.notes.prompt for step in first.steps] == ["a, b", "c"]
        assert first.steps[0].notes.reasoning == "line 1"
        assert first.steps[0].notes.settings == {"seed": "7"}
        assert second.steps[0].notes.prompt == "d"
        (side,) = preview.side_files
        assert (side.records, side.used, side.reason) == (3, 3, "")

    @pytest.mark.parametrize("delimiter", [",", ";", "\t"])
    def test_csv_by_step_and_run(self, folder: Folder, delimiter: str) -> None:
        root = folder(f"Fog/run{run}/{step}.png" for run in (1, 2) for step in (1, 2))
        lines = [["Run", "Step", "Prompt"], ["1", "2", "x"], ["run2", "1", "y"], ["3", "1", "z"]]
        (root / "all.csv").write_text("\n".join(delimiter.join(line) for line in lines))
        preview = preview_folder(root)
        assert [[s.notes.prompt for s in run.steps] for run in preview.runs] == [["", "x"], ["y", ""]]
        assert (preview.side_files[0].used, preview.side_files[0].records) == (2, 3)
        assert "1 records speak of no picture here" in preview.side_files[0].reason

    def test_jsonl_inside_a_run(self, folder: Folder) -> None:
        root = folder(["Fog/1.png", "Fog/2.png"])
        lines = [
            {"step": 1, "prompt": "p\u2028q", "thoughts": ["one", "two"], "config": {"temperature": 0.4}},
            {"step": "2", "usage": {"n": 1}, "input_tokens": 5, "cost_usd": "0.13", "model_version": "m"},
        ]
        text = "\n".join(json.dumps(line, ensure_ascii=False) for line in lines)
        (root / "Fog/log.jsonl").write_text(text + "\n{broken\n", "utf-8")
        preview = preview_folder(root)
        one, two = only_run(preview).steps
        assert one.notes.prompt == "p\u2028q"
        assert one.notes.reasoning == "one\n\ntwo"
        assert one.notes.settings == {"temperature": 0.4}
        assert (two.notes.input_tokens, two.notes.cost_usd, two.notes.model_version) == (5, 0.13, "m")
        assert two.notes.settings == {"usage": {"n": 1}}
        assert preview.side_files[0].reason == "1 lines are no JSON object, the first is line 3"

    def test_json_of_a_run_tells_the_run(self, folder: Folder) -> None:
        root = folder(["Fog/0.png", "Fog/1.png", "Fog/2.png"])
        about = {"model": "flux", "protocol": "blur", "prompt": "Blur it.", "temperature": 0, "run": "4"}
        (root / "Fog/metadata.json").write_text(json.dumps(about))
        run = only_run(preview_folder(root))
        assert (run.model, run.protocol, run.repeat) == ("flux", "blur", 4)
        assert run.settings == {"temperature": 0}
        assert [step.notes.prompt for step in run.steps] == ["", "Blur it.", "Blur it."]

    @pytest.mark.parametrize(
        "content",
        [
            [{"step": 1, "prompt": "x"}],
            {"steps": [{"step": 1, "prompt": "x"}]},
            {"1": {"prompt": "x"}},
            {"step_1": "x"},
            {"1.png": "x"},
            {"1.png": {"prompt": "x"}},
            [{"image": "images/Fog/1.png", "prompt": "x"}],
            [{"file_name": "1", "instruction": "x"}],
        ],
    )
    def test_shapes_of_json(self, folder: Folder, content: object) -> None:
        root = folder(["Fog/1.png", "Fog/2.png"])
        (root / "Fog/notes.json").write_text(json.dumps(content))
        assert [step.notes.prompt for step in only_run(preview_folder(root)).steps] == ["x", ""]

    def test_json_beside_its_picture(self, folder: Folder) -> None:
        root = folder(["Fog/step_1.png", "Fog/step_2.png"])
        (root / "Fog/step_2.json").write_text('{"prompt": "x", "seed": 3}')
        steps = only_run(preview_folder(root)).steps
        assert [step.notes.prompt for step in steps] == ["", "x"]
        assert steps[1].notes.settings == {"seed": 3}

    def test_a_name_that_means_several_pictures_means_none(self, folder: Folder) -> None:
        root = folder(["Fog/1.png", "Sand/1.png"])
        (root / "p.csv").write_text("file,prompt\n1.png,x\nSand/1.png,y\n")
        preview = preview_folder(root)
        assert [run.steps[0].notes.prompt for run in preview.runs] == ["", "y"]
        assert preview.side_files[0].used == 1

    @pytest.mark.parametrize(
        ("name", "content", "reason"),
        [
            ("x.json", b"{", "can't be understood"),
            ("x.json", b"[" * 100_000, "can't be understood"),
            ("x.json", b"\xff\xfe", "not UTF-8"),
            ("x.jsonl", b"no\njson\n", "no line of it is a JSON object"),
            ("x.csv", b'file,prompt\n1.png,"' + b"x" * 200_000, "can't be understood"),
        ],
    )
    def test_broken_ones_are_told_and_harm_nothing(
        self, folder: Folder, name: str, content: bytes, reason: str
    ) -> None:
        root = folder(["Fog/1.png"])
        (root / name).write_bytes(content)
        preview = preview_folder(root)
        assert preview.step_count == 1
        assert reason in preview.side_files[0].reason
        assert preview.side_files[0].used == 0

    @pytest.mark.parametrize("content", ["", "[]", "{}", "null", "7", '["a"]', '{"a": NaN}'])
    def test_ones_that_say_nothing(self, folder: Folder, content: str) -> None:
        root = folder(["Fog/1.png"])
        (root / "x.json").write_text(content)
        assert preview_folder(root).step_count == 1
