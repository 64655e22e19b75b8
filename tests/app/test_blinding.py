"""Blind, the whole window tells nothing of what is hidden: every text that is on screen is looked at."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from PySide6.QtCore import QAbstractListModel, QModelIndex, QPoint, QPointF, Qt
from PySide6.QtWidgets import (
    QAbstractItemView,
    QApplication,
    QComboBox,
    QLineEdit,
    QPlainTextEdit,
    QTextEdit,
    QWidget,
)

from app.blinding import NO_STEP, Blinding
from app.curtain import Curtain
from banana100_core.project import Project
from banana100_core.project.records import NewSuggestion, NewTag
from banana100_core.project.suggestions import replace_suggestions
from banana100_core.project.tags import add_tag

MODEL = re.compile(r"realesr|restoration.loop", re.IGNORECASE)
STEP = re.compile(r"\bstep \d|\bfrom \d|\b\d+ →|\d steps done|, \d+ steps", re.IGNORECASE)
OTHERS = re.compile(r"\bben\b|monochrome failure from", re.IGNORECASE)
SCORE = re.compile(r"brisque|niqe|piqe|normalised score", re.IGNORECASE)


@pytest.fixture
def study(tmp_path, fill):
    path = tmp_path / "study.b100"
    with Project.create(path) as project:
        run_ids = fill(project)
        add_tag(project, "ana", NewTag(run_ids[0], "green_tint", 2))
        add_tag(project, "ben", NewTag(run_ids[0], "monochrome_failure", 3))
        suggested = NewSuggestion(run_ids[0], "texture_loss", 2, 1.5, "Step 2 is smooth.", "smooth-1")
        replace_suggestions(project, [run_ids[0]], [suggested])
    return path


def texts_of(model, parent=QModelIndex()):  # noqa: B008 - Qt's own way
    for row in range(model.rowCount(parent)):
        # Of a list Qt keeps the one column to itself.
        for column in range(1 if isinstance(model, QAbstractListModel) else model.columnCount(parent)):
            index = model.index(row, column, parent)
            for role in (
                Qt.ItemDataRole.DisplayRole,
                Qt.ItemDataRole.ToolTipRole,
                Qt.ItemDataRole.AccessibleTextRole,
            ):
                yield str(model.data(index, role) or "")
        yield from texts_of(model, model.index(row, 0, parent))


def said_by(widget):
    yield widget.toolTip()
    yield widget.accessibleName()
    if isinstance(widget, (QTextEdit, QPlainTextEdit)):
        yield widget.toPlainText()
    elif isinstance(widget, QComboBox):
        yield from (widget.itemText(row) for row in range(widget.count()))
    elif isinstance(widget, QAbstractItemView) and widget.model() is not None:
        yield from texts_of(widget.model())
    elif hasattr(widget, "text") and not isinstance(widget, QLineEdit):
        yield widget.text() if callable(widget.text) else str(widget.text)


def on_screen(window):
    """All that is said by widgets on screen, and what the panes and the slider paint."""
    found = [window.windowTitle()]
    for widget in window.findChildren(QWidget):
        if widget.isVisible():
            found += said_by(widget)
    compare = window.maker.panels["compare"]
    found += [header.text for header in compare.headers]
    found += [compare.pane_steps.name(pane) for pane in range(4)]
    found += [f"{bar.text} {bar.told}" for bar in compare.slider.bars]
    for header in compare.headers:
        menu = header._name.menu()
        menu.fill()
        waiting = [menu]
        while waiting:
            for action in waiting.pop().actions():
                found.append(action.text())
                if action.menu() is not None:
                    waiting.append(action.menu())
    return [text for text in found if text]


@pytest.fixture
def desk(qtbot, window, study):
    """The window on the study, with everything shown that can be."""
    window.session.annotator = "ana"
    window.open_project(study)
    qtbot.waitUntil(lambda: window.session.run is not None and window.is_settled())
    window.registry.qaction("view.step_details").trigger()
    window.session.choose_step(3)
    browser = window.maker.panels["runs"]
    columns = ("curve", "steps", "tags", "annotators", "score:brisque")
    browser.arrange(replace(browser.arrangement, columns=columns))
    qtbot.waitUntil(lambda: len(window.maker.panels["tag"].rows) == 2)
    qtbot.waitUntil(window.is_settled)
    return window


def leaks(window, pattern):
    QApplication.processEvents()
    return [text for text in on_screen(window) if pattern.search(text)]


def test_what_is_not_hidden_is_told(desk):
    """The search finds what it looks for, so that finding nothing means something."""
    for pattern in (MODEL, STEP, OTHERS, SCORE):
        assert leaks(desk, pattern), pattern.pattern


@pytest.mark.parametrize(
    ("hidden", "pattern"),
    [
        (Blinding(models=True), MODEL),
        (Blinding(steps=True), STEP),
        (Blinding(tags=True), OTHERS),
        (Blinding(scores=True), SCORE),
    ],
    ids=["models", "steps", "tags", "scores"],
)
def test_what_is_hidden_is_told_nowhere_and_comes_back(desk, qtbot, hidden, pattern):
    desk.session.set_blinding(hidden)
    qtbot.waitUntil(desk.is_settled)
    assert leaks(desk, pattern) == []
    generation = desk.docks.docks["generation"]
    desk.docks.show(generation, shown=True)
    assert leaks(desk, pattern) == []
    desk.docks.show(desk.docks.docks["tag"], shown=True)
    desk.session.set_blinding(Blinding())
    qtbot.waitUntil(desk.is_settled)
    qtbot.waitUntil(lambda: bool(leaks(desk, pattern)))


def test_the_filter_does_not_find_a_hidden_model(desk):
    browser = desk.maker.panels["runs"]
    desk.session.set_blinding(Blinding(models=True))
    browser.bar.text_changed.emit("realesr")
    assert browser.tree.rowCount() == 0
    browser.bar.text_changed.emit("hidden")
    assert browser.tree.rowCount() == 2


def test_a_curtain_says_what_is_hidden(desk):
    curtain = desk.maker.panels["scores"].tabs.widget(0)
    assert isinstance(curtain, Curtain)
    desk.session.set_blinding(Blinding(scores=True, steps=True))
    assert curtain.words.text().startswith("Scores and step numbers are hidden while you tag.")
    assert not desk.maker.panels["scores"].scores.isVisible()


def drawn(widget):
    return widget.grab().toImage()


def test_where_a_step_is_in_its_run_shows_nowhere_while_numbers_are_hidden(desk, qtbot):
    compare, session = desk.maker.panels["compare"], desk.session
    session.choose_run(session.runs[1].id)  # without tags, all steps of which look alike to the slider
    session.set_blinding(Blinding(steps=True))
    shown = []
    for step in (1, 2, 3):
        session.choose_step(step)
        qtbot.waitUntil(lambda: desk.is_settled() and compare.slider.bars == [])
        strip = compare.filmstrip
        cells = [strip._cell(place).left() for place in strip._visible(strip.rect())]
        shown.append((drawn(compare.slider), cells))
    assert shown[0] == shown[1] == shown[2]
    assert len(shown[0][1]) == 3  # the step and its neighbours
    session.set_blinding(Blinding())
    session.choose_step(1)
    one = drawn(compare.slider)
    session.choose_step(3)
    assert drawn(compare.slider) != one


def test_the_slider_steps_and_shows_own_tags_beside_the_step_while_numbers_are_hidden(desk, qtbot):
    compare, session = desk.maker.panels["compare"], desk.session
    session.set_blinding(Blinding(tags=True, steps=True))
    slider = compare.slider
    qtbot.waitUntil(lambda: len(slider.bars) == 1)
    (bar,) = slider.bars
    middle = slider.width() / 2
    session.choose_step(2)
    assert slider.bar_rect(bar).left() == middle
    row = desk.maker.panels["tag"].rows[0]
    assert (row.place.text(), row.bar.isVisible()) == ("begins here", False)
    session.choose_step(1)
    assert slider.bar_rect(bar).left() > middle
    assert slider.bar_rect(bar).right() == slider.width()
    assert row.place.text() == "begins later"
    qtbot.mouseClick(slider, Qt.MouseButton.LeftButton, pos=QPoint(round(middle) + 64, 12))
    assert session.step == 3
    assert row.place.text() == "holds here"
    qtbot.mousePress(slider, Qt.MouseButton.LeftButton, pos=QPoint(round(middle), 12))
    qtbot.mouseMove(slider, QPoint(round(middle) - 32, 12))
    qtbot.mouseMove(slider, QPoint(round(middle) - 64, 12))
    qtbot.mouseRelease(slider, Qt.MouseButton.LeftButton, pos=QPoint(round(middle) - 64, 12))
    assert session.step == 1


def told_at(slider, x):
    return slider._told_at(QPointF(x, 8))


def test_no_way_leads_to_a_step_of_known_number_while_numbers_are_hidden(desk, qtbot):
    compare, session, registry = desk.maker.panels["compare"], desk.session, desk.registry
    to_ends = ("run.first_step", "run.last_step", "run.go_to_reference", "view.swap_panes")
    in_a_row = ("file.export_sheet", "file.export_animation")
    session.set_blinding(Blinding(steps=True))
    session.choose_step(2)
    for key in (*to_ends, *in_a_row):
        assert not registry.qaction(key).isEnabled()
        assert "since steps can be counted from there" in registry.qaction(key).toolTip()
    slider = compare.slider
    for key in (Qt.Key.Key_Home, Qt.Key.Key_End):
        qtbot.keyClick(slider, key)
    assert session.step == 2
    # A tip that were missing beside the track's ends would tell where these are.
    assert [told_at(slider, slider.width() / 2 + by) for by in (-64, -32, 0, 32)] == ["", "", NO_STEP, ""]
    qtbot.keyClick(slider, Qt.Key.Key_Right)
    assert session.step == 3
    session.choose_step(4)
    registry.qaction("run.play").trigger()  # at the end, and doesn't begin again
    assert (session.step, compare.player.playing) == (4, False)
    assert not registry.qaction("run.play").isChecked()
    session.set_blinding(Blinding())
    assert all(registry.qaction(key).isEnabled() for key in (*to_ends, *in_a_row))
    qtbot.keyClick(slider, Qt.Key.Key_Home)
    assert session.step == 0


def test_a_run_opens_at_a_step_drawn_for_each_annotator_while_numbers_are_hidden(desk):
    session = desk.session
    session.set_blinding(Blinding(steps=True))
    opened = {}
    for annotator in ("ana", "ben", "cleo", "dan"):
        session.annotator = annotator
        session.set_blinding(Blinding(steps=True))
        for run in (*session.runs[1:], *session.runs[:1], *session.runs[1:]):
            session.choose_step(4)
            session.choose_run(run.id)
            assert session.step == opened.setdefault((annotator, run.id), session.step)
    assert len(set(opened.values())) > 1  # of sixteen draws


def test_how_many_steps_a_run_has_is_hidden_with_their_numbers(desk):
    browser = desk.maker.panels["runs"]
    tree = browser.tree
    shown = [tree.column(section).key for section in range(tree.columnCount())].index("steps")

    def lengths():
        groups = [tree.index(row, 0) for row in range(tree.rowCount())]
        return {
            tree.data(tree.index(row, shown, group))
            for group in groups
            for row in range(tree.rowCount(group))
        }

    assert lengths() == {"4"}
    desk.session.set_blinding(Blinding(steps=True))
    assert lengths() == {""}


def test_the_initial_image_is_not_named_while_numbers_are_hidden(desk, qtbot):
    compare, session = desk.maker.panels["compare"], desk.session
    session.choose_step(0)
    assert "initial" in compare.details.text
    session.set_blinding(Blinding(steps=True))
    qtbot.waitUntil(desk.is_settled)
    assert compare.details.text.startswith(NO_STEP)
    assert "initial" not in compare.details.text + compare.headers[1].text


def test_suggestions_go_with_step_numbers_which_they_name(desk, qtbot):
    section, slider = desk.maker.panels["tag"].suggestions, desk.maker.panels["compare"].slider
    qtbot.waitUntil(lambda: [bar.suggested for bar in slider.bars] == [False, False, True])
    assert section.isVisible()
    desk.session.set_blinding(Blinding(steps=True))
    assert not section.isVisible()
    assert [bar.suggested for bar in slider.bars] == [False, False]
    assert "hidden while you tag blind" in desk.registry.qaction("tag.next_suggestion").toolTip()
