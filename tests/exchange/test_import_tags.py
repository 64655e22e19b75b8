"""Tags that come back in from CSV and COCO files."""

from __future__ import annotations

import csv
import json
from dataclasses import replace

import pytest

from banana100_core.errors import ImportFilesError
from banana100_core.exchange.export_tags import Form, export_tags
from banana100_core.exchange.import_tags import import_tags
from banana100_core.imaging.decode import inspect
from banana100_core.project import Project
from banana100_core.project.images import NewImage
from banana100_core.project.merge import Prefer
from banana100_core.project.pack import pack
from banana100_core.project.records import (
    NewRegion,
    NewRun,
    NewStep,
    NewTag,
    Outcome,
    RegionKind,
    ReviewState,
)
from banana100_core.project.regions import add_regions, regions
from banana100_core.project.runs import add_run, add_steps, run
from banana100_core.project.tags import add_tag, change_tag, edits, remove_tag, tags, undo

BOX = NewRegion(1, RegionKind.BOX, ((4, 5), (20, 30)))
TRIANGLE = NewRegion(2, RegionKind.POLYGON, ((0, 0), (64, 0), (10.5, 48)))


@pytest.fixture
def run_id(project, make_png):
    run_id = add_run(project, NewRun("Dongpo", "codec_loss", "jpeg", "replicate", steps_planned=3))
    pictures = {number: make_png(seed=number) for number in (1, 2)}
    add_steps(
        project,
        [
            (NewStep(run_id, number, Outcome.DONE), NewImage(inspect(data), data))
            for number, data in pictures.items()
        ],
    )
    return run_id


@pytest.fixture
def untagged(project, run_id, tmp_path):
    """A copy from before anything was tagged."""
    pack(project, tmp_path / "untagged.b100")
    with Project.open(tmp_path / "untagged.b100") as copy:
        yield copy


@pytest.fixture
def tagged(project, untagged, run_id):
    new = NewTag(run_id, "green_tint", 1, 2, 3, 0.25, 'a "note",\n=1+1 🍌', ReviewState.DONE)
    tag = add_tag(project, "Ann", new)
    add_regions(project, "Ann", tag.uuid, [BOX, replace(TRIANGLE, end_step=2)])
    add_tag(project, "Bob", NewTag(run_id, "wrinkles", 2))
    return project


def exported(project, tmp_path, form):
    out = tmp_path / ("tags.csv" if form is Form.CSV else "coco")
    export_tags(project, out, form)
    return out if form is Form.CSV else out / "annotations.json"


def shapes(project) -> list:
    return [
        (region.uuid, region.tag_uuid, region.step, region.end_step or 0, region.kind, region.points)
        for region in regions(project)
    ]


@pytest.mark.parametrize("form", [Form.CSV, Form.COCO])
def test_what_went_out_comes_back_in(tagged, untagged, tmp_path, form):
    file = exported(tagged, tmp_path, form)
    preview = import_tags(untagged, file, dry_run=True)
    assert (preview.added, tags(untagged)) == (2, [])
    report = import_tags(untagged, file)
    assert (report.added, report.left_out, report.conflicts) == (2, [], [])
    assert tags(untagged) == tags(tagged)
    assert sorted(shapes(untagged)) == sorted(shapes(tagged))
    assert {(edit.annotator, edit.action) for edit in edits(untagged)} == {("Ann", "add"), ("Bob", "add")}
    again = import_tags(untagged, file)
    assert (again.added, again.changed, again.unchanged, again.edits) == (0, 0, 2, 0)
    undo(untagged, "Ann")
    assert [tag.annotator for tag in tags(untagged)] == ["Bob"]


@pytest.mark.parametrize("form", [Form.CSV, Form.COCO])
def test_a_file_changes_nothing_of_the_project_it_came_from(tagged, tmp_path, form):
    before = (tags(tagged), regions(tagged), edits(tagged))
    assert import_tags(tagged, exported(tagged, tmp_path, form)).unchanged == 2
    assert (tags(tagged), regions(tagged), edits(tagged)) == before


def test_changes_are_conflicts_and_can_be_undone(tagged, tmp_path):
    file = exported(tagged, tmp_path, Form.CSV)
    ann = next(tag for tag in tags(tagged) if tag.annotator == "Ann")
    change_tag(tagged, "Ann", ann.uuid, severity=1)
    regions_before = shapes(tagged)
    report = import_tags(tagged, file)
    assert [(conflict.fields, conflict.taken) for conflict in report.conflicts] == [(("severity",), "mine")]
    import_tags(tagged, file, prefer=Prefer.THEIRS)
    assert next(tag for tag in tags(tagged) if tag.uuid == ann.uuid).severity == 3
    undo(tagged, "Ann")
    assert next(tag for tag in tags(tagged) if tag.uuid == ann.uuid).severity == 1
    assert shapes(tagged) == regions_before


def test_what_was_removed_comes_back_only_when_asked(tagged, tmp_path):
    file = exported(tagged, tmp_path, Form.CSV)
    ann = next(tag for tag in tags(tagged) if tag.annotator == "Ann")
    remove_tag(tagged, "Ann", ann.uuid)
    assert [conflict.fields for conflict in import_tags(tagged, file).conflicts] == [("removed",)]
    assert len(tags(tagged)) == 1
    import_tags(tagged, file, prefer=Prefer.THEIRS)
    assert len(tags(tagged)) == len(regions(tagged)) == 2


def write_csv(path, *rows):
    names = list(dict.fromkeys(name for row in rows for name in row))
    with path.open("w", encoding="utf-8-sig", newline="") as file:
        writer = csv.DictWriter(file, names)
        writer.writeheader()
        writer.writerows(rows)
    return path


def test_a_table_by_hand_needs_four_columns_and_is_imported_once(project, run_id, tmp_path):
    row = {
        "run_uuid": run(project, run_id).uuid,
        "failure_mode": "green_tint",
        "annotator": "Änn",
        "onset": 2,
    }
    file = write_csv(tmp_path / "hand.csv", row, row | {"onset": 1})
    assert import_tags(project, file).added == 2
    assert import_tags(project, file).unchanged == 2
    assert [(tag.annotator, tag.onset, tag.severity, tag.certainty) for tag in tags(project)] == [
        ("Änn", 1, 2, 1.0),
        ("Änn", 2, 2, 1.0),
    ]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"run_uuid": "x"}, "no run of the UUID 'x'"),
        ({"failure_mode": "mood"}, "no failure mode 'mood'"),
        ({"annotator": " "}, "no annotator"),
        ({"onset": "soon"}, "onset 'soon'"),
        ({"onset": 0}, "onset 0"),
        ({"onset": 9}, "after 3"),
        ({"onset": 2, "end_step": 1}, "end_step 1"),
        ({"severity": 4}, "severity 4"),
        ({"certainty": "nan"}, "certainty"),
        ({"review_state": "fine"}, "review state 'fine'"),
        ({"region_step": 3, "region_kind": "box", "region_points": "[[1,1],[2,2]]"}, "no picture"),
        ({"region_step": 1, "region_kind": "box", "region_points": "[[1,1],[2,99]]"}, "outside"),
        ({"region_step": 2, "region_kind": "box", "region_points": "[]", "region_end_step": 1}, "end_step 1"),
        ({"region_step": 1, "region_kind": "disc", "region_points": "[[1,1],[2,2]]"}, "no kind"),
        ({"region_step": 1, "region_kind": "box", "region_points": "[[1,"}, "no points"),
    ],
)
def test_what_cant_be_is_left_out_by_name(project, run_id, tmp_path, change, said):
    good = {"run_uuid": run(project, run_id).uuid, "failure_mode": "wrinkles", "annotator": "Ann", "onset": 1}
    report = import_tags(project, write_csv(tmp_path / "a.csv", good, good | {"onset": 2} | change))
    assert [tag.onset for tag in tags(project)] == [1]
    (left,) = report.left_out
    assert said in left.reason


def test_files_that_cant_be_understood_are_said(project, tmp_path):
    (tmp_path / "a.csv").write_text("run,onset\n1,2\n")
    (tmp_path / "b.json").write_text("{")
    (tmp_path / "c.json").write_text(json.dumps({"images": [], "annotations": [], "categories": []}))
    (tmp_path / "d.csv").write_bytes(b"run_uuid\n\xff\xfe\x00")
    for name, said in (("a.csv", "no column run_uuid"), ("b.json", "no JSON"), ("c.json", 'no "tags"')):
        with pytest.raises(ImportFilesError, match=said):
            import_tags(project, tmp_path / name)
    for name in ("d.csv", "nowhere.csv", "nowhere.json"):
        with pytest.raises(ImportFilesError, match=name):
            import_tags(project, tmp_path / name)


@pytest.mark.parametrize(
    "change",
    [{"onset": [1]}, {"note": {"a": 1}}, {"regions": [7]}, {"certainty": []}, {"failure_mode": None}],
)
def test_json_of_other_shapes_is_left_out_or_taken_as_text(tagged, tmp_path, change):
    file = exported(tagged, tmp_path, Form.COCO)
    data = json.loads(file.read_text("utf-8"))
    data["tags"][1] |= {"tag_uuid": "another"} | change
    file.write_text(json.dumps(data))
    report = import_tags(tagged, file)
    assert report.unchanged == 1
    assert report.added + len(report.left_out) == 1
