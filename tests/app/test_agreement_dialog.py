"""Agreement in the window: figures, confusion, and runs one click away."""

from __future__ import annotations

import csv
import io

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest

from app.agreement.dialog import AgreementDialog
from app.blinding import Blinding
from banana100_core.project import Project
from banana100_core.project.records import NewTag
from banana100_core.project.tags import add_tag


@pytest.fixture
def dialog(qtbot, session, study):
    with Project.open(study) as project:
        for run_id, ada, bo in (
            (1, ("green_tint", 2), ("green_tint", 4)),
            (3, ("wrinkles", 3), ("static_noise", 3)),
        ):
            add_tag(project, "Ada", NewTag(run_id, *ada))
            add_tag(project, "Bo", NewTag(run_id, *bo))
    session.adopt_project(Project.open(study))
    dialog = AgreementDialog(session)
    qtbot.addWidget(dialog)
    dialog.show()
    qtbot.waitUntil(lambda: dialog.settled)
    yield dialog
    dialog.reject()


def row_of(table, name):
    return next(row for row in table.rows if row[0] == name)


def test_figures_follow_the_distance_that_is_chosen(dialog):
    assert dialog.heading.text() == "Ada, Bo: 2 runs of two annotators or more"
    headings = [title for title, _tip in dialog.figures.headings]
    green = dict(zip(headings, row_of(dialog.figures, "Green tint"), strict=True))
    assert (green["Runs"], green["Onset apart"], green["Median"], green["Within ±k"]) == (
        *("1", "2.0", "2"),
        "100%",
    )
    dialog.within.setValue(1)
    assert row_of(dialog.figures, "Green tint")[headings.index("Within ±k")] == "0%"
    assert row_of(dialog.figures, "All of level image")


def test_the_confusion_says_who_saw_what(dialog):
    titles = [title for title, _tip in dialog.confusion.headings]
    assert titles == list(dialog.confusion.side)
    assert dialog.confusion.rows[titles.index("Wrinkles along contours")][titles.index("Static noise")] == "1"
    assert dialog.confusion.rows[titles.index("Static noise")][titles.index("Wrinkles along contours")] == ""
    assert "Rows: what Ada saw" in dialog.confusion_words.text()


def test_a_click_on_a_run_goes_to_the_step_in_dispute(dialog, session, qtbot):
    dialog.tabs.setCurrentIndex(2)
    assert [row[1] for row in dialog.runs.rows] == ["1.00", "0.67"]
    table = dialog.run_table
    QTest.mouseClick(
        table.viewport(), Qt.MouseButton.LeftButton, pos=table.visualRect(dialog.runs.index(0, 0)).center()
    )
    assert (session.run.id, session.step) == (3, 3)
    QTest.mouseClick(
        table.viewport(), Qt.MouseButton.LeftButton, pos=table.visualRect(dialog.runs.index(1, 0)).center()
    )
    assert (session.run.id, session.step) == (1, 2)


def test_the_tab_on_screen_is_copied_and_saved_as_csv(dialog, tmp_path):
    dialog.within.setValue(7)
    dialog.copy.click()
    rows = list(csv.DictReader(io.StringIO(QGuiApplication.clipboard().text())))
    within = {row["failure_mode"]: row["onset_within_7"] for row in rows}
    assert (within["green_tint"], within["wrinkles"]) == ("1.0", "")
    dialog.tabs.setCurrentIndex(2)
    dialog.save_csv(tmp_path / "runs.csv")
    assert (tmp_path / "runs.csv").read_text("utf-8").startswith("run_id,initial_image")
    dialog.save_csv(tmp_path / "nowhere" / "runs.csv")
    assert "can't be written" in dialog.heading.text()


def test_it_follows_what_is_tagged(dialog, session, qtbot):
    add_tag(session.project, "Bo", NewTag(2, "green_tint", 1))
    add_tag(session.project, "Ada", NewTag(2, "green_tint", 1))
    qtbot.waitUntil(lambda: len(dialog.runs.rows) == 3)


def test_it_goes_when_tags_of_others_are_to_be_hidden(dialog, session):
    session.set_blinding(Blinding(scores=True))
    assert dialog.isVisible()
    session.set_blinding(Blinding(tags=True))
    assert not dialog.isVisible()


def test_the_window_has_one_of_it(qtbot, window, study):
    window.open_project(study)
    qtbot.waitUntil(lambda: window.session.project is not None)
    for _ in range(2):
        window.registry.qaction("tag.agreement").trigger()
    assert len(window.findChildren(AgreementDialog)) == 1
    window.session.set_blinding(Blinding(tags=True))
    assert not window.registry.qaction("tag.agreement").isEnabled()


def test_a_study_of_one_annotator_is_told_what_to_do(qtbot, session, study):
    session.adopt_project(Project.open(study))
    dialog = AgreementDialog(session)
    qtbot.addWidget(dialog)
    qtbot.waitUntil(lambda: dialog.settled)
    assert "Merge a copy" in dialog.heading.text()
    assert not dialog.tabs.isVisibleTo(dialog)
    dialog.reject()


def test_models_and_steps_that_are_hidden_are_not_told(dialog, session):
    session.set_blinding(Blinding(models=True, steps=True))
    assert dialog.runs.rows[0][:3] == ("Image 2 · replicate · model hidden · r1", "1.00", "")
    dialog.tabs.setCurrentIndex(2)
    first = next(csv.DictReader(io.StringIO(dialog.csv())))
    assert (first["model"], first["first_step"]) == ("model hidden", "")
    session.set_blinding(Blinding())
    assert dialog.runs.rows[0][:3] == ("Image 2 · replicate · realesr-animevideov3-x2 · r1", "1.00", "3")
