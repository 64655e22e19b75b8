"""Tags for other programs: each form is read with that program's own reader where there is one."""

from __future__ import annotations

import contextlib
import csv
import io
import json
import re
import sys

import numpy as np
import pytest
from PIL import Image as Pillow
from pycocotools.coco import COCO

from banana100_core.errors import ImageError, ProjectError
from banana100_core.exchange.export_tags import Form, count_tags, export_tags
from banana100_core.exchange.export_tags.only import Only
from banana100_core.imaging.decode import inspect
from banana100_core.project.images import NewImage
from banana100_core.project.records import NewRegion, NewRun, NewStep, NewTag, Outcome, RegionKind
from banana100_core.project.regions import add_region, edit_regions, regions
from banana100_core.project.runs import add_run, add_steps, run
from banana100_core.project.tags import add_tag

RED = (200, 10, 20)
BOX = ((10, 20), (30, 26))  # of the red pixels in the upright picture


def red_box(width, height, *, form="PNG", orientation=1) -> bytes:
    """A grey picture with a red box at BOX once it is upright; noise would hide an error of one pixel."""
    pixels = np.full((height, width, 3), 128, np.uint8)
    (left, top), (right, bottom) = BOX
    pixels[top:bottom, left:right] = RED
    upright = Pillow.fromarray(pixels)
    # What EXIF's 6 turns by 90 degrees clockwise.
    stored = upright.transpose(Pillow.Transpose.ROTATE_90) if orientation == 6 else upright
    exif = Pillow.Exif()
    exif[0x0112] = orientation
    stream = io.BytesIO()
    stored.save(stream, form, exif=exif, **({"quality": 100, "subsampling": 0} if form == "JPEG" else {}))
    return stream.getvalue()


@pytest.fixture
def run_id(project):
    """Steps 0 to 4: step 2 is turned by its EXIF alone, step 3 failed, step 4 is twice as large."""
    run_id = add_run(project, NewRun("Dongpo 🍌", "codec_loss", "jpeg", "replicate", steps_planned=4))
    pictures = {
        0: red_box(64, 48),
        1: red_box(64, 48),
        2: red_box(64, 48, form="JPEG", orientation=6),
        4: np.asarray(Pillow.open(io.BytesIO(red_box(64, 48)))).repeat(2, 0).repeat(2, 1),
    }
    stream = io.BytesIO()
    Pillow.fromarray(pictures[4]).save(stream, "TIFF")
    pictures[4] = stream.getvalue()
    add_steps(
        project,
        [
            (
                NewStep(run_id, number, Outcome.DONE if number else Outcome.INITIAL),
                NewImage(inspect(data), data),
            )
            for number, data in pictures.items()
        ]
        + [(NewStep(run_id, 3, Outcome.FAILED, reason="refused"), None)],
    )
    return run_id


@pytest.fixture
def tagged(project, run_id):
    """Ann's tag with the red box and a triangle, and Bob's without a region."""
    ann = add_tag(project, "Ann", NewTag(run_id, "green_tint", 1, severity=3, note='=1+1, "so" <b>\nand on'))
    add_region(project, "Ann", ann.uuid, NewRegion(1, RegionKind.BOX, BOX))
    triangle = ((0, 0), (20, 0), (0, 10))
    bob = add_tag(project, "Bob", NewTag(run_id, "wrinkles", 2, 2))
    add_region(project, "Bob", bob.uuid, NewRegion(2, RegionKind.POLYGON, triangle))
    add_tag(project, "Bob", NewTag(run_id, "texture_loss", 4, certainty=0.5))
    return run_id


def is_red(pixels) -> np.ndarray:
    return np.abs(np.asarray(pixels.convert("RGB")).astype(int) - RED).max(axis=2) < 30


def open_coco(file) -> COCO:
    with contextlib.redirect_stdout(io.StringIO()):
        return COCO(str(file))


def test_a_box_cut_out_of_an_exported_picture_holds_the_outlined_pixels(project, tagged, tmp_path):
    done = export_tags(project, tmp_path / "coco", Form.COCO)
    assert (done.tags, done.regions, done.pictures) == (3, 2, 4)
    coco = open_coco(tmp_path / "coco" / "annotations.json")
    green = coco.getCatIds(catNms=["green_tint"])
    boxes = coco.loadAnns(coco.getAnnIds(catIds=green))
    steps = []
    for box in boxes:
        (image,) = coco.loadImgs([box["image_id"]])
        steps.append(image["step"])
        with Pillow.open(tmp_path / "coco" / image["file_name"]) as picture:
            assert picture.size == (image["width"], image["height"])
            assert picture.getexif().get(0x0112, 1) == 1
            left, top, width, height = box["bbox"]
            red = is_red(picture)
            inside = red[round(top) : round(top + height), round(left) : round(left + width)]
        assert inside.all()
        assert inside.size == red.sum() == box["area"]
        assert (coco.annToMask(box).astype(bool) == red).all()
    assert steps == [1, 2, 4]


def test_a_region_that_has_ended_is_in_no_later_picture(project, tagged, tmp_path):
    (box, _) = regions(project)
    edit_regions(project, "Ann", box.tag_uuid, {box.uuid: NewRegion(1, RegionKind.BOX, BOX, end_step=2)})
    export_tags(project, tmp_path / "coco", Form.COCO)
    coco = open_coco(tmp_path / "coco" / "annotations.json")
    boxes = coco.loadAnns(coco.getAnnIds(catIds=coco.getCatIds(catNms=["green_tint"])))
    assert [coco.loadImgs([each["image_id"]])[0]["step"] for each in boxes] == [1, 2]
    assert coco.dataset["tags"][0]["regions"][0]["end_step"] == 2
    export_tags(project, tmp_path / "folder", Form.IMAGE_FOLDER)
    lines = map(json.loads, (tmp_path / "folder/metadata.jsonl").read_text().splitlines())
    assert [(line["step"], line["objects"]["tag_uuid"].count(box.tag_uuid)) for line in lines] == [
        (0, 0),
        (1, 1),
        (2, 1),
        (4, 0),
    ]
    export_tags(project, tmp_path / "label-studio", Form.LABEL_STUDIO)
    tasks = json.loads((tmp_path / "label-studio/tasks.json").read_text())
    results = [json.dumps(task["annotations"]).count(box.uuid) for task in tasks]
    assert results == [0, 1, 1, 0]


def test_coco_tells_all_of_a_tag(project, tagged, tmp_path):
    export_tags(project, tmp_path / "coco", Form.COCO)
    coco = open_coco(tmp_path / "coco" / "annotations.json")
    polygon = coco.loadAnns(coco.getAnnIds(catIds=coco.getCatIds(catNms=["wrinkles"])))
    assert len(polygon) == 1
    assert polygon[0]["segmentation"] == [[0, 0, 20, 0, 0, 10]]
    assert (polygon[0]["area"], polygon[0]["bbox"]) == (100, [0, 0, 20, 10])
    assert polygon[0]["attributes"]["annotator"] == "Bob"
    assert coco.loadImgs(coco.getImgIds())[0]["step"] == 0
    tags = coco.dataset["tags"]
    assert [(tag["failure_mode"], tag["onset"], len(tag["regions"])) for tag in tags] == [
        ("green_tint", 1, 1),
        ("wrinkles", 2, 1),
        ("texture_loss", 4, 0),
    ]
    assert tags[0]["note"] == '=1+1, "so" <b>\nand on'
    assert tags[0]["run_uuid"] == run(project, tagged).uuid
    assert len({annotation["id"] for annotation in coco.dataset["annotations"]}) == 4


def test_received_bytes_are_kept_where_they_are_upright(project, tagged, tmp_path):
    export_tags(project, tmp_path / "out", Form.COCO)
    assert (tmp_path / "out/images/run-0001/step-001.png").read_bytes() == red_box(64, 48)
    assert sorted(file.name for file in (tmp_path / "out/images/run-0001").iterdir()) == [
        "step-000.png",
        "step-001.png",
        "step-002.png",
        "step-004.png",
    ]


def test_label_studio_gets_tasks_as_it_documents_them(project, tagged, tmp_path):
    """Percent of the picture, `from_name` of the labelling configuration, and one result for each region."""
    from xml.etree import ElementTree as ET

    export_tags(project, tmp_path / "ls", Form.LABEL_STUDIO)
    tasks = json.loads((tmp_path / "ls/tasks.json").read_text("utf-8"))
    view = ET.parse(tmp_path / "ls/labels.xml").getroot()
    controls = {control.get("name"): control for control in view}
    assert [task["data"]["step"] for task in tasks] == [0, 1, 2, 4]
    assert tasks[0]["annotations"] == []
    noted = [result["meta"] for note in tasks[2]["annotations"] for result in note["result"][:1]]
    assert [meta["annotator"] for meta in noted] == ["Ann", "Bob"]
    keys = {"boxes": 0, "polygons": 0}
    for task in tasks:
        name = task["data"]["image"].removeprefix("/data/local-files/?d=ls/")
        with Pillow.open(tmp_path / "ls" / name) as picture:
            for result in (found for note in task["annotations"] for found in note["result"]):
                control = controls[result["from_name"]]
                assert control.get("toName") == result["to_name"] == "image"
                assert control.tag.lower() == result["type"]
                labels = {label.get("value") for label in control}
                value = result["value"]
                assert set(value[result["type"]]) <= labels
                if result["type"] == "choices":
                    continue
                assert (result["original_width"], result["original_height"]) == picture.size
                if result["type"] == "polygonlabels":
                    keys["polygons"] += 1
                    assert value["points"] == [[0, 0], [31.25, 0], [0, pytest.approx(100 * 10 / 48)]]
                    continue
                keys["boxes"] += 1
                x, y = value["x"] * picture.width / 100, value["y"] * picture.height / 100
                scale = picture.width // 64
                assert (x, y) == pytest.approx((10 * scale, 20 * scale))
    assert keys == {"boxes": 3, "polygons": 1}


def rows_of(file) -> list[dict[str, str]]:
    with file.open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


def test_csv_has_a_row_for_each_region_and_each_tag_without(project, tagged, tmp_path):
    export_tags(project, tmp_path / "tags.csv", Form.CSV)
    rows = rows_of(tmp_path / "tags.csv")
    assert [(row["failure_mode"], row["region_kind"], row["end_step"]) for row in rows] == [
        ("green_tint", "box", ""),
        ("wrinkles", "polygon", "2"),
        ("texture_loss", "", ""),
    ]
    assert rows[0]["note"] == '=1+1, "so" <b>\nand on'
    assert rows[0]["initial_image"] == "Dongpo 🍌"
    assert json.loads(rows[0]["region_points"]) == [[10, 20], [30, 26]]


def test_parquet_has_the_same_rows_with_types(project, tagged, tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet")
    export_tags(project, tmp_path / "tags.parquet", Form.PARQUET)
    export_tags(project, tmp_path / "tags.csv", Form.CSV)
    rows = parquet.read_table(tmp_path / "tags.parquet").to_pylist()
    as_text = [{name: "" if value is None else str(value) for name, value in row.items()} for row in rows]
    assert as_text == rows_of(tmp_path / "tags.csv")
    assert (rows[0]["onset"], rows[0]["end_step"], rows[2]["certainty"]) == (1, None, 0.5)


def test_parquet_without_its_library_says_what_to_install(project, tagged, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ProjectError, match=r"banana100-inspector\[parquet\]"):
        export_tags(project, tmp_path / "tags.parquet", Form.PARQUET)
    assert not list(tmp_path.glob("tags*"))


def test_an_image_folder_has_a_line_for_each_picture(project, tagged, tmp_path):
    export_tags(project, tmp_path / "hf", Form.IMAGE_FOLDER)
    lines = [json.loads(line) for line in (tmp_path / "hf/metadata.jsonl").read_text("utf-8").splitlines()]
    assert [line["step"] for line in lines] == [0, 1, 2, 4]
    assert [line["failure_modes"] for line in lines] == [
        [],
        ["green_tint"],
        ["green_tint", "wrinkles"],
        ["green_tint", "texture_loss"],
    ]
    assert lines[3]["objects"]["bbox"] == [[20, 40, 40, 12]]
    for line in lines:
        with Pillow.open(tmp_path / "hf" / line["file_name"]) as picture:
            assert picture.size == (line["width"], line["height"])


def test_only_some_runs(project, tagged, tmp_path):
    other = add_run(project, NewRun("Other", "codec_loss", "jpeg", "replicate", steps_planned=4))
    done = export_tags(project, tmp_path / "a.csv", Form.CSV, run_ids=[other])
    assert (done.tags, rows_of(tmp_path / "a.csv")) == (0, [])
    with pytest.raises(ProjectError, match="no run 9"):
        export_tags(project, tmp_path / "b.csv", Form.CSV, run_ids=[9])


@pytest.mark.parametrize("form", list(Form))
def test_nothing_is_written_over(project, tagged, tmp_path, form):
    (tmp_path / "there").write_text("mine")
    with pytest.raises(ProjectError, match="exists already"):
        export_tags(project, tmp_path / "there", form)
    with pytest.raises(ProjectError, match="no folder"):
        export_tags(project, tmp_path / "nowhere" / "out", form)
    assert (tmp_path / "there").read_text() == "mine"


def test_a_picture_that_is_gone_leaves_no_half_export(project, tagged, tmp_path):
    project.write(lambda database: database.execute("DELETE FROM blob WHERE rowid = 2"))
    before = sorted(tmp_path.iterdir())
    with pytest.raises(ImageError, match="missing"):
        export_tags(project, tmp_path / "out", Form.COCO)
    assert sorted(tmp_path.iterdir()) == before
    assert len(regions(project)) == 2


def exported(project, tmp_path, *only, run_ids=None):
    """The failure modes of what `only` leaves."""
    out = tmp_path / f"{len(list(tmp_path.iterdir()))}.csv"
    export_tags(project, out, Form.CSV, run_ids=run_ids, only=Only.of(only))
    with out.open(encoding="utf-8", newline="") as file:
        return [row["failure_mode"] for row in csv.DictReader(file)]


def test_only_what_is_asked_for_is_exported(project, tagged, tmp_path):
    assert sorted(exported(project, tmp_path)) == ["green_tint", "texture_loss", "wrinkles"]
    assert exported(project, tmp_path, "annotator=Ann") == ["green_tint"]
    assert exported(project, tmp_path, "failure_mode=wrinkles", "failure_mode=texture_loss") == [
        "wrinkles",
        "texture_loss",
    ]
    # A kind goes with what it is a kind of.
    assert exported(project, tmp_path, "failure_mode=persistent_noise") == ["green_tint", "wrinkles"]
    assert exported(project, tmp_path, "annotator=Bob", "failure_mode=green_tint") == []
    assert exported(project, tmp_path, "review_state=accepted") == []
    assert exported(project, tmp_path, "level=image", "model=jpeg") == exported(project, tmp_path)
    assert exported(project, tmp_path, "initial_image=Fog") == []


@pytest.mark.parametrize("wrong", ["annotator", "annotator=", "colour=red", "=x"])
def test_a_choice_that_cannot_be_is_named(wrong):
    with pytest.raises(ProjectError, match=re.escape(repr(wrong))):
        Only.of([wrong])


def test_an_export_is_counted_before_it_is_written(project, tagged, tmp_path):
    counted = count_tags(project, tmp_path / "coco", Form.COCO, only=Only.of(["annotator=Ann"]))
    assert not (tmp_path / "coco").exists()
    assert counted == export_tags(project, tmp_path / "coco", Form.COCO, only=Only.of(["annotator=Ann"]))
    assert (counted.tags, counted.regions, counted.pictures) == (1, 1, 4)
    assert count_tags(project, tmp_path / "x.csv", Form.CSV).pictures == 0


def test_an_export_that_is_ended_leaves_nothing(project, tagged, tmp_path):
    class EndedError(Exception):
        pass

    def end(done: int, total: int, what: str) -> None:
        if done == 2:
            raise EndedError

    for form in (Form.COCO, Form.LABEL_STUDIO, Form.IMAGE_FOLDER):
        before = sorted(tmp_path.iterdir())
        with pytest.raises(EndedError):
            export_tags(project, tmp_path / "out", form, progress=end)
        assert sorted(tmp_path.iterdir()) == before
