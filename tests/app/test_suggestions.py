"""Suggestions in the window: apart from tags, decided on by key and mouse, undone with the tags."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QMainWindow

from app.actions import ActionRegistry
from app.blinding import Blinding
from app.compare.tag_bars import lay_out
from app.suggestions.section import SuggestionSection
from banana100_core.project import Project
from banana100_core.project.failure_modes import failure_modes
from banana100_core.project.records import NewSuggestion, NewTag, SuggestionState
from banana100_core.project.suggestions import replace_suggestions, suggestions
from banana100_core.project.tags import add_tag, tags, undo
from tests.app.tagging_desk import Desk


@pytest.fixture
def runs(study):
    """Run 1 has two suggestions, run 3 has one; the others have none."""
    with Project.open(study) as project:
        found = [
            NewSuggestion(1, "green_tint", 3, -4.2, "a* falls <b>by 4.2</b>", "test-1"),
            NewSuggestion(1, "persistent_noise", 2, 5.0, "noise grows", "test-1"),
            NewSuggestion(3, "aspect_ratio", 1, 0.02, "cropped", "test-1"),
        ]
        replace_suggestions(project, [1, 2, 3, 4], found)
    return study


@pytest.fixture
def section(qtbot, session, runs):
    window = QMainWindow()
    qtbot.addWidget(window)
    window.registry = ActionRegistry(window)
    section = SuggestionSection(session, window.registry)
    window.setCentralWidget(section)
    window.show()
    session.adopt_project(Project.open(runs))
    qtbot.waitUntil(lambda: len(section.rows) == 2)
    return section


def trigger(section, key):
    section.window().registry.qaction(key).trigger()


def modes(section):
    return [row.suggestion.failure_mode for row in section.rows]


def test_suggestions_say_why_and_are_no_tags(section, session):
    assert modes(section) == ["persistent_noise", "green_tint"]
    assert section.heading.text() == "Suggestions · 2"
    assert section.rows[1].reason.text() == "a* falls <b>by 4.2</b>"
    assert section.rows[1].reason.textFormat() is Qt.TextFormat.PlainText
    assert section.rows[1].place.text() == "from 3"
    assert "-4.2" in section.rows[1].toolTip()
    assert tags(session.project) == []


def test_accept_by_key_and_reject_by_mouse(section, session, qtbot):
    trigger(section, "tag.accept_suggestion")
    qtbot.waitUntil(lambda: modes(section) == ["green_tint"] and section.is_settled())
    (tag,) = tags(session.project)
    assert (tag.annotator, tag.failure_mode, tag.onset) == ("Ada", "persistent_noise", 2)
    QTest.mouseClick(section.rows[0].reject, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: section.rows == [] and section.is_settled())
    qtbot.waitUntil(lambda: section.rate.text() == "1 of 2 accepted")
    assert len(tags(session.project)) == 1
    QTest.mouseClick(section.reopen_button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: modes(section) == ["green_tint"])
    qtbot.waitUntil(lambda: section.rate.text() == "1 of 1 accepted")


def test_undo_of_the_tag_brings_the_suggestion_back(section, session, qtbot):
    QTest.mouseClick(section.rows[0].accept, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: modes(section) == ["green_tint"])
    undo(session.project, "Ada")
    qtbot.waitUntil(lambda: modes(section) == ["persistent_noise", "green_tint"])
    qtbot.waitUntil(lambda: section.rate.text() == "")
    assert tags(session.project) == []


def test_next_goes_through_the_run_and_on_to_later_runs(section, session, qtbot):
    session.choose_step(4)
    trigger(section, "tag.next_suggestion")
    assert (session.run.id, session.step) == (1, 2)
    trigger(section, "tag.next_suggestion")
    assert (session.run.id, session.step) == (1, 3)
    trigger(section, "tag.next_suggestion")
    qtbot.waitUntil(lambda: session.run.id == 3 and session.step == 1)
    qtbot.waitUntil(lambda: modes(section) == ["aspect_ratio"])
    trigger(section, "tag.reject_suggestion")
    qtbot.waitUntil(lambda: section.rows == [])
    trigger(section, "tag.next_suggestion")
    qtbot.waitUntil(lambda: session.run.id == 1)


def test_a_click_on_a_suggestion_goes_to_its_onset(section, session):
    QTest.mouseClick(section.rows[1], Qt.MouseButton.LeftButton, pos=QPoint(4, 4))
    assert session.step == 3


def test_the_suggestion_that_is_gone_on_to_is_seen_whole_also_when_tags_come_above_it(qtbot, runs):
    desk = Desk(qtbot, runs, "Ada")
    desk.window.resize(360, 1000)
    section = desk.panel.suggestions
    qtbot.waitUntil(lambda: len(section.rows) == 2 and desk.panel.is_settled())
    area = desk.panel.list_area.viewport()

    def seen():
        row = section.current_row
        top = row.mapTo(area, QPoint(0, 0)).y()
        return top >= 0 and top + row.height() <= area.height()

    for place in (1, 0):
        section.choose(section.rows[place].suggestion.uuid)
        qtbot.waitUntil(seen)
    for mode in ("wrinkles", "texture_loss"):
        add_tag(desk.project, "Bo", NewTag(1, mode, 2))
    qtbot.waitUntil(lambda: len(desk.panel.rows) == 2 and seen())
    desk.close()


def test_finding_replaces_open_ones_of_the_chosen_runs(section, session, qtbot):
    session.selected_runs = [1, 2]
    with qtbot.waitSignal(section.finder.finished):
        QTest.mouseClick(section.find_button, Qt.MouseButton.LeftButton)
        assert section.finder.running
        assert not section.window().registry.qaction("tag.find_all_suggestions").isEnabled()
    assert section.message.text().startswith("Looked at 2 runs: ")
    assert [there.run_id for there in suggestions(session.project) if there.method == "test-1"] == [3]
    assert section.window().registry.qaction("tag.find_all_suggestions").isEnabled()


def test_a_search_can_be_stopped_and_ends_with_the_project(section, session, qtbot):
    with qtbot.waitSignal(section.finder.finished):
        section.finder.find(None)
        section.finder.stop()
    section.finder.find(None)
    session.close_project()
    assert section.is_settled()
    assert section.rows == []


def test_a_project_open_for_reading_lets_nothing_be_decided(qtbot, session, runs):
    window = QMainWindow()
    qtbot.addWidget(window)
    registry = ActionRegistry(window)
    section = SuggestionSection(session, registry)
    window.setCentralWidget(section)
    session.adopt_project(Project.open(runs, read_only=True))
    qtbot.waitUntil(lambda: len(section.rows) == 2)
    assert not section.rows[0].accept.isEnabled()
    for key in ("tag.accept_suggestion", "tag.reject_suggestion", "tag.find_suggestions"):
        assert not registry.qaction(key).isEnabled()


def test_who_tags_blind_sees_none(section, session, qtbot):
    session.set_blinding(Blinding(tags=True))
    assert (section.rows, section.isVisible()) == ([], False)
    registry = section.window().registry
    for key in ("tag.accept_suggestion", "tag.next_suggestion", "tag.find_suggestions"):
        assert not registry.qaction(key).isEnabled()
    session.set_blinding(Blinding())
    qtbot.waitUntil(lambda: len(section.rows) == 2)
    assert section.isVisible()


def test_undo_and_redo_of_the_window_open_and_accept_it_again(qtbot, runs):
    desk = Desk(qtbot, runs, "Ada")
    section = desk.panel.suggestions
    qtbot.waitUntil(lambda: modes(section) == ["persistent_noise", "green_tint"])
    desk.registry.qaction("tag.accept_suggestion").trigger()
    qtbot.waitUntil(lambda: [row.name.text() for row in desk.panel.rows] == ["Persistent noise"])
    desk.registry.qaction("tag.undo").trigger()
    qtbot.waitUntil(lambda: modes(section) == ["persistent_noise", "green_tint"] and desk.panel.rows == [])
    desk.registry.qaction("tag.redo").trigger()
    qtbot.waitUntil(lambda: modes(section) == ["green_tint"] and len(desk.panel.rows) == 1)
    desk.close()


def test_accepting_what_is_tagged_already_says_so_and_can_be_undone(qtbot, runs):
    desk = Desk(qtbot, runs, "Ada")
    section = desk.panel.suggestions
    desk.at(1).press(Qt.Key.Key_N)
    desk.saved()
    qtbot.waitUntil(lambda: modes(section) == ["persistent_noise", "green_tint"])
    desk.registry.qaction("tag.accept_suggestion").trigger()
    qtbot.waitUntil(lambda: modes(section) == ["green_tint"] and section.is_settled())
    assert section.message.text().startswith("Persistent noise was tagged already from step 1.")
    desk.registry.qaction("tag.undo").trigger()
    qtbot.waitUntil(lambda: modes(section) == ["persistent_noise", "green_tint"])
    undone = "Undone: acceptance of the suggestion as Persistent noise"
    qtbot.waitUntil(lambda: desk.panel.message.text().startswith(undone))
    assert len(desk.panel.rows) == 1
    desk.close()


def test_the_slider_draws_them_hollow_after_all_tags(runs):
    with Project.open(runs, read_only=True) as project:
        open_ones = suggestions(project, 1, SuggestionState.OPEN)
        known = {mode.key: mode for mode in failure_modes(project)}
    noise, green = lay_out([], range(5), known, open_ones)
    assert (noise.text, noise.suggested, noise.first, noise.open_end) == (
        "Persistent noise from 2?",
        True,
        2,
        True,
    )
    assert (green.lane, noise.lane) == (1, 0)
    assert "not yet a tag" in green.told
    assert "a* falls" in green.told
