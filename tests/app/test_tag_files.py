"""Exporting and importing tags in the window."""

from __future__ import annotations

import csv
import json

import pytest

from app.tag_files.export_dialog import FORMS, ExportDialog
from banana100_core.exchange.export_tags import Form
from banana100_core.project import Project
from banana100_core.project.records import NewRegion, NewTag, RegionKind
from banana100_core.project.regions import add_region
from banana100_core.project.tags import add_tag


@pytest.fixture
def tagged(study):
    with Project.open(study) as project:
        tag = add_tag(project, "Ada", NewTag(1, "green_tint", 2))
        add_region(project, "Ada", tag.uuid, NewRegion(2, RegionKind.BOX, ((4, 4), (20, 20))))
        add_tag(project, "Bo", NewTag(3, "wrinkles", 1))
    return study


@pytest.fixture
def export(qtbot, session, tagged):
    session.adopt_project(Project.open(tagged))
    dialog = ExportDialog(session)
    qtbot.addWidget(dialog)
    dialog.show()
    qtbot.waitUntil(lambda: dialog.annotators.count() == 3 and dialog.action.isEnabled())
    yield dialog
    dialog.reject()


def choose(dialog, form):
    dialog.forms.setCurrentIndex([each[0] for each in FORMS].index(form))


def exported(qtbot, dialog):
    with qtbot.waitSignal(dialog.finished_work) as done:
        dialog.action.click()
    return done.args[0]


def test_counts_are_shown_before_anything_is_written(export, qtbot, tagged):
    qtbot.waitUntil(lambda: export.heading.text() == "2 tags, 1 region, 20 pictures to export")
    export.annotators.setCurrentText("Bo")
    qtbot.waitUntil(lambda: export.heading.text() == "1 tag, 0 regions, 20 pictures to export")
    choose(export, Form.CSV)
    qtbot.waitUntil(lambda: export.heading.text() == "1 tag, 0 regions to export")
    assert export.out == tagged.with_name("study-csv.csv")
    assert not export.out.exists()


def test_everything_is_exported_unless_runs_are_chosen(export, session, qtbot):
    session.selected_runs = [3]
    choose(export, Form.COCO)
    out = export.out
    assert "2 tags, 1 region, 20 pictures exported" in exported(qtbot, export)
    data = json.loads((out / "annotations.json").read_text("utf-8"))
    assert len(data["images"]) == 20
    assert len(list(out.rglob("*.png"))) == 20


def test_only_chosen_runs(export, session, qtbot):
    session.selected_runs = [3]
    choose(export, Form.CSV)
    export.chosen_runs.setChecked(True)
    out = export.out
    exported(qtbot, export)
    with out.open(encoding="utf-8", newline="") as file:
        assert [row["failure_mode"] for row in csv.DictReader(file)] == ["wrinkles"]


def test_a_place_that_is_taken_is_refused(export, tagged):
    export.place.setText(str(tagged))
    assert "exists already" in export.trouble.text()
    assert not export.action.isEnabled()


def test_a_place_that_cannot_be_written_is_said_and_another_can_be_chosen(export, qtbot, tagged):
    choose(export, Form.CSV)
    export.place.setText(str(tagged.parent / "nowhere" / "tags.csv"))
    export.action.click()
    qtbot.waitUntil(lambda: "There is no folder" in export.trouble.text())
    export.place.setText(str(tagged.parent / "tags.csv"))
    exported(qtbot, export)


def test_leaving_ends_the_export_and_nothing_stays(export, tagged):
    choose(export, Form.IMAGE_FOLDER)
    out = export.out
    export.action.click()
    export.reject()
    # Either it was whole before it was left, or there is nothing.
    assert not [path for path in tagged.parent.iterdir() if path.name.startswith(f".{out.name}")]
    assert not out.exists() or (out / "metadata.jsonl").exists()
