from __future__ import annotations

import pytest
from PySide6.QtCore import QModelIndex, Qt
from PySide6.QtTest import QAbstractItemModelTester, QTest
from PySide6.QtWidgets import QMainWindow

from app.actions import ActionRegistry
from app.browser.model import NODE_ROLE, Node, RunTree, matches
from app.browser.panel import BrowserPanel
from banana100_core.catalog.metrics import metric as find_metric
from banana100_core.project.records import NewRun, NewTag, Run, RunState
from banana100_core.project.runs import add_run, set_run_state
from banana100_core.project.tags import add_tag


def _run(number: int, image: str = "Dongpo", model: str = "gemini-3-pro", repeat: int = 1, **more) -> Run:
    values = {
        "id": number,
        "uuid": f"uuid-{number}",
        "initial_image": image,
        "initial_sha256": None,
        "last_sha256": None,
        "provider": "imported",
        "model": model,
        "protocol": "replicate",
        "repeat": repeat,
        "branch": "",
        "session_mode": "fresh",
        "seed": None,
        "settings": {},
        "source": None,
        "state": RunState.DONE,
        "state_reason": "",
        "steps_planned": 100,
        "steps_done": 100,
        "steps_failed": 0,
        "tag_count": 0,
        "created_at": "2026-01-01T00:00:00",
    }
    return Run(**(values | more))


def _texts(model, parent: QModelIndex | None = None) -> list[object]:
    parent = parent or QModelIndex()
    return [
        (model.index(row, 0, parent).data(NODE_ROLE).title, _texts(model, model.index(row, 0, parent)))
        for row in range(model.rowCount(parent))
    ]


@pytest.fixture
def tree(qtbot):
    model = RunTree()
    # Checks after each change that the model keeps Qt's rules.
    tester = QAbstractItemModelTester(model, QAbstractItemModelTester.FailureReportingMode.Fatal)
    yield model
    del tester


def test_runs_are_grouped_by_initial_image_then_protocol_and_model(tree):
    tree.set_runs([_run(1), _run(2, repeat=2), _run(3, "Fog"), _run(4, model="qwen-image-edit")])
    assert _texts(tree) == [
        ("Dongpo", [("replicate", [("r1", []), ("r2", [])]), ("replicate", [("r1", [])])]),
        ("Fog", [("replicate", [("r1", [])])]),
    ]


def test_runs_are_in_the_order_of_their_repeats(tree):
    tree.set_runs([_run(1, repeat=3), _run(2, repeat=1)])
    assert _texts(tree) == [("Dongpo", [("replicate", [("r1", []), ("r3", [])])])]


def test_runs_come_and_go_without_a_reset(tree, qtbot):
    resets: list[None] = []
    tree.modelReset.connect(lambda: resets.append(None))
    tree.set_runs([_run(1), _run(3, "Fog")])
    tree.set_runs([_run(1), _run(2, "Holi"), _run(4, repeat=2)])
    assert _texts(tree) == [
        ("Dongpo", [("replicate", [("r1", []), ("r2", [])])]),
        ("Holi", [("replicate", [("r1", [])])]),
    ]
    tree.set_runs([])
    assert _texts(tree) == []
    assert resets == []


def test_only_rows_that_changed_are_told(tree):
    tree.set_runs([_run(1, steps_done=5), _run(2, repeat=2)])
    changed: list[str] = []
    tree.dataChanged.connect(lambda first, _last, _roles: changed.append(first.data(NODE_ROLE).title))
    tree.set_runs([_run(1, steps_done=6), _run(2, repeat=2)])
    assert changed == ["r1"]


def test_groups_count_their_finished_runs(tree):
    tree.set_runs([_run(1), _run(2, repeat=2, state=RunState.PLANNED)])
    node = tree.index(0, 0).data(NODE_ROLE)
    assert isinstance(node, Node)
    assert node.counts == (1, 2)


def test_the_editors_of_the_program_are_labelled_as_embedded(tree):
    tree.set_runs([_run(1, provider="restoration_loop", model="realesr-animevideov3-x2")])
    group = tree.index(0, 0, tree.index(0, 0)).data(NODE_ROLE)
    assert group.note == "Restoration loop · embedded"


def test_names_from_outside_are_no_html_in_tool_tips(tree):
    tree.set_runs([_run(1, image="<b>x</b>")])
    tip = tree.index(0, 0).data(Qt.ItemDataRole.ToolTipRole)
    assert "<b>" not in tip


@pytest.mark.parametrize(
    ("text", "found"),
    [("R2 fog", True), ("fog replicate", True), ("dongpo", False), ("stopped", False), ("", True)],
)
def test_the_filter_wants_every_word_in_any_order(text, found):
    assert matches(_run(2, "Fog", repeat=2), text.casefold().split()) is found


# The panel, on a real project


@pytest.fixture
def panel(qtbot, session, study):
    window = QMainWindow()
    qtbot.addWidget(window)
    registry = ActionRegistry(window)
    panel = BrowserPanel(session, registry)
    window.setCentralWidget(panel)
    window.resize(320, 700)
    window.show()
    qtbot.waitActive(window)
    session.open_project(study)
    panel.registry = registry
    return panel


def test_the_current_run_is_marked(panel, session):
    assert panel.view.currentIndex().data(NODE_ROLE).run.id == session.run.id
    assert session.selected_runs == [session.run.id]


def test_looking_at_a_run_in_the_list_shows_it(panel, session):
    third = list(panel._run_indexes())[2]
    panel.view.setCurrentIndex(third)
    assert session.run.id == third.data(NODE_ROLE).run.id


def test_next_and_previous_run_follow_the_list_and_stop_at_its_ends(panel, session):
    ids = [index.data(NODE_ROLE).run.id for index in panel._run_indexes()]
    for _run_id in ids:
        panel.registry.qaction("run.next_run").trigger()
    assert session.run.id == ids[-1]
    panel.registry.qaction("run.previous_run").trigger()
    assert session.run.id == ids[-2]
    assert panel.view.currentIndex().data(NODE_ROLE).run.id == ids[-2]


def test_several_runs_are_selected_for_the_plots(qtbot, panel, session):
    indexes = list(panel._run_indexes())
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
    panel.view.setCurrentIndex(list(panel._run_indexes())[3])
    panel.view.collapse(folded)
    current = session.run.id
    new = add_run(session.project, NewRun("Image 2", "codec_loss", "jpeg-webp", "replicate"))
    qtbot.waitUntil(lambda: panel._index_of(new).isValid())
    assert panel.view.currentIndex().data(NODE_ROLE).run.id == current
    assert session.run.id == current
    assert not panel.view.isExpanded(folded)
    assert panel.view.isExpanded(panel._index_of(new).parent())


def test_state_and_tags_of_a_run_are_kept_up_to_date(qtbot, panel, session):
    run_id = session.run.id
    set_run_state(session.project, run_id, RunState.STOPPED, "the editor refused")
    add_tag(session.project, "Ada", NewTag(run_id, next(iter(_mode_keys())), onset=1))
    qtbot.waitUntil(lambda: panel._index_of(run_id).data(NODE_ROLE).run.tag_count == 1)
    qtbot.waitUntil(lambda: panel._index_of(run_id).data(NODE_ROLE).run.state is RunState.STOPPED)
    assert "the editor refused" in panel._index_of(run_id).data(Qt.ItemDataRole.ToolTipRole)


def _mode_keys():
    from banana100_core.catalog.failure_modes import failure_modes

    return failure_modes()


def test_the_filter_opens_what_it_finds_and_puts_all_back(qtbot, panel, session):
    panel.view.collapseAll()
    QTest.keyClicks(panel.filter, "image 2 r1")
    assert len(list(panel._run_indexes())) == 1
    found = next(panel._run_indexes())
    assert panel.view.isExpanded(found.parent())
    QTest.keyClick(panel.filter, Qt.Key.Key_Return)
    assert session.run.id == found.data(NODE_ROLE).run.id
    panel.filter.clear()
    assert len(list(panel._run_indexes())) == 4
    assert not panel.view.isExpanded(panel.tree.index(0, 0))


def test_the_filter_follows_every_keystroke_with_280_runs(panel):
    panel.tree.set_runs([_run(n, f"Image {n % 12}", f"model {n % 4}", repeat=n) for n in range(280)])
    found = []
    for text in ("image 3", "image 3 r15", "image 3", "zzz", ""):
        panel.filter.setText(text)
        found.append(len(list(panel._run_indexes())))
    assert found[0] == found[2] > found[1] > found[3] == 0
    assert found[4] == 280


def test_a_filter_that_finds_nothing_says_so(panel):
    QTest.keyClicks(panel.filter, "zzz")
    assert list(panel._run_indexes()) == []
    assert panel.view.nothing_found


def test_filtering_does_not_change_the_run_looked_at(panel, session):
    looked_at = session.run.id
    QTest.keyClicks(panel.filter, "image 2")
    assert session.run.id == looked_at
    assert session.selected_runs == [looked_at]
    panel.filter.clear()
    assert panel.view.currentIndex().data(NODE_ROLE).run.id == looked_at


def test_a_group_keeps_the_keyboard_while_runs_arrive(qtbot, panel, session):
    panel.view.setCurrentIndex(panel.tree.index(1, 0))
    new = add_run(session.project, NewRun("Image 1", "codec_loss", "jpeg-webp", "replicate"))
    qtbot.waitUntil(lambda: panel._index_of(new).isValid())
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
    qtbot.waitUntil(panel.is_settled, timeout=10_000)
    curve = panel._sparklines.curve(session.run.id)
    assert [step for step, _value in curve.points] == [0, 1, 2, 3, 4]
    assert panel._sparklines.metric in {"piqe", "brisque", "niqe"}
    tip = panel.view.currentIndex().data(Qt.ItemDataRole.ToolTipRole)
    assert find_metric(panel._sparklines.metric).title in tip


def test_an_empty_list_says_what_to_do(panel, session):
    session.close_project()
    assert "No runs yet" in panel.view.hint
    panel.view.viewport().grab()


def test_closing_the_project_empties_the_list(panel, session):
    session.close_project()
    assert panel.tree.rowCount() == 0
    assert session.selected_runs == []
