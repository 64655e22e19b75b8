"""Working through a queue: next, done, nothing found, accept, reject; and what is hidden meanwhile."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from app.blinding import Blinding
from app.tagging.progress import ProgressDialog
from banana100_core.analysis.queues import Queue, work_queue
from banana100_core.project import Project
from banana100_core.project.records import NewTag, ReviewState
from banana100_core.project.reviews import mark_run, reject_run, reviews
from banana100_core.project.tags import add_tag, tags
from tests.app.faults import locked
from tests.app.tagging_desk import Desk, make_study

RUNS = 4


@pytest.fixture(scope="module")
def template(tmp_path_factory, make_png):
    return make_study(tmp_path_factory.mktemp("work") / "study.b100", make_png, RUNS).read_bytes()


@pytest.fixture
def study(tmp_path, template):
    path = tmp_path / "study.b100"
    path.write_bytes(template)
    return path


@pytest.fixture
def desk(qtbot, study):
    desk = Desk(qtbot, study)
    settle(desk)
    yield desk
    desk.close()


def settle(desk):
    desk.qtbot.waitUntil(lambda: desk.panel.is_settled() and desk.panel.work.counts[1] > 0)


def states(project):
    return {(each.run_id, each.annotator): each.state.value for each in reviews(project)}


def said(desk):
    return desk.panel.message.text()


def test_one_key_marks_the_run_done_and_goes_to_the_next_of_the_queue(desk):
    order = [item.run_id for item in work_queue(desk.project, "ana", Queue.ALL).items]
    desk.session.choose_run(order[0])
    settle(desk)
    desk.at(7).press(Qt.Key.Key_N)
    desk.press(Qt.Key.Key_F12)
    assert desk.session.run.id == order[1]
    assert said(desk) == "Done, with 1 tag."
    desk.qtbot.waitUntil(lambda: states(desk.project) == {(order[0], "ana"): "done"})
    assert [tag.review_state for tag in tags(desk.project)] == [ReviewState.DONE]
    desk.qtbot.waitUntil(lambda: desk.panel.work_bar.count.text() == f"1 of {RUNS} done")


def test_a_run_without_tags_is_done_only_by_saying_that_nothing_was_found(desk):
    first = desk.session.run.id
    desk.press(Qt.Key.Key_F12)
    assert "no tags" in said(desk)
    assert desk.session.run.id == first
    desk.press(Qt.Key.Key_F12, Qt.KeyboardModifier.ShiftModifier)
    assert said(desk) == "Done: nothing found."
    desk.qtbot.waitUntil(lambda: states(desk.project) == {(first, "ana"): "done"})
    desk.session.choose_run(first)
    desk.qtbot.waitUntil(lambda: desk.panel.work_bar.state.text() == "✓ Done · nothing found")


def test_nothing_found_is_refused_where_there_are_tags(desk):
    desk.at(7).press(Qt.Key.Key_N)
    desk.press(Qt.Key.Key_F12, Qt.KeyboardModifier.ShiftModifier)
    assert said(desk) == "You have 1 tag in this run. Delete what is wrong, or say Done."
    desk.saved()
    assert states(desk.project) == {}


def test_next_passes_over_what_is_done_and_says_when_all_is(desk):
    order = [item.run_id for item in work_queue(desk.project, "ana", Queue.ALL).items]
    for run_id in order[1:3]:
        mark_run(desk.project, "ana", run_id, ReviewState.DONE)
    desk.qtbot.waitUntil(lambda: desk.panel.work.counts == (2, RUNS))
    desk.session.choose_run(order[0])
    desk.press(Qt.Key.Key_F10)
    assert desk.session.run.id == order[3]
    desk.press(Qt.Key.Key_F10, Qt.KeyboardModifier.ControlModifier)
    assert desk.session.run.id == order[0]
    for _ in range(2):
        desk.press(Qt.Key.Key_F12, Qt.KeyboardModifier.ShiftModifier)
    assert said(desk) == f"Done: nothing found. All {RUNS} runs of this queue are done."


def test_done_waits_for_edits_that_cannot_be_saved(desk):
    desk.project.write(lambda database: database.execute("PRAGMA query_only = ON"))
    desk.at(7).press(Qt.Key.Key_N)
    desk.qtbot.waitUntil(lambda: bool(desk.panel.board.failed_rows))
    first = desk.session.run.id
    desk.press(Qt.Key.Key_F12)
    assert "not saved yet" in said(desk)
    assert desk.session.run.id == first


def test_the_queue_and_its_order_are_remembered(qtbot, study):
    desk = Desk(qtbot, study)
    desk.act("tag.queue_untagged")
    settle(desk)
    assert desk.panel.work_bar.queue.currentText() == "Untagged"
    before = [item.run_id for item in work_queue(desk.project, "ana", Queue.UNTAGGED).items]
    desk.close()
    desk = Desk(qtbot, study)
    assert desk.panel.work.queue is Queue.UNTAGGED
    assert [item.run_id for item in work_queue(desk.project, "ana", Queue.UNTAGGED).items] == before
    desk.session.annotator = "ben"
    assert desk.panel.work.queue is Queue.ALL
    desk.close()


def test_a_rejection_is_read_by_its_annotator_and_done_again_waits(qtbot, study):
    with Project.open(study) as project:
        add_tag(project, "ana", NewTag(1, "green_tint", 3))
        mark_run(project, "ana", 1, ReviewState.DONE)
        reject_run(project, "<b>ben</b>", 1, "ana", "It begins at 2.")
    desk = Desk(qtbot, study)
    state = desk.panel.work_bar.state
    qtbot.waitUntil(lambda: state.text() == "Rejected by <b>ben</b>: It begins at 2.")
    assert state.textFormat() == Qt.TextFormat.PlainText
    settle(desk)
    desk.press(Qt.Key.Key_F12)
    qtbot.waitUntil(lambda: reviews(desk.project, 1)[0].waits)
    desk.close()


@pytest.fixture
def review_desk(qtbot, study):
    """Ben's work waits for Ana, who reviews."""
    with Project.open(study) as project:
        for run_id in (1, 2):
            add_tag(project, "ben", NewTag(run_id, "green_tint", 3))
            mark_run(project, "ben", run_id, ReviewState.DONE)
    desk = Desk(qtbot, study)
    desk.act("tag.queue_review")
    settle(desk)
    desk.act("tag.next_run")
    qtbot.waitUntil(lambda: "ben" in desk.panel.reviews.rows)
    yield desk
    desk.close()


def test_a_reviewer_accepts_with_one_key_and_goes_on(review_desk):
    desk, first = review_desk, review_desk.session.run.id
    assert desk.panel.work_bar.done.text() == "Accept"
    assert desk.panel.reviews.rows["ben"].text.text() == "ben: done, 1 tag"
    desk.press(Qt.Key.Key_F12)
    assert desk.session.run.id == 3 - first
    desk.qtbot.waitUntil(lambda: states(desk.project)[first, "ben"] == "accepted")
    assert {tag.run_id: tag.review_state.value for tag in tags(desk.project)}[first] == "accepted"


def test_a_rejection_asks_why_and_escape_leaves_it(review_desk):
    desk, run = review_desk, review_desk.session.run.id
    desk.press(Qt.Key.Key_F12, Qt.KeyboardModifier.ShiftModifier)
    why = desk.panel.reviews.rows["ben"].why
    assert QApplication.focusWidget() is why
    QTest.keyClick(why, Qt.Key.Key_Return)
    assert "a word about why" in why.placeholderText()
    QTest.keyClick(why, Qt.Key.Key_Escape)
    assert why.isHidden()
    assert states(desk.project)[run, "ben"] == "done"
    desk.press(Qt.Key.Key_F12, Qt.KeyboardModifier.ShiftModifier)
    QTest.keyClicks(why, "It begins at 2.")
    QTest.keyClick(why, Qt.Key.Key_Return)
    desk.qtbot.waitUntil(lambda: states(desk.project)[run, "ben"] == "rejected")
    found = next(each for each in reviews(desk.project) if each.run_id == run)
    assert (found.comment, found.said_by) == ("It begins at 2.", "ana")


def test_who_tags_blind_sees_neither_tags_nor_reviews_of_others(review_desk):
    desk = review_desk
    desk.qtbot.waitUntil(lambda: len(desk.panel.rows) == 1)
    desk.session.set_blinding(Blinding(tags=True))
    assert desk.panel.rows == []
    assert desk.panel.reviews.rows == {}
    assert desk.panel.reviews.note.isVisible()
    desk.press(Qt.Key.Key_F12)
    assert said(desk) == "Others' tags are hidden. Show them to review."
    assert set(states(desk.project).values()) == {"done"}


def test_step_numbers_are_not_told_while_they_are_hidden(desk):
    desk.session.set_blinding(Blinding(steps=True))
    desk.at(7).press(Qt.Key.Key_N)
    assert said(desk) == "Persistent noise: tagged from this step on."
    row = desk.panel.rows[0]
    desk.saved()
    assert (row.place.text(), row.onset.isVisible(), row.end_step.isVisible()) == (
        "begins here",
        False,
        False,
    )
    assert desk.panel.taxonomy.buttons["persistent_noise"].where == "tagged"
    desk.at(9).press(Qt.Key.Key_N)
    assert said(desk) == "Persistent noise is tagged here already."
    desk.press(Qt.Key.Key_N, Qt.KeyboardModifier.ShiftModifier)
    assert said(desk) == "Persistent noise ends at this step."
    desk.saved()
    desk.act("tag.undo")
    desk.qtbot.waitUntil(lambda: said(desk) == "Undone: Persistent noise changed")


def test_what_is_hidden_is_remembered_for_each_annotator(qtbot, study):
    desk = Desk(qtbot, study)
    desk.act("tag.hide_scores").act("tag.hide_models")
    desk.close()
    desk = Desk(qtbot, study)
    assert desk.session.blinding == Blinding(scores=True, models=True)
    assert desk.registry.qaction("tag.hide_scores").isChecked()
    desk.session.annotator = "ben"
    assert desk.session.blinding == Blinding()
    desk.session.annotator = "ana"
    desk.act("tag.hide_all")
    assert desk.session.blinding == Blinding()
    desk.act("tag.hide_all")
    assert desk.session.blinding == Blinding(tags=True, scores=True, models=True, steps=True)
    desk.close()


def test_the_chosen_tag_is_graded_from_the_keyboard(desk):
    desk.at(7).press(Qt.Key.Key_N)
    desk.at(3).press(Qt.Key.Key_C)
    desk.press(Qt.Key.Key_3)
    for key in (Qt.Key.Key_Comma, Qt.Key.Key_Comma, Qt.Key.Key_Period):
        desk.press(key)
    desk.press(Qt.Key.Key_PageDown, Qt.KeyboardModifier.ShiftModifier)
    desk.press(Qt.Key.Key_1)
    desk.press(Qt.Key.Key_Return, Qt.KeyboardModifier.ShiftModifier)
    QTest.keyClicks(QApplication.focusWidget(), "left, 2 of 3")
    desk.press(Qt.Key.Key_Return)
    found = {tag.failure_mode: (tag.severity, tag.certainty, tag.note) for tag in desk.saved()}
    assert found == {"counting_failure": (3, 0.9, ""), "persistent_noise": (1, 1.0, "left, 2 of 3")}


def test_the_tags_of_others_are_not_graded(desk):
    add_tag(desk.project, "ben", NewTag(desk.session.run.id, "green_tint", 3))
    desk.qtbot.waitUntil(lambda: len(desk.panel.rows) == 1)
    desk.press(Qt.Key.Key_3)
    assert "Choose a tag first" in said(desk)
    desk.panel.choose(desk.panel.rows[0].row_id)
    desk.press(Qt.Key.Key_3)
    assert said(desk) == "This tag is ben's; only its annotator changes it."
    assert tags(desk.project)[0].severity == 2


def test_progress_shows_a_row_for_each_annotator_and_only_ones_own_when_blind(desk):
    mark_run(desk.project, "ben", 2, ReviewState.DONE)
    add_tag(desk.project, "ana", NewTag(1, "green_tint", 3))
    desk.act("tag.progress")
    dialog = desk.window.findChild(ProgressDialog)
    desk.qtbot.waitUntil(lambda: dialog.table.rowCount() == 2)
    assert [dialog.table.item(row, 1).text() for row in range(2)] == [f"0 of {RUNS}", f"1 of {RUNS}"]
    dialog.reject()
    desk.session.set_blinding(Blinding(tags=True))
    desk.act("tag.progress")
    dialog = desk.window.findChildren(ProgressDialog)[-1]
    desk.qtbot.waitUntil(lambda: dialog.table.rowCount() == 1)
    assert dialog.table.item(0, 0).text() == "ana"
    dialog.reject()


def fail_to_say(desk, study):
    """Mark a run done while another program has the file locked, and close the project; gives the run."""
    run_id = desk.session.run.id
    desk.project.write(lambda database: database.execute("PRAGMA busy_timeout = 50").fetchall())
    with locked(study):
        desk.press(Qt.Key.Key_F12, Qt.KeyboardModifier.ShiftModifier)
        desk.qtbot.waitUntil(lambda: len(desk.panel.work.words.unsaved) == 1)
        assert desk.panel.unsaved.isVisible()
        with desk.qtbot.waitSignal(desk.session.failed) as told:
            desk.close()
    assert told.args[0] == "What you said of runs could not be saved"
    assert told.args[1].splitlines()[0].startswith("coffee, repeat 1: done: ")
    assert told.args[1].endswith("Kept on this computer, and saved when you open this project again.")
    return run_id


def test_what_was_said_and_cannot_be_written_is_kept_and_saved_later(qtbot, study, own_data):
    desk = Desk(qtbot, study)
    settle(desk)
    run_id = fail_to_say(desk, study)
    with Project.open(study, read_only=True) as project:
        assert states(project) == {}
    desk = Desk(qtbot, study)
    qtbot.waitUntil(lambda: states(desk.project) == {(run_id, "ana"): "done"})
    settle(desk)
    assert list(own_data.rglob("*.json")) == []
    desk.close()


def test_what_was_kept_does_not_count_over_a_later_word(qtbot, study, own_data):
    desk = Desk(qtbot, study)
    settle(desk)
    run_id = fail_to_say(desk, study)
    with Project.open(study) as project:
        mark_run(project, "ana", run_id, ReviewState.DONE)
        reject_run(project, "ben", run_id, "ana", "look again")
    desk = Desk(qtbot, study)
    settle(desk)
    assert states(desk.project) == {(run_id, "ana"): "rejected"}
    assert list(own_data.rglob("*.json")) == []
    desk.close()
