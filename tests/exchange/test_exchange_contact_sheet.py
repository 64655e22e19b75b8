from __future__ import annotations

import io
from typing import TYPE_CHECKING

import numpy as np
import pytest
from PIL import Image

from banana100_core.errors import ImageError, ProjectError
from banana100_core.exchange.contact_sheet import contact_sheet
from banana100_core.exchange.folder import import_folder, preview_folder
from banana100_core.project.runs import runs

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from banana100_core.project import Project


def flat(colour: tuple[int, int, int], size: tuple[int, int] = (320, 160)) -> bytes:
    stream = io.BytesIO()
    Image.new("RGB", size, colour).save(stream, "PNG")
    return stream.getvalue()


def fill(project: Project, folder: Path, run_count: int = 2, step_count: int = 3) -> list[int]:
    for run in range(1, run_count + 1):
        for step in range(step_count):
            path = folder / f"Fog/replicate/r{run}/{step}.png"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(flat((50 * run % 256, 80 * step % 256, 200)))
    import_folder(project, preview_folder(folder))
    return [run.id for run in runs(project)]


@pytest.fixture
def run_ids(project: Project, tmp_path: Path) -> list[int]:
    return fill(project, tmp_path / "set")


@pytest.mark.parametrize(
    ("ending", "start"), [(".png", b"\x89PNG"), (".JPG", b"\xff\xd8"), (".pdf", b"%PDF")]
)
def test_the_ending_says_the_kind(
    project: Project, run_ids: list[int], tmp_path: Path, ending: str, start: bytes
) -> None:
    out = tmp_path / f"sheet{ending}"
    contact_sheet(project, run_ids, out)
    assert out.read_bytes().startswith(start)
    assert [path.name for path in tmp_path.glob(".*")] == []


def test_runs_are_rows_and_steps_columns(project: Project, run_ids: list[int], tmp_path: Path) -> None:
    contact_sheet(project, run_ids, tmp_path / "sheet.png")
    sheet = np.asarray(Image.open(tmp_path / "sheet.png"))
    assert sheet[0, 0].tolist() == [128, 128, 128]
    for row in (1, 2):
        for step in range(3):
            close = np.abs(sheet.astype(int) - [50 * row, 80 * step, 200]).max(axis=2) <= 3
            ys, xs = np.nonzero(close)
            assert (ys.max() - ys.min() + 1, xs.max() - xs.min() + 1) == (128, 256)
            assert xs.min() == 24 + step * 264
            assert close.sum() == 128 * 256


def test_chosen_steps_only(project: Project, run_ids: list[int], tmp_path: Path) -> None:
    contact_sheet(project, run_ids, tmp_path / "three.png")
    contact_sheet(project, run_ids, tmp_path / "one.png", steps=[2, 2, 77])
    three, one = (Image.open(tmp_path / name).width for name in ("three.png", "one.png"))
    assert three - one == 2 * 264


def test_long_runs_show_a_choice_that_ends_with_the_last(project: Project, tmp_path: Path) -> None:
    run_ids = fill(project, tmp_path / "set", 1, 61)
    contact_sheet(project, run_ids, tmp_path / "sheet.png")
    columns = [0, 1, 2, 5, 10, 15, 20, 30, 40, 50, 60]
    assert Image.open(tmp_path / "sheet.png").width == 2 * 24 + len(columns) * 264 - 8


def test_failed_missing_and_vanished_pictures_leave_a_marked_place(
    project: Project, tmp_path: Path, make_png: Callable
) -> None:
    folder = tmp_path / "set/Fog"
    folder.mkdir(parents=True)
    for step in (1, 2, 3):
        (folder / f"{step}.png").write_bytes(make_png(64, 64, step))
    (folder / "2.png").write_bytes(b"")
    import_folder(project, preview_folder(tmp_path / "set"))
    (folder / "3.png").unlink()
    contact_sheet(project, [runs(project)[0].id], tmp_path / "sheet.png")
    sheet = np.asarray(Image.open(tmp_path / "sheet.png"))
    empty = (sheet == [112, 112, 112]).all(axis=2)
    assert empty[:, 24 + 264 :].sum() > 0.8 * 2 * 256 * 64
    assert empty[:, : 24 + 256].mean() < 0.01  # the edges of letters


def test_a_pdf_of_many_runs_has_pages(project: Project, tmp_path: Path) -> None:
    run_ids = fill(project, tmp_path / "set", 30, 2)
    contact_sheet(project, run_ids, tmp_path / "sheet.pdf")
    assert (tmp_path / "sheet.pdf").read_bytes().count(b"/Type /Page\n") > 3


def test_many_runs_are_drawn_smaller_to_fit(project: Project, tmp_path: Path) -> None:
    run_ids = fill(project, tmp_path / "set", 4, 2)
    contact_sheet(project, run_ids * 100, tmp_path / "sheet.jpg")
    width, height = Image.open(tmp_path / "sheet.jpg").size
    assert width < 24 + 2 * 264
    assert height <= 60_000
    with pytest.raises(ImageError, match=r"800 runs by 2 steps .*; choose fewer, or write a PDF"):
        contact_sheet(project, run_ids * 200, tmp_path / "more.jpg")


def test_texts_from_outside_stay_on_their_line(project: Project, tmp_path: Path, make_png: Callable) -> None:
    folder = tmp_path / "set" / ("line\nbreak <b>" + "long " * 40)
    folder.mkdir(parents=True)
    (folder / "1.png").write_bytes(make_png(64, 64))
    import_folder(project, preview_folder(tmp_path / "set"))
    contact_sheet(project, [runs(project)[0].id], tmp_path / "sheet.png")
    sheet = np.asarray(Image.open(tmp_path / "sheet.png").convert("L"))
    assert (sheet[:, -20:] == 128).all()


def test_another_ending_is_refused_and_nothing_to_draw_said(
    project: Project, run_ids: list[int], tmp_path: Path
) -> None:
    with pytest.raises(ImageError, match=r"sheet\.svg: .*\.png, \.jpg, \.jpeg, \.pdf"):
        contact_sheet(project, run_ids, tmp_path / "sheet.svg")
    with pytest.raises(ProjectError, match="has no steps to draw"):
        contact_sheet(project, [], tmp_path / "sheet.png")
    with pytest.raises(ProjectError, match="has none of these steps: 99"):
        contact_sheet(project, run_ids, tmp_path / "sheet.png", steps=[99])


def test_a_place_that_cannot_be_written_is_said(project: Project, run_ids: list[int], tmp_path: Path) -> None:
    with pytest.raises(ProjectError, match=r"can't be written: No such file or directory"):
        contact_sheet(project, run_ids, tmp_path / "nowhere" / "sheet.png")


def test_progress_is_told_and_stopping_writes_nothing(project, run_ids, tmp_path):
    out = tmp_path / "sheet.png"
    told: list[tuple[int, int, str]] = []
    assert contact_sheet(project, run_ids, out, progress=lambda *said: told.append(said))
    assert [said[:2] for said in told] == [(n + 1, len(run_ids)) for n in range(len(run_ids))]
    before = out.read_bytes()
    assert not contact_sheet(project, run_ids, out, stop=lambda: True)
    assert out.read_bytes() == before
    assert [path.name for path in tmp_path.glob("*sheet*")] == [out.name]
