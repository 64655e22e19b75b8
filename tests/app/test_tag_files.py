"""Exporting and importing tags in the window."""

from __future__ import annotations

import csv
import json

import pytest

from app.tag_files.categories import MAKE_NEW
from app.tag_files.export_dialog import FORMS, ExportDialog
from app.tag_files.import_dialog import ImportTagsDialog
from banana100_core.exchange.export_tags import Form, export_tags
from banana100_core.project import Project
from banana100_core.project.failure_modes import failure_modes
from banana100_core.project.records import NewRegion, NewTag, RegionKind
from banana100_core.project.regions import add_region
from banana100_core.project.tags import add_tag, change_tag, tags


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


@pytest.fixture
def import_(qtbot, session, tagged):
    """Opens the dialog on a file and waits until it was understood."""
    session.adopt_project(Project.open(tagged))
    opened = []

    def open_on(file):
        dialog = ImportTagsDialog(session, file)
        qtbot.addWidget(dialog)
        dialog.show()
        opened.append(dialog)
        qtbot.waitUntil(lambda: not dialog.working and "Reading" not in dialog.heading.text())
        return dialog

    yield open_on
    for dialog in opened:
        dialog.reject()


def test_a_csv_is_shown_before_it_is_imported(import_, session, qtbot, tmp_path):
    run = session.runs[1]
    file = tmp_path / "tags.csv"
    file.write_text(
        f"run_uuid,failure_mode,annotator,onset\n{run.uuid},green_tint,Cy,3\n{run.uuid},no_such_mode,Cy,3\n",
        "utf-8",
    )
    dialog = import_(file)
    assert dialog.heading.text() == "tags.csv: 1 tag to add, 0 to change, 0 the same"
    assert "no failure mode 'no_such_mode'" in dialog.text.toPlainText()
    assert tags(session.project, run.id) == []
    text = exported(qtbot, dialog)
    (backup,) = session.project.path.parent.glob("*.bak")
    assert str(backup) in text
    assert [(tag.annotator, tag.onset) for tag in tags(session.project, run.id)] == [("Cy", 3)]


def test_a_tag_edited_on_both_sides_stays_unless_the_files_is_asked_for(import_, session, qtbot, tmp_path):
    export_tags(session.project, tmp_path / "tags.csv", Form.CSV)
    (tag,) = tags(session.project, 1)
    change_tag(session.project, "Ada", tag.uuid, onset=4)
    dialog = import_(tmp_path / "tags.csv")
    assert "1 tag says something else here" in dialog.text.toPlainText()
    dialog.theirs.setChecked(True)
    qtbot.waitUntil(lambda: "1 to change" in dialog.heading.text())
    exported(qtbot, dialog)
    assert tags(session.project, 1)[0].onset == 2


def test_another_programs_coco_asks_whose_and_which(import_, session, qtbot, tmp_path):
    file = tmp_path / "cvat.json"
    shape = {"bbox": [4, 4, 20, 20]}
    file.write_text(
        json.dumps(
            {
                "images": [
                    {"id": n, "file_name": f"run-0002/step-{n:03}.png", "width": 96, "height": 64}
                    for n in (1, 2, 9)
                ],
                "categories": [
                    {"id": 1, "name": "green tint"},
                    {"id": 2, "name": "Halo"},
                    {"id": 3, "name": "x"},
                ],
                "annotations": [
                    {"id": n, "image_id": 1 + n % 2, "category_id": n, **shape} for n in (1, 2, 3)
                ],
            }
        ),
        "utf-8",
    )
    dialog = import_(file)
    qtbot.waitUntil(lambda: "1 tag to add" in dialog.heading.text())
    assert "2 of 3 pictures are steps" in dialog.text.toPlainText()
    assert "run-0002/step-009.png: no step has this picture" in dialog.text.toPlainText()
    assert dialog.annotator.text() == "cvat"
    assert dialog.categories.boxes["green tint"].currentText() == "Green tint"
    dialog.categories.boxes["Halo"].setCurrentText(MAKE_NEW)
    dialog.categories.boxes["x"].setCurrentText("Wrinkles along contours")
    qtbot.waitUntil(lambda: "2 tags to add" in dialog.heading.text())
    assert "New failure modes, with their tags: Halo" in dialog.text.toPlainText()
    dialog.annotator.setText("Cy")
    exported(qtbot, dialog)
    found = tags(session.project, 2)
    assert {tag.annotator for tag in found} == {"Cy"}
    assert len(found) == 3
    names = {mode.key: mode.name for mode in failure_modes(session.project)}
    assert {names[tag.failure_mode] for tag in found} == {"Green tint", "Halo", "Wrinkles along contours"}


def test_a_file_that_cannot_be_understood_is_said(import_, tmp_path):
    (tmp_path / "x.json").write_text("{", "utf-8")
    dialog = import_(tmp_path / "x.json")
    assert "is no JSON" in dialog.trouble.text()
    assert not dialog.action.isEnabled()
