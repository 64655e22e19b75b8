from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from banana100_core.errors import ImportFilesError
from banana100_core.exchange.pico import import_pico, preview_pico
from banana100_core.project.records import Outcome
from banana100_core.project.runs import runs, steps

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from banana100_core.project import Project


def line(
    name: str, turns: int, original: str = "https://example.org/photos/x1.jpg", **more: Any
) -> dict[str, Any]:
    folder = "images/multi-turn"
    files = [{"id": f"edit_turn{n}", "url": f"{folder}/{name}_turn{n}.png"} for n in range(1, turns)]
    files += [
        {"id": "final_image", "url": f"{folder}/{name}_turn{turns}.png"},
        {"id": "original_input_image", "url": original},
    ]
    return {"files": files, "metadata_edit_turn_prompts": [f"edit {n}" for n in range(1, turns + 1)], **more}


@pytest.fixture
def base(tmp_path: Path) -> Path:
    base = tmp_path / "base"
    (base / "images/multi-turn").mkdir(parents=True)
    return base


@pytest.fixture
def listed(tmp_path: Path) -> Callable[..., Path]:
    def write(*lines: object) -> Path:
        path = tmp_path / "multi-turn.jsonl"
        texts = (item if isinstance(item, str) else json.dumps(item) for item in lines)
        path.write_text("\n".join(texts) + "\n", "utf-8")
        return path

    return write


def put(base: Path, make_png: Callable, name: str, *turns: int) -> None:
    for turn in turns:
        (base / f"images/multi-turn/{name}_turn{turn}.png").write_bytes(
            make_png(8, 8, hash((name, turn)) % 9999)
        )


def test_the_final_image_is_the_last_turn(
    project: Project, base: Path, listed: Callable[..., Path], make_png: Callable
) -> None:
    put(base, make_png, "101_attemptB", 1, 2, 3, 4, 5)
    preview = preview_pico(listed(line("101_attemptB", 5)), base)
    report = import_pico(project, preview)
    assert (report.runs_added, report.steps_added) == (1, 5)
    (run,) = runs(project)
    assert (run.initial_image, run.provider, run.protocol) == ("x1", "pico-banana-400k", "multi-turn")
    found = steps(project, run.id)
    assert [(step.number, step.prompt, step.outcome) for step in found] == [
        (number, f"edit {number}", Outcome.DONE) for number in range(1, 6)
    ]
    assert found[-1].settings["source_path"].endswith("101_attemptB_turn5.png")
    assert import_pico(project, preview_pico(listed(line("101_attemptB", 5)), base)).steps_added == 0


@pytest.mark.parametrize("place", ["x1.jpg", "openimage_source_images/x1.jpg"])
def test_the_original_is_taken_only_from_the_disk(
    base: Path, listed: Callable[..., Path], make_png: Callable, place: str
) -> None:
    put(base, make_png, "1_attemptA", 1, 2)
    path = listed(line("1_attemptA", 2))
    assert not preview_pico(path, base).runs[0].has_initial
    (base / place).parent.mkdir(exist_ok=True)
    (base / place).write_bytes(make_png())
    run = preview_pico(path, base).runs[0]
    assert run.has_initial
    assert run.steps[0].file == base / place
    assert run.steps[0].notes.prompt == ""


def test_turns_without_a_file_are_gaps(base: Path, listed: Callable[..., Path], make_png: Callable) -> None:
    put(base, make_png, "1_attemptA", 1, 4)
    preview = preview_pico(listed(line("1_attemptA", 4), line("2_attemptA", 3)), base)
    (run,) = preview.runs
    assert run.missing == (2, 3)
    assert [remark.reason for remark in preview.ignored] == [f"1 sequence has no image below {base}"]


def test_attempts_from_one_original_are_repeats(
    base: Path, listed: Callable[..., Path], make_png: Callable
) -> None:
    for name in ("7_attemptA", "7_attemptB"):
        put(base, make_png, name, 1, 2)
    lines = [line("7_attemptA", 2), line("7_attemptB", 2), line("7_attemptA", 2)]
    runs = preview_pico(listed(*lines), base).runs
    assert [(run.title, run.repeat) for run in runs] == [("7_attemptA", 1), ("7_attemptB", 2)]


def test_lines_that_cannot_be_used_are_told_by_number(
    base: Path, listed: Callable[..., Path], make_png: Callable
) -> None:
    put(base, make_png, "1_attemptA", 1, 2)
    single_turn = {"open_image_input_url": "x", "text": "y", "output_image": "z"}
    nothing = {"files": [], "metadata_edit_turn_prompts": []}
    path = listed("{broken", "", "[]", single_turn, nothing, line("1_attemptA", 2))
    preview = preview_pico(path, base)
    assert len(preview.runs) == 1
    assert [remark.reason for remark in preview.ignored] == [
        "line 1: is no JSON object",
        "line 3: lacks files or metadata_edit_turn_prompts; is it the multi-turn list?",
        "line 4: lacks files or metadata_edit_turn_prompts; is it the multi-turn list?",
        "line 5: names no turn",
    ]


@pytest.mark.parametrize(
    "url", ["../outside.png", "/etc/hostname", "file:///etc/hostname", "a\\..\\..\\outside.png"]
)
def test_addresses_never_lead_out_of_the_base(
    base: Path, listed: Callable[..., Path], make_png: Callable, url: str
) -> None:
    (base.parent / "outside.png").write_bytes(make_png())
    item = {"files": [{"id": "final_image", "url": url}], "metadata_edit_turn_prompts": ["x"]}
    assert preview_pico(listed(item), base).runs == ()


def test_files_that_are_no_pictures_are_told(
    base: Path, listed: Callable[..., Path], make_png: Callable
) -> None:
    put(base, make_png, "1_attemptA", 1, 2)
    (base / "images/multi-turn/1_attemptA_turn2.png").write_bytes(b"")
    preview = preview_pico(listed(line("1_attemptA", 2)), base)
    assert [remark.path.name for remark in preview.unreadable] == ["1_attemptA_turn2.png"]


def test_a_missing_list_or_base_is_an_error_with_a_way_out(tmp_path: Path, base: Path) -> None:
    with pytest.raises(ImportFilesError, match="There is no folder"):
        preview_pico(tmp_path / "x.jsonl", tmp_path / "nowhere")
    with pytest.raises(ImportFilesError, match=r"x\.jsonl can't be read"):
        preview_pico(tmp_path / "x.jsonl", base)
    (tmp_path / "x.jsonl").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ImportFilesError, match="not UTF-8"):
        preview_pico(tmp_path / "x.jsonl", base)
