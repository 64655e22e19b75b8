"""The list of runs as it is used: looking, finding, choosing, arranging."""

from __future__ import annotations

import pytest
from PySide6.QtCore import (
    QEvent,
    QItemSelectionModel,
    QModelIndex,
    QObject,
    QPoint,
    QRect,
    Qt,
)
from PySide6.QtGui import QFontMetrics, QImage, QPixmap
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QInputDialog, QMainWindow, QToolButton

from app import theme
from app.actions import ActionRegistry
from app.browser import facets
from app.browser.arrangement import Arrangement, Grouping, from_memory
from app.browser.columns import STANDARD
from app.browser.delegate import steps_width, two_lines
from app.browser.facets import Facet
from app.browser.model import NODE_ROLE
from app.browser.panel import BrowserPanel
from app.browser.pinned import HEIGHT
from app.browser.sparklines import _read as _read_curves
from app.memory import Memory
from banana100_core.catalog.metrics import metric as find_metric
from banana100_core.generation.executor import GenerationProgress
from banana100_core.project import Project
from banana100_core.project.records import NewRun, NewTag, RunState
from banana100_core.project.runs import add_run, set_run_state, steps
from banana100_core.project.saved_views import save_view, saved_views
from banana100_core.project.tags import add_tag


@pytest.fixture
def open_panel(qtbot, session, study):
    """Shows the list of a project."""

    def open_panel(*, read_only: bool = False) -> BrowserPanel:
        window = QMainWindow()
        qtbot.addWidget(window)
        registry = ActionRegistry(window)
        panel = BrowserPanel(session, registry)
        window.setCentralWidget(panel)
        window.resize(320, 700)
        window.show()
        qtbot.waitActive(window)
        session.open_project(study, read_only=read_only)
        panel.registry = registry
        return panel

    return open_panel


@pytest.fixture
def panel(open_panel):
    return open_panel()


def _indexes(panel) -> list[QModelIndex]:
    """The runs shown, from top to bottom."""
    return [panel.tree.index_of_run(node.run.id) for node in panel.tree.nodes()]


def _read(qtbot, panel) -> None:
    qtbot.waitUntil(lambda: panel._facts.settled and bool(panel._facts.names))


def test_the_current_run_is_marked(panel, session):
    assert panel.view.currentIndex().data(NODE_ROLE).run.id == session.run.id
    assert session.selected_runs == [session.run.id]


def test_looking_at_a_run_in_the_list_shows_it(panel, session):
    third = _indexes(panel)[2]
    panel.view.setCurrentIndex(third)
    assert session.run.id == third.data(NODE_ROLE).run.id


def test_next_and_previous_run_follow_the_list_and_stop_at_its_ends(panel, session):
    ids = [index.data(NODE_ROLE).run.id for index in _indexes(panel)]
    for _run_id in ids:
        panel.registry.qaction("run.next_run").trigger()
    assert session.run.id == ids[-1]
    panel.registry.qaction("run.previous_run").trigger()
    assert session.run.id == ids[-2]
    assert panel.view.currentIndex().data(NODE_ROLE).run.id == ids[-2]


def test_several_runs_are_selected_for_the_plots(qtbot, panel, session):
    indexes = _indexes(panel)
    with qtbot.waitSignal(session.selection_changed):
        for index in (indexes[0], indexes[3]):
            modifier = (
                Qt.KeyboardModifier.ControlModifier if index is indexes[3] else Qt.KeyboardModifier.NoModifier
            )
            centre = panel.view.visualRect(index).center()
            QTest.mouseClick(panel.view.viewport(), Qt.MouseButton.LeftButton, modifier, centre)
    assert session.selected_runs == [index.data(NODE_ROLE).run.id for index in (indexes[0], indexes[3])]


def test_selecting_a_group_selects_its_runs(panel, session):
    centre = panel.view.visualRect(panel.tree.index(1, 0)).center()
    QTest.mouseClick(panel.view.viewport(), Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier, centre)
    assert session.selected_runs == [run.id for run in session.runs if run.initial_image == "Image 2"]


def test_selection_and_expansion_stay_when_runs_arrive(qtbot, panel, session):
    folded = panel.tree.index(0, 0)
    panel.view.setCurrentIndex(_indexes(panel)[3])
    panel.view.collapse(folded)
    current = session.run.id
    new = add_run(session.project, NewRun("Image 2", "codec_loss", "jpeg-webp", "replicate"))
    qtbot.waitUntil(lambda: panel.tree.index_of_run(new).isValid())
    assert panel.view.currentIndex().data(NODE_ROLE).run.id == current
    assert session.run.id == current
    assert not panel.view.isExpanded(folded)
    assert panel.view.isExpanded(panel.tree.index_of_run(new).parent())


def test_state_and_tags_of_a_run_are_kept_up_to_date(qtbot, panel, session):
    run_id = session.run.id
    set_run_state(session.project, run_id, RunState.STOPPED, "the editor refused")
    add_tag(session.project, "Ada", NewTag(run_id, next(iter(_mode_keys())), onset=1))
    qtbot.waitUntil(lambda: panel.tree.index_of_run(run_id).data(NODE_ROLE).run.tag_count == 1)
    qtbot.waitUntil(lambda: panel.tree.index_of_run(run_id).data(NODE_ROLE).run.state is RunState.STOPPED)
    assert "the editor refused" in panel.tree.index_of_run(run_id).data(Qt.ItemDataRole.ToolTipRole)


def _mode_keys():
    from banana100_core.catalog.failure_modes import failure_modes

    return failure_modes()


def test_the_filter_opens_what_it_finds_and_puts_all_back(qtbot, panel, session):
    panel.view.collapseAll()
    QTest.keyClicks(panel.bar.field, "image 2 r1")
    assert len(_indexes(panel)) == 1
    found = _indexes(panel)[0]
    assert panel.view.isExpanded(found.parent())
    QTest.keyClick(panel.bar.field, Qt.Key.Key_Return)
    assert session.run.id == found.data(NODE_ROLE).run.id
    QTest.keyClick(panel.bar.field, Qt.Key.Key_Escape)
    assert len(_indexes(panel)) == 4
    assert not panel.view.isExpanded(panel.tree.index(0, 0))


def test_every_keystroke_is_followed(panel):
    found = []
    for text in ("image 1", "image 1 r1", "image 1", "zzz", ""):
        panel.bar.field.setText(text)
        found.append(len(_indexes(panel)))
    assert found == [3, 2, 3, 0, 4]  # r1 of image 2 holds these words too


def test_a_filter_that_finds_nothing_says_so_and_how_to_go_back(panel):
    QTest.keyClicks(panel.bar.field, "zzz")
    assert _indexes(panel) == []
    assert "Escape" in panel.view.hint
    panel.view.viewport().grab()
    QTest.keyClick(panel.bar.field, Qt.Key.Key_Escape)
    assert panel.view.hint == ""


def test_facets_are_chosen_with_the_keyboard_and_taken_back_as_chips(qtbot, panel):
    _read(qtbot, panel)
    add_tag(panel._session.project, "Ada", NewTag(1, next(iter(_mode_keys())), onset=1))
    qtbot.waitUntil(lambda: panel._facts.entries(panel._session.runs)[0].run.tag_count == 1)
    panel.registry.qaction("edit.facets").trigger()
    values = panel.popup.list
    shown = [values.model().index(row, 0).data() for row in range(values.model().rowCount())]
    assert shown[:2] == ["Protocol", "replicate"]
    assert {"Resolution", "96×64", "Any tag", "No tag"} <= set(shown)
    while values.currentIndex().data() != "Any tag":
        QTest.keyClick(values, Qt.Key.Key_Down)
    QTest.keyClick(values, Qt.Key.Key_Space)
    assert [index.data(NODE_ROLE).run.id for index in _indexes(panel)] == [1]
    assert values.currentIndex().data() == "Any tag"
    QTest.keyClick(values, Qt.Key.Key_Down)
    QTest.keyClick(values, Qt.Key.Key_Return)
    assert panel.bar.chips == ["Any tag", "No tag"]
    panel.popup.grab()
    QTest.keyClick(values, Qt.Key.Key_Escape)
    assert not panel.popup.isVisible()
    QTest.keyClick(panel.bar.field, Qt.Key.Key_Backspace)
    assert panel.bar.chips == ["Any tag"]
    QTest.mouseClick(panel.bar.findChildren(QToolButton)[-1], Qt.MouseButton.LeftButton)
    assert panel.bar.chips == []
    assert len(_indexes(panel)) == 4


def test_runs_with_missing_scores_or_failed_steps_are_found(qtbot, panel, session):
    _read(qtbot, panel)
    project = session.project
    last = steps(project, 2)[-1].image.sha256
    project.write(
        lambda database: database.execute("DELETE FROM score WHERE image_sha256 = ?", [last]),
        changes={"score"},
    )
    qtbot.waitUntil(lambda: any(entry.missing for entry in panel._facts.entries(session.runs)))
    panel._toggle(Facet.SCORES, facets.MISSING)
    assert [index.data(NODE_ROLE).run.id for index in _indexes(panel)] == [2]
    assert "3 scores missing" in panel.tree.index_of_run(2).data(Qt.ItemDataRole.ToolTipRole)


def test_what_is_narrowed_down_to_is_what_scoring_gets(panel, session):
    panel.view.selectAll()
    assert len(session.selected_runs) == 4
    panel._toggle(Facet.PROTOCOL, "replicate")
    QTest.keyClicks(panel.bar.field, "r2")
    assert session.selected_runs == [2, 4]


def test_the_selection_stays_when_runs_are_grouped_and_sorted_otherwise(panel, session):
    ids = [index.data(NODE_ROLE).run.id for index in _indexes(panel)]
    panel.view.setCurrentIndex(panel.tree.index_of_run(ids[3]))
    panel.view.selectionModel().select(
        panel.tree.index_of_run(ids[0]),
        QItemSelectionModel.SelectionFlag.Select | QItemSelectionModel.SelectionFlag.Rows,
    )
    for grouping in Grouping:
        panel.registry.qaction(f"view.group_{grouping}").trigger()
        assert panel.arrangement.grouping is grouping
        assert sorted(session.selected_runs) == sorted((ids[0], ids[3]))
        assert panel.view.currentIndex().data(NODE_ROLE).run.id == session.run.id == ids[3]
        assert panel.view.visualRect(panel.view.currentIndex()).isValid()


def test_a_click_on_a_title_sorts_up_then_down_then_not_at_all(panel):
    header = panel.view.header()
    section = 1 + STANDARD.index("steps")
    sorts = []
    for _click in range(3):
        place = header.sectionViewportPosition(section) + header.sectionSize(section) // 2
        QTest.mouseClick(
            header.viewport(),
            Qt.MouseButton.LeftButton,
            Qt.KeyboardModifier.NoModifier,
            QPoint(place, header.height() // 2),
        )
        sorts.append((panel.arrangement.sort, panel.arrangement.descending))
    assert sorts == [("steps", False), ("steps", True), ("", False)]


def test_a_narrow_list_goes_without_its_curves(panel):
    header, section = panel.view.header(), 1 + STANDARD.index("curve")
    panel.window().resize(220, 700)
    assert header.isSectionHidden(section)
    panel.window().resize(340, 700)
    assert not header.isSectionHidden(section)


def test_grouping_columns_and_sort_are_there_at_the_next_start(panel, session):
    chosen = Arrangement(Grouping.NONE, ("steps", "tags", "score:niqe"), "score:niqe", descending=True)
    panel.arrange(chosen)
    assert from_memory(Memory(session).value("runs")) == chosen
    titles = [panel.tree.headerData(n, Qt.Orientation.Horizontal) for n in range(panel.tree.columnCount())]
    assert titles == ["4 runs", "Steps", "Tags", "NIQE\N{NO-BREAK SPACE}▾"]
    assert panel.view.header().sortIndicatorSection() == 3


def _pixels(pixmap: QPixmap) -> bytes:
    return bytes(pixmap.toImage().convertToFormat(QImage.Format.Format_RGB32).constBits())


def test_what_scrolling_moves_is_what_a_fresh_painting_shows(panel, session, qtbot, qapp):
    panel.arrange(Arrangement(Grouping.PROTOCOL))
    panel.view.expandAll()
    panel.view.setFocus()  # no cursor blinks
    assert len(list(panel.view.nodes_on_screen())) > len(session.runs)
    panel.view.grab()  # asks for the curves of all rows, which are in sight as yet
    qtbot.waitUntil(panel.is_settled)  # so that nothing arrives while the list is scrolled
    panel.window().resize(320, 170)
    bar = panel.view.verticalScrollBar()
    assert bar.maximum() > 40
    for place in (5, 30, 12, bar.maximum(), bar.maximum() - 9, 0, 40):
        bar.setValue(place)
        qapp.processEvents()
    list_in_window = panel.view.rect().translated(panel.view.mapTo(panel.window(), QPoint()))
    seen = panel.screen().grabWindow(panel.window().winId()).copy(list_in_window)
    assert _pixels(seen) == _pixels(panel.window().grab(list_in_window))


def _scrolled(panel, qtbot) -> tuple[QModelIndex, QModelIndex]:
    """A short list, its first heading out of sight; gives that heading and the next one."""
    panel.window().resize(320, 170)
    panel.view.expandAll()
    panel.view.verticalScrollBar().setValue(40)
    first, second = panel.tree.indexes_of_groups()
    qtbot.waitUntil(lambda: panel.view.visualRect(first).top() == -40)
    return first, second


def test_the_heading_of_the_rows_at_the_top_stays_in_sight(panel, qtbot):
    first, second = _scrolled(panel, qtbot)
    view = panel.view
    shown = view.viewport().grab(QRect(0, 0, view.viewport().width(), HEIGHT - 1))
    view.verticalScrollBar().setValue(0)
    in_place = view.viewport().grab(view.visualRect(first).adjusted(-8, 0, 0, -1))
    assert _pixels(shown) == _pixels(in_place.copy(0, 0, shown.width(), shown.height()))
    assert not view._pinned.group().isValid()
    view.verticalScrollBar().setValue(view.visualRect(second).top() + 1)
    assert view._pinned.group() == second
    panel.arrange(Arrangement(Grouping.NONE))
    view.verticalScrollBar().setValue(40)
    assert not view._pinned.group().isValid()


def test_a_click_on_the_heading_at_the_top_goes_to_its_place_and_changes_nothing_else(panel, session, qtbot):
    first, _second = _scrolled(panel, qtbot)
    chosen = session.selected_runs
    QTest.mouseClick(panel.view.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(60, 10))
    assert panel.view.visualRect(first).top() == 0
    assert panel.view.isExpanded(first)
    assert session.selected_runs == chosen


def test_the_run_gone_to_is_not_below_the_heading_at_the_top(panel, session, qtbot):
    _scrolled(panel, qtbot)
    session.choose_run(list(panel.tree.nodes())[-1].run.id)
    panel.view.verticalScrollBar().setValue(panel.view.verticalScrollBar().maximum())
    session.choose_run(list(panel.tree.nodes())[1].run.id)
    assert panel.view.visualRect(panel.view.currentIndex()).top() >= HEIGHT


def test_widths_that_columns_were_drawn_to_are_there_at_the_next_start(panel, session, qtbot):
    section = 1 + STANDARD.index("steps")
    panel.view.header().resizeSection(section, 123)
    window = QMainWindow()
    qtbot.addWidget(window)
    other = BrowserPanel(session, ActionRegistry(window))
    window.setCentralWidget(other)
    assert other.view.header().sectionSize(section) == 123
    other.view.set_widths({"steps": "wide", "curve": -1})  # whatever a file of settings may hold
    assert steps_width({"4"}) <= other.view.header().sectionSize(section) < 123


def test_nothing_is_remembered_by_a_window_that_is_told_so(qtbot):
    memory = Memory(kept=False)
    memory.remember("runs", {"sort": "steps"})
    assert memory.value("runs") == {"sort": "steps"}
    assert Memory().value("runs") is None


def _menu(panel):
    """The entries of the menu that arranges the runs, by their texts; submenus as paths."""
    panel.registry.qaction("view.arrange_runs").trigger()

    def walk(menu, path=""):
        for action in menu.actions():
            text = action.text().replace("&", "")
            if action.menu() is not None:
                yield from walk(action.menu(), f"{path}{text}/")
            elif text:
                yield f"{path}{text}", action

    found = dict(walk(panel.menu))
    panel.menu.close()
    return found


def test_columns_and_sort_are_chosen_in_the_menu(qtbot, panel):
    _read(qtbot, panel)
    _menu(panel)["Columns/NIQE"].trigger()
    assert panel.arrangement.columns == (*STANDARD, "score:niqe")
    assert "Columns/MUSIQ" not in _menu(panel)
    _menu(panel)["Columns/Curve"].trigger()
    assert panel.arrangement.columns == ("steps", "score:niqe")
    _menu(panel)["Sort by/NIQE"].trigger()
    _menu(panel)["Sort by/Descending"].trigger()
    assert (panel.arrangement.sort, panel.arrangement.descending) == ("score:niqe", True)
    panel.view.viewport().grab()
    _menu(panel)["Standard view"].trigger()
    assert panel.arrangement == Arrangement()


def test_all_groups_are_opened_and_closed_at_once(panel):
    groups = list(panel.tree.indexes_of_groups())
    assert len(groups) == 2
    _menu(panel)["Close all groups"].trigger()
    assert not any(map(panel.view.isExpanded, groups))
    _menu(panel)["Open all groups"].trigger()
    assert all(map(panel.view.isExpanded, groups))
    panel.arrange(Arrangement(Grouping.NONE))
    assert "Close all groups" not in _menu(panel)


def _title(panel) -> str:
    return panel.tree.headerData(0, Qt.Orientation.Horizontal)


def test_the_title_tells_how_many_runs_are_found_or_selected(panel):
    assert _title(panel) == "4 runs"
    panel.bar.field.setText('"image 2"')
    assert _title(panel) == "2 of 4 runs"
    panel.view.selectAll()
    assert _title(panel) == "2 of 2 selected"
    panel.bar.field.setText("nothing like it")
    assert _title(panel) == "0 of 4 runs"


def test_columns_are_ticked_one_after_another_in_a_menu_that_stays_open(qtbot, panel):
    panel.view.header().customContextMenuRequested.emit(QPoint(5, 5))
    menu = panel.menu.columns
    qtbot.waitUntil(menu.isVisible)
    entries = {action.text(): action for action in menu.actions()}
    for title in ("Tags", "Resolution"):
        menu.setActiveAction(entries[title])
        QTest.keyClick(menu, Qt.Key.Key_Space)
    QTest.mouseClick(menu, Qt.MouseButton.LeftButton, pos=menu.actionGeometry(entries["Outcome"]).center())
    QTest.mouseClick(menu, Qt.MouseButton.LeftButton, pos=menu.actionGeometry(entries["Tags"]).center())
    assert menu.isVisible()
    assert panel.arrangement.columns == (*STANDARD, "outcome", "size")
    assert [title for title, action in entries.items() if action.isChecked()] == [
        "Curve",
        "Steps",
        "Outcome",
        "Resolution",
    ]
    QTest.keyClick(menu, Qt.Key.Key_Escape)
    assert not menu.isVisible()


def _has_bar(panel, run_id: int) -> bool:
    rect = panel.view.visualRect(panel.tree.index_of_run(run_id))
    picture = panel.view.viewport().grab().toImage()
    return picture.pixelColor(1, rect.center().y()).name() == theme.colours().accent.lower()


def test_the_run_looked_at_is_marked_among_those_selected(panel, session):
    first, second = (node.run.id for node in list(panel.tree.nodes())[:2])
    session.choose_run(first)
    panel.view.selectAll()
    assert (_has_bar(panel, first), _has_bar(panel, second)) == (True, False)
    session.choose_run(second)
    assert (_has_bar(panel, first), _has_bar(panel, second)) == (False, True)


def test_the_number_of_a_repeat_is_read_however_long_the_rest_is(qapp):
    metrics = QFontMetrics(theme.base_font())
    fits = metrics.horizontalAdvance("replicate · r12")
    assert two_lines("replicate · r12", "a model", metrics, fits) == ("replicate · r12", "a model")
    assert two_lines("replicate · r12", "a model", metrics, fits - 1) == ("replicate", "r12 · a model")
    assert two_lines("replicate", "a model", metrics, 5) == ("replicate", "a model")


def test_titles_of_columns_have_the_room_that_they_take(panel):
    header = panel.view.header()
    panel.tree.name_curve("A metric of a long name")
    for section in range(1, panel.tree.columnCount()):
        title = panel.tree.headerData(section, Qt.Orientation.Horizontal)
        assert header.sectionSize(section) >= header.fontMetrics().horizontalAdvance(title) + 2 * theme.GRID


def test_steps_have_the_room_that_they_take(qapp, qtbot, panel, session):
    section = 1 + STANDARD.index("steps")
    before = panel.view.columnWidth(section)
    assert steps_width({"4"}) <= before < steps_width({"4", "63/100"})
    run_id = add_run(
        session.project, NewRun("Image 1", "codec_loss", "jpeg", "replicate", 1, 100, state=RunState.PLANNED)
    )
    qtbot.waitUntil(lambda: panel.tree.index_of_run(run_id).isValid())
    assert panel.view.columnWidth(section) == steps_width({"0/100"}) > before


def test_a_view_is_saved_applied_renamed_and_removed(qtbot, panel, session):
    panel.arrange(Arrangement(Grouping.PROTOCOL, filter="image 2"))
    _menu(panel)["Save this view…"].trigger()
    _answer(qtbot, panel, "Second <b>image</b>")
    qtbot.waitUntil(lambda: [view.name for view in panel.views.all] == ["Second <b>image</b>"])
    assert [view.name for view in saved_views(session.project)] == ["Second <b>image</b>"]
    panel.arrange(Arrangement())
    entry = _menu(panel)["Second <b>image</b>"]
    assert not entry.isChecked()
    entry.trigger()
    assert panel.arrangement == Arrangement(Grouping.PROTOCOL, filter="image 2")
    assert panel.bar.field.text() == "image 2"
    assert _menu(panel)["Second <b>image</b>"].isChecked()
    _menu(panel)["Rename/Second <b>image</b>…"].trigger()
    _answer(qtbot, panel, "Second")
    qtbot.waitUntil(lambda: [view.name for view in panel.views.all] == ["Second"])
    with qtbot.waitSignal(panel.views.updated):
        _menu(panel)["Remove/Second"].trigger()
    assert saved_views(session.project) == []


def _answer(qtbot, panel, name: str) -> None:
    dialog = panel.findChild(QInputDialog)
    dialog.setTextValue(name)
    dialog.accept()
    qtbot.waitUntil(lambda: panel.findChild(QInputDialog) is None)


def test_a_project_open_for_reading_uses_its_views_and_saves_none(qtbot, study, open_panel, session):
    arrangement = Arrangement(Grouping.NONE, ("steps",))
    with Project.open(study) as project:
        save_view(project, arrangement.saved("all"))
    panel = open_panel(read_only=True)
    qtbot.waitUntil(lambda: bool(panel.views.all))
    menu = _menu(panel)
    assert not menu["Save this view…"].isEnabled()
    assert not any(text.startswith(("Rename", "Remove")) for text in menu)
    menu["all"].trigger()
    assert panel.arrangement == arrangement


def test_the_selected_runs_are_scored(qtbot, open_panel, study, session):
    with Project.open(study) as project:
        project.write(lambda database: database.execute("DELETE FROM score"))
    panel = open_panel()
    panel.view.setCurrentIndex(panel.tree.index_of_run(3))
    wanted = {step.image.sha256 for step in session.steps}
    asked = []
    session.pool.subscribe(lambda progress: asked.append(progress.total))
    panel.registry.qaction("score.selected").trigger()
    qtbot.waitUntil(lambda: bool(asked) and max(asked) > 0)
    session.cancel_scoring()
    assert max(asked) % len(wanted) == 0


def test_filtering_does_not_change_the_run_looked_at(panel, session):
    looked_at = session.run.id
    QTest.keyClicks(panel.bar.field, "image 2")
    assert session.run.id == looked_at
    assert session.selected_runs == [looked_at]
    panel.bar.field.clear()
    assert panel.view.currentIndex().data(NODE_ROLE).run.id == looked_at


def test_a_group_keeps_the_keyboard_while_runs_arrive(qtbot, panel, session):
    panel.view.setCurrentIndex(panel.tree.index(1, 0))
    new = add_run(session.project, NewRun("Image 1", "codec_loss", "jpeg-webp", "replicate"))
    qtbot.waitUntil(lambda: panel.tree.index_of_run(new).isValid())
    assert panel.view.currentIndex() == panel.tree.index(1, 0)


def test_left_and_right_fold_a_group_and_step_on_a_run(panel, session):
    panel.view.setFocus()
    group = panel.tree.index(0, 0)
    panel.view.setCurrentIndex(group)
    QTest.keyClick(panel.view, Qt.Key.Key_Left)
    assert not panel.view.isExpanded(group)
    QTest.keyClick(panel.view, Qt.Key.Key_Right)
    assert panel.view.isExpanded(group)


def test_thumbnails_and_curves_of_the_rows_on_screen_arrive(qtbot, panel, session):
    qtbot.waitUntil(panel.is_settled)
    curve = panel._sparklines.curve(session.run.id)
    assert [step for step, _value in curve.points] == [0, 1, 2, 3, 4]
    assert panel._sparklines.metric in {"piqe", "brisque", "niqe"}
    tip = panel.view.currentIndex().data(Qt.ItemDataRole.ToolTipRole)
    assert find_metric(panel._sparklines.metric).title in tip


def test_all_curves_are_read_ahead_of_need_and_each_is_told_of_once(qtbot, panel, session):
    told: list[set[int] | None] = []
    panel._sparklines.updated.connect(told.append)
    ids = {run.id for run in session.runs}
    qtbot.waitUntil(lambda: ids <= set(panel._sparklines._curves))
    assert all(panel._sparklines.curve(run_id).points for run_id in ids)
    qtbot.waitUntil(panel.is_settled)
    before = len(told)
    panel._sparklines._age()  # nothing has changed since
    qtbot.waitUntil(lambda: panel._sparklines.settled and ids <= panel._sparklines._fresh)
    assert told[before:] == [None]


def test_curves_that_cant_be_read_are_left_out(study):
    with Project.open(study) as project:
        assert _read_curves(project, [1, 2], "niqe").curves[1].points
    assert _read_curves(project, [1, 2], "niqe").curves == {}


def test_only_the_curves_that_changed_are_painted_again(qtbot, panel, session):
    qtbot.waitUntil(panel.is_settled)
    painted = []
    first = next(panel.tree.nodes())
    index = panel.tree.index_of_run(first.run.id)
    curve = index.siblingAtColumn(1 + STANDARD.index("curve"))

    class Watch(QObject):
        def eventFilter(self, _watched, event):
            if event.type() == QEvent.Type.Paint:
                painted.append(event.region())
            return False

    qtbot.waitUntil(lambda: not panel._sparklines._ahead())
    panel.view.viewport().repaint()
    watch = Watch()
    panel.view.viewport().installEventFilter(watch)
    panel._sparklines.updated.emit({first.run.id})
    qtbot.waitUntil(lambda: bool(painted))
    rect = panel.view.visualRect(curve)
    assert all(region.boundingRect() == rect for region in painted), (painted, rect)


def test_an_empty_list_says_what_to_do(panel, session):
    session.close_project()
    assert "No runs yet" in panel.view.hint
    panel.view.viewport().grab()


def test_closing_the_project_empties_the_list(panel, session):
    session.close_project()
    assert panel.tree.rowCount() == 0
    assert session.selected_runs == []


def test_a_run_is_marked_only_while_it_is_generated(panel, session):
    run_id = session.runs[1].id
    session.generation_progressed.emit(GenerationProgress(run_id=run_id, running=True))
    assert panel._delegate.generating == run_id
    session.generation_progressed.emit(GenerationProgress(run_id=run_id, running=False))
    assert panel._delegate.generating is None
