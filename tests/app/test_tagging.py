"""The panel of tags: keys, edits in place, undo, and that no edit is lost."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap

import pytest
from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QApplication,
)

from app.tagging import rules
from app.tagging.letters import letter_of
from banana100_core.project import Project
from banana100_core.project.records import NewTag
from banana100_core.project.tags import add_tag, change_tag, edits, tags
from tests.app.faults import limit_pages, locked
from tests.app.tagging_desk import Desk, make_study

CYRILLIC_TE = 0x422  # written by the key that is N on an English board


@pytest.fixture
def study(tmp_path, make_png):
    """A project with two runs of 20 steps; its path."""
    return make_study(tmp_path / "study.b100", make_png)


@pytest.fixture
def desk(qtbot, study):
    desk = Desk(qtbot, study)
    yield desk
    desk.close()


def spans(found):
    return [(tag.failure_mode, tag.onset, tag.end_step) for tag in found]


# Keys


def test_the_taxonomy_is_grouped_by_level_and_each_button_shows_its_key(desk):
    buttons = desk.panel.taxonomy.buttons
    assert buttons["persistent_noise"].key == "N"
    assert "persistent_noise" in buttons
    assert "simplification_bias" in buttons
    assert "Example" in buttons["persistent_noise"].toolTip()


def test_a_key_tags_the_run_at_the_current_step(desk):
    desk.at(7).press(Qt.Key.Key_N)
    assert spans(desk.saved()) == [("persistent_noise", 7, None)]
    assert desk.saved()[0].annotator == "ana"
    assert desk.panel.message.text() == "Persistent noise tagged from step 7."
    assert desk.panel.taxonomy.buttons["persistent_noise"].where == "7 →"


def test_a_click_on_a_failure_mode_does_the_same_and_with_shift_ends_it(desk):
    desk.at(3)
    button = desk.panel.taxonomy.buttons["counting_failure"]
    QTest.mouseClick(button, Qt.MouseButton.LeftButton)
    desk.at(6)
    QTest.mouseClick(button, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.ShiftModifier)
    assert spans(desk.saved()) == [("counting_failure", 3, 6)]


def test_the_key_at_an_earlier_step_moves_the_onset_of_the_open_tag(desk):
    desk.at(12).press(Qt.Key.Key_N)
    desk.at(7).press(Qt.Key.Key_N)
    assert spans(desk.saved()) == [("persistent_noise", 7, None)]
    assert desk.panel.message.text() == "Persistent noise: onset moved from 12 to 7."


def test_the_key_where_the_tag_holds_already_says_so_and_changes_nothing(desk):
    desk.at(7).press(Qt.Key.Key_N)
    desk.at(9).press(Qt.Key.Key_N)
    assert spans(desk.saved()) == [("persistent_noise", 7, None)]
    assert desk.panel.message.text() == "Persistent noise is tagged from step 7 already."
    assert len(edits(desk.project)) == 1


def test_shift_and_the_key_end_the_tag_at_this_step(desk):
    desk.at(7).press(Qt.Key.Key_N)
    desk.at(11).press(Qt.Key.Key_N, Qt.KeyboardModifier.ShiftModifier)
    assert spans(desk.saved()) == [("persistent_noise", 7, 11)]


def test_a_failure_that_comes_back_is_a_tag_of_its_own(desk):
    desk.at(2).press(Qt.Key.Key_N)
    desk.at(4).press(Qt.Key.Key_N, Qt.KeyboardModifier.ShiftModifier)
    desk.at(9).press(Qt.Key.Key_N)
    assert spans(desk.saved()) == [("persistent_noise", 2, 4), ("persistent_noise", 9, None)]


def test_a_key_at_step_0_says_that_the_initial_image_has_no_failure(desk):
    desk.at(0).press(Qt.Key.Key_N)
    assert desk.saved() == []
    assert "Step 0 is the initial image" in desk.panel.message.text()


def test_ending_what_was_never_begun_says_so(desk):
    desk.at(5).press(Qt.Key.Key_N, Qt.KeyboardModifier.ShiftModifier)
    assert desk.saved() == []
    assert "no tag of Persistent noise" in desk.panel.message.text()


def test_ctrl_return_ends_the_tag_begun_last(desk):
    desk.at(3).press(Qt.Key.Key_N)
    desk.at(5).press(Qt.Key.Key_C)
    desk.panel.choose(None)
    desk.at(8)
    desk.registry.qaction("tag.end_here").trigger()
    assert spans(desk.saved()) == [("persistent_noise", 3, None), ("counting_failure", 5, 8)]


@pytest.mark.parametrize("field", ["elsewhere", "memo"])
def test_letters_typed_into_a_text_field_are_text(desk, field):
    widget = getattr(desk, field)
    widget.setFocus()
    desk.at(7).press(Qt.Key.Key_N)
    assert (widget.text() if field == "elsewhere" else widget.toPlainText()).lower() == "n"
    assert desk.panel.board.rows == []


def test_letters_typed_into_the_note_are_text_until_return_leaves_it(desk):
    desk.at(7).press(Qt.Key.Key_N)
    row = desk.panel.rows[0]
    row.note.setFocus()
    desk.press(Qt.Key.Key_C)
    desk.press(Qt.Key.Key_Return)
    assert [tag.note.lower() for tag in desk.saved()] == ["c"]
    desk.press(Qt.Key.Key_C)
    assert {tag.failure_mode for tag in desk.saved()} == {"persistent_noise", "counting_failure"}


def test_a_list_with_the_focus_does_not_take_the_letter_for_a_search(desk):
    desk.box.setFocus()
    desk.at(7).press(Qt.Key.Key_N)
    assert desk.box.currentText() == "south"
    assert spans(desk.saved()) == [("persistent_noise", 7, None)]


def test_keys_that_come_through_the_window_system_go_the_same_way(desk):
    """As from a keyboard: first shortcuts are looked up, then the widget with the focus gets the key."""
    screen = desk.window.windowHandle()
    desk.window.activateWindow()
    desk.box.setFocus()
    desk.at(7)
    QTest.keyClick(screen, Qt.Key.Key_N)
    assert spans(desk.saved()) == [("persistent_noise", 7, None)]
    desk.elsewhere.setFocus()
    QTest.keyClick(screen, Qt.Key.Key_C)
    assert desk.elsewhere.text().lower() == "c"
    assert len(desk.saved()) == 1


def test_keys_with_ctrl_or_alt_are_not_ours(desk):
    desk.at(7).press(Qt.Key.Key_N, Qt.KeyboardModifier.ControlModifier)
    desk.press(Qt.Key.Key_N, Qt.KeyboardModifier.AltModifier)
    assert desk.panel.board.rows == []


def test_keys_are_not_heard_while_the_panel_is_hidden(desk):
    desk.panel.hide()
    desk.at(7).press(Qt.Key.Key_N)
    assert desk.panel.board.rows == []


def test_a_key_held_down_tags_once(desk):
    desk.at(7)
    for repeated in (False, True, True):
        event = QKeyEvent(
            QEvent.Type.KeyPress, Qt.Key.Key_N, Qt.KeyboardModifier.NoModifier, "n", repeated, 1
        )
        QApplication.sendEvent(QApplication.focusWidget() or desk.window, event)
    assert desk.panel.message.text() == "Persistent noise tagged from step 7."


def test_the_same_key_works_under_a_cyrillic_layout(desk):
    desk.at(7)
    event = QKeyEvent(QEvent.Type.KeyPress, CYRILLIC_TE, Qt.KeyboardModifier.NoModifier, 57, 0x6D4, 0, "т")
    QApplication.sendEvent(QApplication.focusWidget() or desk.window, event)
    assert spans(desk.saved()) == [("persistent_noise", 7, None)]


@pytest.mark.parametrize(
    ("platform", "scan_code", "virtual_key"), [("linux", 57, 0x6D4), ("win32", 49, 0x4E), ("darwin", 0, 45)]
)
def test_a_letter_is_known_by_its_key_on_each_platform(platform, scan_code, virtual_key):
    event = QKeyEvent(
        QEvent.Type.KeyPress, CYRILLIC_TE, Qt.KeyboardModifier.NoModifier, scan_code, virtual_key, 0, "т"
    )
    assert letter_of(event, platform) == "N"


@pytest.mark.parametrize("key", [Qt.Key.Key_1, Qt.Key.Key_Adiaeresis, Qt.Key.Key_Left, Qt.Key.Key_Question])
def test_other_keys_are_no_letters_wherever_they_lie(key):
    # The scan code is that of N, which must not count: these layouts have an N of their own.
    event = QKeyEvent(QEvent.Type.KeyPress, key, Qt.KeyboardModifier.NoModifier, 57, 0x4E, 0, "")
    assert letter_of(event, "linux") is None


def test_a_latin_layout_goes_by_the_letter_and_not_by_the_place():
    # On a French board the key with the scan code of Q writes A.
    event = QKeyEvent(QEvent.Type.KeyPress, Qt.Key.Key_A, Qt.KeyboardModifier.NoModifier, 24, 0x61, 0, "a")
    assert letter_of(event, "linux") == "A"


# Rules


def test_a_new_tag_before_a_closed_one_ends_where_that_begins():
    decision = rules.begin("Noise", [rules.Claim(1, 10, 12)], 5)
    assert decision.changes == {"onset": 5, "end_step": 9}


def test_ending_again_elsewhere_moves_the_end():
    decision = rules.end("Noise", [rules.Claim(1, 3, 12)], 8)
    assert (decision.row, decision.changes) == (1, {"end_step": 8})


# Edits in place


def test_everything_of_a_tag_is_edited_in_place(desk):
    desk.at(7).press(Qt.Key.Key_N)
    row = desk.panel.rows[0]
    row.onset.setValue(5)
    row.end_step.setValue(15)
    row.severity.button(3).click()
    row.certainty.setValue(60)
    row.note.setText("from the left")
    row.note.editingFinished.emit()
    (tag,) = desk.saved()
    assert (tag.onset, tag.end_step, tag.severity, tag.certainty, tag.note) == (
        5,
        15,
        3,
        0.6,
        "from the left",
    )
    row.end_step.setValue(row.end_step.minimum())
    assert desk.saved()[0].end_step is None


def test_a_click_on_the_bar_goes_to_that_step(desk):
    desk.at(7).press(Qt.Key.Key_N)
    bar = desk.panel.rows[0].bar
    QTest.mouseClick(bar, Qt.MouseButton.LeftButton, pos=bar.rect().center())
    assert desk.session.step == bar.step_at(bar.rect().center().x())
    assert 9 <= desk.session.step <= 12


def test_del_in_the_list_removes_the_chosen_tag_and_undo_brings_it_back(desk):
    desk.at(7).press(Qt.Key.Key_N)
    desk.saved()
    desk.panel.rows[0].setFocus()
    desk.press(Qt.Key.Key_Delete)
    desk.qtbot.waitUntil(lambda: tags(desk.project) == [])
    desk.registry.qaction("tag.undo").trigger()
    desk.qtbot.waitUntil(lambda: spans(tags(desk.project)) == [("persistent_noise", 7, None)])
    desk.qtbot.waitUntil(lambda: len(desk.panel.rows) == 1)


def test_undo_and_redo_follow_the_log_across_a_restart(qtbot, study):
    desk = Desk(qtbot, study)
    desk.at(7).press(Qt.Key.Key_N)
    desk.at(5).press(Qt.Key.Key_N)
    desk.saved()
    desk.close()
    desk = Desk(qtbot, study)
    qtbot.waitUntil(lambda: len(desk.panel.rows) == 1)
    desk.registry.qaction("tag.undo").trigger()
    qtbot.waitUntil(lambda: [row.wanted.onset for row in desk.panel.board.rows] == [7])
    desk.registry.qaction("tag.undo").trigger()
    qtbot.waitUntil(lambda: desk.panel.board.rows == [])
    desk.registry.qaction("tag.redo").trigger()
    qtbot.waitUntil(lambda: [row.wanted.onset for row in desk.panel.board.rows] == [7])
    desk.registry.qaction("tag.redo").trigger()
    qtbot.waitUntil(lambda: [row.wanted.onset for row in desk.panel.board.rows] == [5])
    desk.registry.qaction("tag.redo").trigger()
    qtbot.waitUntil(lambda: desk.panel.message.text() == "There is nothing to redo.")
    desk.close()


def test_undo_right_after_a_key_takes_back_that_very_edit(desk):
    desk.at(7).press(Qt.Key.Key_N)
    desk.registry.qaction("tag.undo").trigger()
    desk.qtbot.waitUntil(lambda: "Undone" in desk.panel.message.text())
    desk.qtbot.waitUntil(lambda: desk.panel.board.rows == [])
    assert tags(desk.project) == []


def test_tags_of_others_are_shown_with_their_name_and_not_edited(desk):
    add_tag(desk.project, "<b>ben</b>", NewTag(desk.session.run.id, "persistent_noise", 4))
    desk.qtbot.waitUntil(lambda: len(desk.panel.rows) == 1)
    row = desk.panel.rows[0]
    assert row.annotator.text() == "by <b>ben</b>"
    assert row.annotator.textFormat() == Qt.TextFormat.PlainText
    assert not row.annotator.isHidden()
    assert not row.editor.isEnabled()
    desk.panel.choose(row.row_id)
    desk.panel.delete_chosen()
    assert len(tags(desk.project)) == 1
    desk.at(9).press(Qt.Key.Key_N)
    assert [(tag.annotator, tag.onset) for tag in desk.saved()] == [("<b>ben</b>", 4), ("ana", 9)]


def test_the_annotator_is_kept_for_the_next_start(desk):
    from app.settings import Settings

    desk.panel.annotator.setText("ben")
    desk.panel.annotator.editingFinished.emit()
    desk.at(7).press(Qt.Key.Key_N)
    assert [tag.annotator for tag in desk.saved()] == ["ben"]
    assert Settings().text("annotator") == "ben"


def test_the_name_takes_letters_only_while_it_is_changed(desk):
    desk.panel.annotator.setFocus()
    desk.at(7).press(Qt.Key.Key_N)
    assert spans(desk.saved()) == [("persistent_noise", 7, None)]
    QTest.mouseClick(desk.panel.annotator, Qt.MouseButton.LeftButton)
    for key in (Qt.Key.Key_C, Qt.Key.Key_N, Qt.Key.Key_Return):
        desk.press(key)
    assert desk.session.annotator.lower() == "cn"
    desk.press(Qt.Key.Key_C)
    assert [tag.failure_mode for tag in desk.saved()] == ["persistent_noise", "counting_failure"]


def test_tags_belong_to_their_run(desk):
    first, second = (run.id for run in desk.session.runs)
    desk.at(7).press(Qt.Key.Key_N)
    desk.session.choose_run(second)
    desk.at(3).press(Qt.Key.Key_C)
    assert spans(desk.saved()) == [("counting_failure", 3, None)]
    desk.session.choose_run(first)
    desk.qtbot.waitUntil(
        lambda: spans(row.wanted for row in desk.panel.board.rows) == [("persistent_noise", 7, None)]
    )


def test_a_project_open_for_reading_shows_tags_and_takes_none(qtbot, study):
    desk = Desk(qtbot, study)
    desk.at(7).press(Qt.Key.Key_N)
    desk.saved()
    desk.close()
    desk = Desk(qtbot, study, read_only=True)
    qtbot.waitUntil(lambda: len(desk.panel.rows) == 1)
    desk.at(3).press(Qt.Key.Key_C)
    assert desk.panel.message.text() == "This project is open for reading only."
    assert "open for reading only" in desk.panel.empty.text()
    assert not desk.panel.empty.isHidden()
    assert len(desk.panel.board.rows) == 1
    desk.close()


# Nothing is lost


def test_an_edit_that_cannot_be_written_stays_in_sight_and_is_saved_when_there_is_room(desk):
    desk.at(7).press(Qt.Key.Key_N)
    desk.saved()
    limit_pages(desk.project, 1)  # SQLite takes this for "not more than now"
    note = "long " * 200_000
    row = desk.panel.rows[0]
    row.note.setText(note)
    row.note.editingFinished.emit()
    desk.qtbot.waitUntil(lambda: len(desk.panel.board.failed_rows) == 1)
    assert "no space left" in row.trouble.text()
    assert row.retry.isVisible()
    assert desk.panel.unsaved.isVisible()
    assert desk.panel.board.rows[0].wanted.note == note
    desk.registry.qaction("tag.undo").trigger()
    assert "not saved yet" in desk.panel.message.text()
    desk.session.choose_run(desk.session.runs[1].id)
    assert desk.panel.unsaved.isVisible()  # other runs don't hide it
    limit_pages(desk.project, 2**30)
    desk.panel.unsaved.retry.click()
    desk.qtbot.waitUntil(lambda: [tag.note for tag in tags(desk.project)] == [note])
    desk.qtbot.waitUntil(desk.panel.is_settled)
    assert not desk.panel.unsaved.isVisible()


def test_an_edit_that_cannot_be_written_can_be_given_up(desk):
    desk.at(7).press(Qt.Key.Key_N)
    desk.saved()
    limit_pages(desk.project, 1)
    desk.panel.board.change(desk.panel.board.rows[0].id, note="long " * 200_000)
    desk.qtbot.waitUntil(lambda: len(desk.panel.board.failed_rows) == 1)
    desk.panel.unsaved.discard.click()
    assert desk.panel.board.rows[0].wanted.note == ""
    assert desk.panel.board.failed_rows == []


def test_what_cannot_be_written_when_the_project_closes_is_told_kept_and_saved_later(qtbot, study, own_data):
    desk = Desk(qtbot, study)
    desk.at(7).press(Qt.Key.Key_N)
    desk.saved()
    limit_pages(desk.project, 1)
    desk.panel.board.change(desk.panel.board.rows[0].id, note="long " * 200_000)
    with qtbot.waitSignal(desk.session.failed) as told:
        desk.close()
    assert "1 edit" in told.args[0]
    assert "Persistent noise from step 7" in told.args[1]
    assert "Kept on this computer" in told.args[1]
    with Project.open(study) as project:
        assert tags(project)[0].note == ""
    desk = Desk(qtbot, study)
    assert desk.saved()[0].note == "long " * 200_000
    assert list(own_data.rglob("*.json")) == []
    desk.close()


def test_an_edit_kept_does_not_undo_what_others_did_since(qtbot, study, own_data):
    desk = Desk(qtbot, study)
    desk.at(7).press(Qt.Key.Key_N)
    (tag,) = desk.saved()
    limit_pages(desk.project, 1)
    desk.panel.board.change(desk.panel.board.rows[0].id, note="long " * 200_000)
    desk.close()
    with Project.open(study) as project:
        change_tag(project, "ana", tag.uuid, onset=3)
    desk = Desk(qtbot, study)
    qtbot.waitUntil(desk.panel.unsaved.isVisible)
    assert "changed since" in desk.panel.board.failed_rows[0].reason
    assert desk.panel.board.failed_rows[0].wanted.onset == 7
    assert [tag.onset for tag in tags(desk.project)] == [3]
    desk.panel.unsaved.discard.click()
    assert list(own_data.rglob("*.json")) == []
    desk.close()
    with Project.open(study, read_only=True) as project:
        assert [(tag.onset, tag.note) for tag in tags(project)] == [(3, "")]


def test_an_edit_waits_for_another_program_that_has_locked_the_file(desk, study):
    desk.project.write(lambda database: database.execute("PRAGMA busy_timeout = 50").fetchall())
    with locked(study):
        desk.at(7).press(Qt.Key.Key_N)
        desk.qtbot.waitUntil(lambda: len(desk.panel.board.failed_rows) == 1)
        assert "locked by another program" in desk.panel.rows[0].trouble.text()
        assert desk.panel.unsaved.isVisible()
        assert tags(desk.project) == []
    # Tried again by itself, without a key or a click.
    desk.qtbot.waitUntil(lambda: spans(tags(desk.project)) == [("persistent_noise", 7, None)])
    desk.qtbot.waitUntil(desk.panel.unsaved.isHidden)


def test_closing_the_project_in_the_same_moment_saves_the_tag(qtbot, study):
    desk = Desk(qtbot, study)
    desk.at(7).press(Qt.Key.Key_N)
    desk.at(11).press(Qt.Key.Key_N, Qt.KeyboardModifier.ShiftModifier)
    desk.close()
    with Project.open(study, read_only=True) as project:
        assert spans(tags(project)) == [("persistent_noise", 7, 11)]


TAGGER = """
    import sys
    from pathlib import Path
    from PySide6.QtCore import QTimer, Qt
    from PySide6.QtTest import QTest
    from PySide6.QtWidgets import QApplication, QMainWindow
    from app.actions import ActionRegistry
    from app.session import Session
    from app.tagging.rows import Saved
    from app.tagging.panel import TaggingPanel
    from banana100_core.project import Project

    application = QApplication(sys.argv)
    window = QMainWindow()
    session = Session(window, annotator="ana")
    panel = TaggingPanel(session, ActionRegistry(window))
    window.setCentralWidget(panel)
    window.show()
    session.adopt_project(Project.open(Path(sys.argv[1])))
    said = []

    def tag():
        if panel.board.names and not panel.board.rows:
            session.choose_step(7)
            QTest.keyClick(window, Qt.Key.Key_N)
        elif panel.board.rows and panel.board.rows[0].state is Saved.YES and not said:
            said.append(True)
            print("tagged", flush=True)

    timer = QTimer()
    timer.timeout.connect(tag)
    timer.start(5)
    application.exec()
"""


def test_a_tag_shown_as_saved_survives_a_kill(study):
    process = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(TAGGER), str(study)], stdout=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout.readline() == "tagged\n"
    finally:
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
    with Project.open(study) as project:
        assert spans(tags(project)) == [("persistent_noise", 7, None)]
        assert len(edits(project)) == 1
