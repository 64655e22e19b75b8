"""Regions in the window: drawn, moved, reshaped, held, copied, undone, and never lost."""

from __future__ import annotations

import io
import json

import numpy as np
import pytest
from PIL import Image as Pillow
from PySide6.QtCore import QEvent, QPoint, Qt
from PySide6.QtGui import QHelpEvent, QImage
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QDockWidget, QMainWindow, QToolTip

from app.actions import ActionRegistry
from app.blinding import Blinding
from app.compare.outlines.drawing import DrawnLayer
from app.compare.outlines.frame import mapped
from app.compare.outlines.geometry import handles
from app.compare.panel import ComparePanel
from app.compare.rules import Rule, Shows
from app.session import Session
from app.tagging.panel import TaggingPanel
from banana100_core.exchange.export_tags import Form, export_tags
from banana100_core.imaging.decode import inspect
from banana100_core.project import Project
from banana100_core.project.images import NewImage
from banana100_core.project.records import NewRegion, NewRun, NewStep, NewTag, Outcome, RegionKind, RunState
from banana100_core.project.regions import add_region, change_region, regions
from banana100_core.project.runs import add_run, add_steps
from banana100_core.project.tags import add_tag, edits, tags
from tests.app.faults import limit_pages, locked

LAST = 6
SIZE = WIDTH, HEIGHT = 120, 80
SMALL_FROM, SMALL = 5, (60, 40)  # from this step on the pictures are half as large
PATCH = (30, 20, 52, 35)  # left, top, right, bottom of what is pure red in each picture
RED = (255, 0, 0)
CTRL, SHIFT = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.ShiftModifier
LEFT = Qt.MouseButton.LeftButton


def picture(step: int) -> NewImage:
    pixels = np.random.default_rng(step).integers(0, 120, (HEIGHT, WIDTH, 3), np.uint8)
    left, top, right, bottom = PATCH
    pixels[top:bottom, left:right] = RED
    image = Pillow.fromarray(pixels)
    if step >= SMALL_FROM:
        image = image.resize(SMALL, Pillow.Resampling.NEAREST)
    stream = io.BytesIO()
    image.save(stream, "PNG")
    return NewImage(inspect(stream.getvalue()), data=stream.getvalue())


@pytest.fixture
def study(tmp_path):
    path = tmp_path / "study.b100"
    with Project.create(path) as project:
        for repeat in (1, 2):
            new = NewRun("noise", "codec_loss", "jpeg", "replicate", repeat, LAST, state=RunState.DONE)
            run_id = add_run(project, new)
            add_steps(
                project,
                [
                    (NewStep(run_id, step, Outcome.DONE if step else Outcome.INITIAL), picture(step))
                    for step in range(LAST + 1)
                ],
            )
    return path


class Desk:
    """A window with the comparison and the tags."""

    def __init__(self, qtbot, path, annotator="ana", *, read_only=False):
        self.qtbot = qtbot
        self.window = QMainWindow()
        qtbot.addWidget(self.window)
        self.registry = ActionRegistry(self.window)
        self.session = Session(self.window, annotator=annotator)
        self.registry.connect("run.next_step", self.session.next_step)
        self.compare = ComparePanel(self.session, self.registry)
        self.tagging = TaggingPanel(self.session, self.registry)
        self.window.setCentralWidget(self.compare)
        dock = QDockWidget()
        dock.setWidget(self.tagging)
        self.window.addDockWidget(Qt.DockWidgetArea.RightDockWidgetArea, dock)
        self.window.resize(1300, 800)
        self.window.show()
        qtbot.waitExposed(self.window)
        QApplication.setActiveWindow(self.window)
        self.session.adopt_project(Project.open(path, read_only=read_only))
        qtbot.waitUntil(lambda: bool(self.tagging.board.names))
        self.tool, self.outlines = self.compare.regions, self.compare.outlines
        self.edits = self.outlines.edits
        self.at(2)
        self.canvas.setFocus()

    @property
    def canvas(self):
        return self.compare.panes.right

    @property
    def project(self):
        return self.session.project

    def at(self, step):
        self.session.choose_step(step)
        self.qtbot.waitUntil(self.compare.is_settled)
        return self

    def press(self, key, modifiers=Qt.KeyboardModifier.NoModifier):
        QTest.keyClick(QApplication.focusWidget() or self.window, key, modifiers)
        return self

    def tagged(self):
        """Press the key of persistent noise."""
        return self.press(Qt.Key.Key_N)

    def point(self, x, y, canvas=None):
        """The point of a canvas where a point of the upright picture lies."""
        canvas = canvas or self.canvas
        (part,) = self.tool.parts(canvas)
        return QPoint(*(round(value) for value in mapped(part.to_pane, x, y)))

    def drag(self, start, end, canvas=None):
        canvas = canvas or self.canvas
        QTest.mousePress(canvas, LEFT, pos=start)
        QTest.mouseMove(canvas, (start + end) / 2)
        QTest.mouseMove(canvas, end)
        QTest.mouseRelease(canvas, LEFT, pos=end)
        return self

    def click(self, x, y, canvas=None):
        QTest.mouseClick(canvas or self.canvas, LEFT, pos=self.point(x, y, canvas))
        return self

    def saved(self):
        """Wait until every edit is in the project; give its regions."""
        self.qtbot.waitUntil(lambda: self.edits.settled and self.tagging.board.settled)
        assert not self.edits.reason
        return regions(self.project)

    def boxes(self):
        return [(region.step, region.points) for region in self.saved()]

    def trigger(self, key):
        self.registry.qaction(key).trigger()
        return self

    def shown(self, pane=1):
        """The outlines in a pane."""
        frame = self.compare.panes.images[pane].frame
        return list(self.outlines.at(frame).outlines)

    def close(self):
        self.session.close_project()


@pytest.fixture
def desk(qtbot, study):
    desk = Desk(qtbot, study)
    yield desk
    desk.close()


@pytest.fixture
def boxed(desk):
    """A box of 40 by 20 at (30, 30) of step 2, chosen."""
    desk.tagged().press(Qt.Key.Key_B, CTRL).drag(desk.point(30, 30), desk.point(70, 50))
    assert desk.boxes() == [(2, ((30, 30), (70, 50)))]
    return desk


def seen(canvas) -> np.ndarray:
    image = canvas.grab().toImage().convertToFormat(QImage.Format.Format_RGB888)
    rows = np.frombuffer(image.constBits(), np.uint8).reshape(image.height(), image.bytesPerLine())
    return rows[:, : image.width() * 3].reshape(image.height(), image.width(), 3).copy()


# From the keyboard


def test_a_region_is_made_without_a_mouse(desk):
    desk.tagged().press(Qt.Key.Key_B, CTRL)
    assert desk.registry.qaction("tag.draw_box").isChecked()
    assert desk.tool.hint.text.startswith("Box for Persistent noise")
    desk.press(Qt.Key.Key_Return)
    assert desk.boxes() == [(2, ((30, 20), (90, 60)))]
    assert not desk.registry.qaction("tag.draw_box").isChecked()
    assert desk.tool.chosen == desk.saved()[0].uuid
    desk.press(Qt.Key.Key_Right).press(Qt.Key.Key_Up, SHIFT)
    assert desk.boxes() == [(2, ((31, 10), (91, 50)))]
    assert desk.session.step == 2
    assert len(edits(desk.project)) == 4  # the tag, the box, and each of two keys


def test_a_held_arrow_is_one_edit(boxed):
    before = len(edits(boxed.project))
    for _ in range(5):
        QTest.keyPress(boxed.canvas, Qt.Key.Key_Left)
    QTest.keyRelease(boxed.canvas, Qt.Key.Key_Left)
    assert boxed.boxes() == [(2, ((25, 30), (65, 50)))]
    assert len(edits(boxed.project)) == before + 1


def test_one_key_puts_a_box_in_the_middle_of_what_is_on_screen(desk):
    desk.tagged()
    desk.canvas.zoom_to(desk.canvas.visible_region.__class__(0.5, 0.5, 1.0, 1.0))
    desk.press(Qt.Key.Key_K, CTRL)
    ((_step, ((left, top), (right, bottom))),) = desk.boxes()
    assert WIDTH / 2 <= left < right <= WIDTH  # the right half fills the pane from side to side
    assert 0 <= top < bottom <= HEIGHT


def test_handles_are_walked_and_moved_with_keys(boxed):
    boxed.press(Qt.Key.Key_Return)
    assert boxed.tool.handle == 0
    boxed.press(Qt.Key.Key_Backtab, SHIFT).press(Qt.Key.Key_Left, SHIFT)  # the middle of the left side
    assert boxed.boxes() == [(2, ((20, 30), (70, 50)))]
    boxed.press(Qt.Key.Key_Escape)
    assert (boxed.tool.handle, boxed.tool.chosen) == (None, boxed.saved()[0].uuid)
    boxed.press(Qt.Key.Key_Escape)
    assert boxed.tool.chosen is None
    boxed.press(Qt.Key.Key_Right)
    assert boxed.session.step == 3


def test_a_polygon_gains_and_loses_corners_with_keys(desk):
    desk.tagged().press(Qt.Key.Key_P, CTRL).press(Qt.Key.Key_Return)
    assert len(desk.saved()[0].points) == 4
    desk.press(Qt.Key.Key_Return).press(Qt.Key.Key_Insert)
    assert desk.saved()[0].points[:3] == ((30, 20), (60, 20), (90, 20))
    desk.press(Qt.Key.Key_Up, SHIFT)
    assert desk.saved()[0].points[1] == (60, 10)
    for _ in range(3):
        desk.press(Qt.Key.Key_Delete)
        desk.saved()
    assert len(desk.saved()[0].points) == 3
    assert "3 corners or more" in desk.tool.hint.text
    desk.press(Qt.Key.Key_Escape).press(Qt.Key.Key_Delete)
    assert desk.saved() == []


def test_tab_walks_the_regions_in_reading_order_and_then_leaves(boxed):
    boxed.press(Qt.Key.Key_B, CTRL).drag(boxed.point(80, 10), boxed.point(100, 20))
    upper, lower = (each.uuid for each in sorted(boxed.shown(), key=lambda each: each.bounds.top()))
    boxed.press(Qt.Key.Key_Escape)
    assert boxed.tool.chosen is None
    chosen = []
    for _ in range(2):
        boxed.press(Qt.Key.Key_Tab)
        chosen.append(boxed.tool.chosen)
    assert chosen == [upper, lower]
    boxed.press(Qt.Key.Key_Tab)
    assert boxed.tool.chosen is None
    assert not boxed.canvas.hasFocus()


def test_escape_ends_drawing_and_nothing_is_made(desk):
    desk.tagged().press(Qt.Key.Key_P, CTRL)
    desk.click(10, 10).click(50, 10).click(50, 50).press(Qt.Key.Key_Escape)
    assert (desk.tool.drawing, desk.tool.draft) == (None, None)
    assert desk.tool.hint.text == ""
    assert desk.saved() == []


def test_without_a_tag_there_is_a_word_and_no_drawing(desk):
    desk.press(Qt.Key.Key_B, CTRL)
    assert "Choose a tag first" in desk.tool.hint.text
    assert not desk.registry.qaction("tag.draw_box").isChecked()


# With the mouse


@pytest.mark.parametrize(
    "turns", [(), ("view.mirror",), ("view.turn_right",), ("view.mirror", "view.turn_left")]
)
def test_a_box_around_a_patch_of_a_turned_pane_cuts_out_precisely_that_patch(desk, tmp_path, turns):
    for turn in turns:
        desk.trigger(turn)
    desk.canvas.zoom_in()
    rows, columns = np.nonzero((seen(desk.canvas) == RED).all(axis=2))  # as a person would find it
    desk.tagged().press(Qt.Key.Key_B, CTRL)
    desk.drag(QPoint(columns.min(), rows.min()), QPoint(columns.max() + 1, rows.max() + 1))
    assert desk.boxes() == [(2, (PATCH[:2], PATCH[2:]))]
    out = tmp_path / "coco"
    export_tags(desk.project, out, Form.COCO)
    coco = json.loads((out / "annotations.json").read_text())
    images = {image["id"]: image for image in coco["images"]}
    annotation = next(each for each in coco["annotations"] if images[each["image_id"]]["step"] == 2)
    left, top, width, height = map(round, annotation["bbox"])
    whole = np.asarray(Pillow.open(out / images[annotation["image_id"]]["file_name"]).convert("RGB"))
    cut = whole[top : top + height, left : left + width]
    assert (cut == RED).all()
    assert cut.shape[:2] == (PATCH[3] - PATCH[1], PATCH[2] - PATCH[0])
    assert (whole == RED).all(axis=2).sum() == cut.shape[0] * cut.shape[1]


def test_a_polygon_is_closed_by_enter_a_double_click_or_its_first_corner(desk):
    triangle = ((10, 10), (60, 12), (30, 60))
    desk.tagged()
    for close in ("enter", "double", "first"):
        desk.press(Qt.Key.Key_P, CTRL)
        for corner in triangle:
            desk.click(*corner)
        if close == "enter":
            desk.press(Qt.Key.Key_Return)
        elif close == "first":
            desk.click(*triangle[0])
        else:
            QTest.mouseDClick(desk.canvas, LEFT, pos=desk.point(*triangle[-1]))
        assert desk.tool.drawing is None
    found = desk.saved()
    assert len(found) == 3
    for region in found:
        assert len(region.points) == 3
        np.testing.assert_allclose(region.points, triangle, atol=0.2)


def test_backspace_takes_the_last_corner_back(desk):
    desk.tagged().press(Qt.Key.Key_P, CTRL)
    for corner in ((10, 10), (60, 12), (99, 70), (30, 60)):
        desk.click(*corner)
        if corner == (99, 70):
            desk.press(Qt.Key.Key_Backspace)
    desk.press(Qt.Key.Key_Return)
    assert len(desk.saved()[0].points) == 3


def test_the_chosen_region_is_dragged_and_an_unchosen_one_lets_the_picture_be_panned(boxed):
    boxed.drag(boxed.point(50, 40), boxed.point(60, 45))
    assert boxed.boxes() == [(2, ((40, 35), (80, 55)))]
    boxed.press(Qt.Key.Key_Escape)
    boxed.canvas.zoom_in()
    before = boxed.canvas.view
    boxed.drag(boxed.point(60, 45), boxed.point(50, 40))
    assert boxed.canvas.view != before
    assert boxed.boxes() == [(2, ((40, 35), (80, 55)))]


def test_corners_and_sides_are_dragged(boxed):
    boxed.drag(boxed.point(30, 30), boxed.point(10, 20))
    boxed.drag(boxed.point(70, 35), boxed.point(100, 35))
    assert boxed.boxes() == [(2, ((10, 20), (100, 50)))]


def test_a_corner_of_a_polygon_is_dragged_added_and_removed(desk):
    desk.tagged().press(Qt.Key.Key_P, CTRL)
    for corner in ((10, 10), (90, 10), (50, 70)):
        desk.click(*corner)
    desk.press(Qt.Key.Key_Return)
    desk.drag(desk.point(50, 10), desk.point(50, 2))  # the middle of an edge
    np.testing.assert_allclose(desk.saved()[0].points[1], (50, 2), atol=0.2)
    QTest.mouseDClick(desk.canvas, LEFT, pos=desk.point(80, 25))
    assert len(desk.saved()[0].points) == 5
    desk.click(50, 2)
    assert desk.tool.handle == 1
    desk.press(Qt.Key.Key_Delete)
    assert len(desk.saved()[0].points) == 4


def test_a_click_chooses_the_smallest_region_with_its_tag_and_beside_it_none(boxed):
    boxed.press(Qt.Key.Key_C).press(Qt.Key.Key_B, CTRL).drag(boxed.point(20, 20), boxed.point(100, 70))
    boxed.press(Qt.Key.Key_Escape).click(50, 40)
    (inner,) = (each for each in boxed.shown() if each.name == "Persistent noise")
    assert boxed.tool.chosen == inner.uuid
    assert boxed.session.chosen_tag.failure_mode == "persistent_noise"
    boxed.click(110, 75)
    assert boxed.tool.chosen is None


def test_drawing_in_the_pane_of_the_reference_outlines_that_step(desk):
    desk.tagged().press(Qt.Key.Key_B, CTRL)
    left = desk.compare.panes.left
    desk.drag(desk.point(30, 30, left), desk.point(70, 50, left), left)
    assert desk.boxes() == [(1, ((30, 30), (70, 50)))]
    assert "begins after this step. The region counts once its tag holds here" in desk.tool.hint.text
    desk.at(2).press(Qt.Key.Key_Escape)
    assert len(desk.shown()) == 1  # from the onset on it holds


# Holding until changed


def test_regions_hold_and_editing_them_later_makes_them_that_steps_own(boxed):
    boxed.press(Qt.Key.Key_B, CTRL).drag(boxed.point(80, 10), boxed.point(100, 20))
    boxed.at(4)
    assert [(each.held, each.outlined_step) for each in boxed.shown()] == [(True, 2), (True, 2)]
    boxed.press(Qt.Key.Key_Down)
    found = boxed.boxes()
    assert found[:2] == [(2, ((30, 30), (70, 50))), (2, ((80, 10), (100, 20)))]
    assert sorted(found[2:]) == [(4, ((30, 30), (70, 50))), (4, ((80, 11), (100, 21)))]
    assert [each.held for each in boxed.shown()] == [False, False]
    boxed.at(3)
    assert [each.held for each in boxed.shown()] == [True, True]


def test_a_region_drawn_where_others_hold_is_added_to_them(boxed):
    boxed.at(4).press(Qt.Key.Key_B, CTRL).drag(boxed.point(80, 10), boxed.point(100, 20))
    assert sorted(boxed.boxes()[1:]) == [(4, ((30, 30), (70, 50))), (4, ((80, 10), (100, 20)))]


def test_removing_the_only_region_at_a_later_step_ends_it_there_and_is_undone(boxed):
    assert "Del removes it" in boxed.tool.hint.text
    boxed.at(4)
    boxed.qtbot.waitUntil(lambda: "Del ends it before this step" in boxed.tool.hint.text)
    boxed.press(Qt.Key.Key_Delete)
    assert "Ended a region of Persistent noise before this step" in boxed.tool.hint.text
    assert [(there.step, there.end_step) for there in boxed.saved()] == [(2, 3)]
    assert boxed.shown() == []
    boxed.qtbot.waitUntil(lambda: len(boxed.compare.slider.bars) == 1)
    assert boxed.compare.slider.bare_places(boxed.compare.slider.bars[0]) == [4]
    (outline,) = boxed.at(3).shown()
    assert outline.told.endswith("held from there to step 3")
    boxed.at(4).press(Qt.Key.Key_Z, CTRL)
    boxed.qtbot.waitUntil(lambda: len(boxed.shown()) == 1)
    assert [there.end_step for there in boxed.saved()] == [None]
    assert boxed.compare.slider.bare_places(boxed.compare.slider.bars[0]) == []
    boxed.press(Qt.Key.Key_Z, CTRL | SHIFT)
    boxed.qtbot.waitUntil(lambda: boxed.shown() == [])


def test_an_ended_region_ends_after_a_restart_too(qtbot, study):
    desk = Desk(qtbot, study)
    desk.tagged().press(Qt.Key.Key_K, CTRL)
    desk.saved()
    desk.at(4).press(Qt.Key.Key_Delete)
    desk.close()  # in the same moment
    desk = Desk(qtbot, study)
    qtbot.waitUntil(lambda: len(desk.at(3).shown()) == 1)
    assert desk.at(4).shown() == []
    desk.press(Qt.Key.Key_Z, CTRL)
    desk.qtbot.waitUntil(lambda: len(desk.shown()) == 1)
    desk.close()


def test_removing_one_of_two_held_regions_leaves_the_other(boxed):
    boxed.press(Qt.Key.Key_B, CTRL).drag(boxed.point(80, 10), boxed.point(100, 20))
    boxed.at(4).press(Qt.Key.Key_Delete)
    assert [(there.step, there.end_step) for there in boxed.saved()] == [(2, None), (2, 3)]
    (left,) = boxed.shown()
    assert left.points == ((30, 30), (70, 50))


def test_what_ended_can_be_drawn_reshaped_and_copied_again(boxed):
    boxed.at(4).press(Qt.Key.Key_Delete)
    boxed.press(Qt.Key.Key_K, CTRL)  # nothing of what ended comes back with it
    assert [(there.step, there.end_step) for there in boxed.saved()] == [(2, 3), (4, None)]
    boxed.press(Qt.Key.Key_Delete)
    assert boxed.shown() == []
    boxed.at(3).click(50, 40).press(Qt.Key.Key_Down)  # outlined anew, it still ends where it did
    assert [(there.step, there.end_step) for there in boxed.saved()] == [(2, 3), (3, 3)]
    boxed.press(Qt.Key.Key_Return, CTRL | SHIFT)  # and copied beyond its end, it holds there
    assert [(there.step, there.end_step) for there in boxed.saved()] == [(2, 3), (3, 3), (4, None)]
    assert len(boxed.at(6).shown()) == 1


def test_a_region_is_removed_at_its_own_step(boxed):
    boxed.press(Qt.Key.Key_Delete)
    assert boxed.saved() == []


def test_regions_are_copied_to_the_next_step_scaled_with_its_picture(boxed):
    boxed.at(4).press(Qt.Key.Key_Return, CTRL | SHIFT)
    assert boxed.session.step == 5
    assert boxed.boxes() == [(2, ((30, 30), (70, 50))), (5, ((15, 15), (35, 25)))]
    assert "Copied 1 region of Persistent noise to step 5" in boxed.tool.hint.text
    boxed.at(4).press(Qt.Key.Key_Return, CTRL | SHIFT)
    assert "already" in boxed.tool.hint.text
    assert len(boxed.saved()) == 2


def test_a_region_shows_at_the_same_place_of_linked_panes_of_other_sizes(boxed):
    boxed.compare.pane_steps.set_rule(0, Rule(Shows.PINNED, 6))
    boxed.qtbot.waitUntil(boxed.compare.is_settled)
    (small,), (large,) = boxed.shown(0), boxed.shown(1)
    assert (small.points, large.points) == (((15, 15), (35, 25)), ((30, 30), (70, 50)))
    boxed.canvas.zoom_in()
    places = [
        boxed.point(*outline.points[0], canvas)
        for canvas, outline in ((boxed.compare.panes.left, small), (boxed.canvas, large))
    ]
    assert places[0] == places[1]


def test_a_tag_that_has_ended_shows_no_region_after_it(boxed):
    boxed.at(3).press(Qt.Key.Key_N, SHIFT)
    assert len(boxed.shown()) == 1
    boxed.at(4)
    assert boxed.shown() == []


def test_a_tag_shows_no_region_before_its_onset_that_holds_from_there(boxed):
    boxed.tagging.board.change(boxed.tagging.chosen, onset=4)
    boxed.saved()
    assert [len(boxed.at(step).shown()) for step in (2, 3, 4, 5)] == [1, 0, 1, 1]  # its own step keeps it


def test_no_region_is_copied_beyond_the_end_of_its_tag(boxed):
    boxed.at(4).press(Qt.Key.Key_N, SHIFT).press(Qt.Key.Key_Return, CTRL | SHIFT)
    assert boxed.session.step == 4
    assert "has ended before step 5, and no region holds beyond its end" in boxed.tool.hint.text
    assert len(boxed.saved()) == 1
    boxed.press(Qt.Key.Key_K, CTRL)
    assert boxed.tool.hint.text.startswith("Persistent noise · N, box")
    boxed.at(5).press(Qt.Key.Key_K, CTRL)
    assert "has ended before this step. The region counts once its tag holds here" in boxed.tool.hint.text


def test_copying_regions_tells_no_hidden_number(boxed):
    boxed.session.set_blinding(Blinding(steps=True))
    boxed.at(4).press(Qt.Key.Key_Return, CTRL | SHIFT)
    assert boxed.tool.hint.text.startswith("Copied 1 region of Persistent noise to the next step.")
    boxed.at(4).press(Qt.Key.Key_Return, CTRL | SHIFT)
    assert boxed.tool.hint.text.startswith("This step has regions of Persistent noise already")


def test_outlined_steps_are_marked_on_the_slider(boxed):
    boxed.at(4).press(Qt.Key.Key_Down)
    boxed.saved()
    boxed.qtbot.waitUntil(lambda: len(boxed.compare.slider.bars) == 1)
    (bar,) = boxed.compare.slider.bars
    assert boxed.compare.slider.outlined_places(bar) == [2, 4]


# Undo


def test_undo_and_redo_include_regions(boxed):
    boxed.press(Qt.Key.Key_Right)
    moved = (2, ((31, 30), (71, 50)))
    assert boxed.boxes() == [moved]
    expected = [[(2, ((30, 30), (70, 50)))], []]
    for there in expected:
        boxed.press(Qt.Key.Key_Z, CTRL)
        boxed.qtbot.waitUntil(lambda there=there: boxed.boxes() == there)
        boxed.qtbot.waitUntil(lambda there=there: len(boxed.shown()) == len(there))
    assert "regions of Persistent noise" in boxed.tagging.message.text()
    for there in (expected[0], [moved]):
        boxed.press(Qt.Key.Key_Z, CTRL | SHIFT)
        boxed.qtbot.waitUntil(lambda there=there: boxed.boxes() == there)


def test_undo_right_after_an_edit_takes_back_that_very_edit(desk):
    desk.tagged().press(Qt.Key.Key_K, CTRL).press(Qt.Key.Key_Z, CTRL)
    desk.qtbot.waitUntil(lambda: "Undone" in desk.tagging.message.text())
    assert desk.saved() == []
    assert len(tags(desk.project)) == 1


# What is seen


def test_the_outline_is_on_the_picture_in_every_mode(boxed):
    boxed.press(Qt.Key.Key_Escape)
    green = np.array([0x00, 0x9E, 0x73])

    def outlined():
        return int((np.abs(seen(boxed.canvas).astype(int) - green).max(axis=2) < 30).sum())

    boxed.trigger("view.outlines")
    bare = outlined()
    boxed.trigger("view.outlines")
    assert outlined() > bare + 50
    for mode in ("view.wipe", "view.difference", "view.blink"):
        boxed.trigger(mode)
        boxed.compare.panes._timer.stop()
        assert outlined() > bare + 20, mode


def test_of_a_box_that_is_drawn_only_the_sides_are_seen(desk):
    desk.tagged().press(Qt.Key.Key_B, CTRL)
    start, end = desk.point(30, 30), desk.point(70, 50)

    def inside():
        rows, columns = slice(start.y() + 9, end.y() - 9), slice(start.x() + 9, end.x() - 9)
        return seen(desk.canvas)[rows, columns]

    before = inside()
    QTest.mousePress(desk.canvas, LEFT, pos=start)
    QTest.mouseMove(desk.canvas, (start + end) / 2)
    QTest.mouseMove(desk.canvas, end)
    assert len(desk.tool.draft.line) == 5
    np.testing.assert_array_equal(inside(), before)
    QTest.mouseRelease(desk.canvas, LEFT, pos=end)
    assert desk.boxes() == [(2, ((30, 30), (70, 50)))]


def test_each_side_of_a_wipe_has_the_outlines_of_its_step(boxed):
    boxed.trigger("view.wipe")
    steps = [part.frame.step for part in boxed.tool.parts(boxed.canvas)]
    assert steps == [1, 2]
    middle = boxed.canvas.content.divider_at(boxed.canvas.pane)
    assert boxed.tool.part_at(boxed.canvas, middle - 5, 50).frame.step == 1
    assert boxed.tool.part_at(boxed.canvas, middle + 5, 50).frame.step == 2


def test_hidden_outlines_come_back_and_drawing_shows_them(boxed):
    boxed.trigger("view.outlines")
    assert (boxed.tool.shown, boxed.tool.chosen) == (False, None)
    boxed.click(50, 40)
    assert boxed.tool.chosen is None
    boxed.press(Qt.Key.Key_B, CTRL)
    assert boxed.tool.shown
    assert boxed.registry.qaction("view.outlines").isChecked()


def test_panning_draws_the_same_as_drawing_anew(boxed):
    boxed.press(Qt.Key.Key_Escape)
    for number in range(40):
        x, y = 7 * (number % 10), 17 * (number // 10)
        kind = RegionKind.POLYGON if number % 2 else RegionKind.BOX
        points = ((x, y), (x + 31, y + 5)) if number % 2 == 0 else ((x, y), (x + 40, y + 3), (x + 9, y + 20))
        boxed.edits.draw(boxed.session.chosen_tag.uuid, 2, kind, points)
    boxed.saved()
    canvas, link = boxed.canvas, boxed.canvas.link
    size = canvas.shown_size
    link.view = link.view.zoomed_to(9.0, (200, 150), size, canvas.pane)
    seen(canvas)
    for dx, dy in ((-13, 7), (29, 0), (0, -31), (-5, -5), (300, 300), (-900, 10)):
        link.view = link.view.panned(dx, dy, size, canvas.pane)
        moved = seen(canvas)
        boxed.tool.view._drawn.clear()
        # Where a line is smoothed, Qt's rounding may differ by a shade.
        np.testing.assert_allclose(moved.astype(int), seen(canvas), atol=24)


def test_an_edit_draws_only_what_it_changed_and_that_the_same(boxed, monkeypatch):
    boxed.press(Qt.Key.Key_Escape)
    seen(boxed.canvas)
    drawn = []
    render = DrawnLayer._render
    monkeypatch.setattr(
        DrawnLayer, "_render", lambda self, area, *rest: (drawn.append(area), render(self, area, *rest))
    )
    boxed.edits.draw(boxed.session.chosen_tag.uuid, 2, RegionKind.BOX, ((5, 5), (25, 20)))
    edited = seen(boxed.canvas)
    assert drawn
    assert all(area.width() < boxed.canvas.width() / 2 for area in drawn)
    boxed.tool.view._drawn.clear()
    np.testing.assert_array_equal(edited, seen(boxed.canvas))


def test_hovering_tells_mode_key_annotator_and_step(boxed):
    (outline,) = boxed.at(4).shown()
    assert outline.told == "Persistent noise · N\nby ana, outlined at step 2 and held from there"
    boxed.session.set_blinding(Blinding(steps=True))
    (outline,) = boxed.shown()
    assert "2" not in outline.told


# Others


def test_regions_of_others_are_seen_and_not_edited(desk):
    tag = add_tag(desk.project, "<b>ben</b>", NewTag(desk.session.run.id, "green_tint", 1))
    add_region(desk.project, "<b>ben</b>", tag.uuid, NewRegion(1, RegionKind.BOX, ((30, 30), (70, 50))))
    desk.qtbot.waitUntil(lambda: len(desk.shown()) == 1)
    assert not desk.shown()[0].own
    desk.click(50, 40).press(Qt.Key.Key_Right).press(Qt.Key.Key_Delete)
    assert "only its annotator changes it" in desk.tool.hint.text
    desk.drag(desk.point(50, 40), desk.point(60, 45))
    desk.press(Qt.Key.Key_K, CTRL)
    assert "only its annotator outlines it" in desk.tool.hint.text
    assert desk.boxes() == [(1, ((30, 30), (70, 50)))]
    desk.session.set_blinding(Blinding(tags=True))
    assert desk.shown() == []


def test_a_project_open_for_reading_shows_regions_and_takes_none(qtbot, study):
    with Project.open(study) as project:
        tag = add_tag(project, "ana", NewTag(1, "green_tint", 1))
        add_region(project, "ana", tag.uuid, NewRegion(1, RegionKind.BOX, ((30, 30), (70, 50))))
    desk = Desk(qtbot, study, read_only=True)
    qtbot.waitUntil(lambda: len(desk.shown()) == 1)
    desk.click(50, 40).press(Qt.Key.Key_Right)
    assert desk.tool.hint.text == "This project is open for reading only."
    desk.press(Qt.Key.Key_B, CTRL)
    assert desk.tool.hint.text == "This project is open for reading only."
    assert len(desk.boxes()) == 1
    desk.close()


# Nothing is lost


def test_an_edit_that_cannot_be_written_stays_on_screen_and_is_saved_when_there_is_room(boxed):
    limit_pages(boxed.project, 1)  # SQLite takes this for "not more than now"
    ring = tuple((60 + 50 * np.cos(a), 40 + 30 * np.sin(a)) for a in np.linspace(0, 6.28, 60_000))
    uuid = boxed.edits.draw(boxed.session.chosen_tag.uuid, 2, RegionKind.POLYGON, ring)
    boxed.qtbot.waitUntil(lambda: bool(boxed.edits.reason))
    assert "1 edit is not saved" in boxed.tool.hint.text
    assert "no space left" in boxed.tool.hint.text
    assert [each.unsaved for each in boxed.shown() if each.uuid == uuid] == [True]
    boxed.trigger("tag.undo")
    assert "not saved yet" in boxed.tagging.message.text()
    boxed.session.choose_run(boxed.session.runs[1].id)  # another run doesn't hide it
    assert boxed.tool.hint.isVisible()
    boxed.session.choose_run(boxed.session.runs[0].id)
    limit_pages(boxed.project, 2**30)
    boxed.tool.hint._retry.click()
    assert uuid in {region.uuid for region in boxed.saved()}
    assert boxed.tool.hint.text == ""


def test_an_edit_that_cannot_be_written_can_be_given_up(boxed):
    limit_pages(boxed.project, 1)
    ring = tuple((60 + 50 * np.cos(a), 40 + 30 * np.sin(a)) for a in np.linspace(0, 6.28, 60_000))
    boxed.edits.draw(boxed.session.chosen_tag.uuid, 2, RegionKind.POLYGON, ring)
    boxed.qtbot.waitUntil(lambda: bool(boxed.edits.reason))
    boxed.tool.hint._discard.click()
    assert len(boxed.shown()) == 1
    assert boxed.edits.failed_count == 0


def test_closing_the_project_in_the_same_moment_saves_the_region(qtbot, study):
    desk = Desk(qtbot, study)
    desk.tagged().press(Qt.Key.Key_K, CTRL)
    desk.close()
    with Project.open(study, read_only=True) as project:
        assert [region.points for region in regions(project)] == [((30, 20), (90, 60))]


def test_handles_lie_where_the_outline_is_in_a_turned_pane(boxed):
    boxed.trigger("view.turn_right")
    (outline,) = boxed.shown()
    boxed.tool.choose(outline.uuid)
    corner = handles(outline.kind, outline.points)[0]
    boxed.drag(boxed.point(*corner), boxed.point(20, 25))
    assert boxed.boxes() == [(2, ((20, 25), (70, 50)))]
    boxed.press(Qt.Key.Key_Right)  # right on the turned picture is up in the upright one
    assert boxed.boxes() == [(2, ((20, 24), (70, 49)))]


def test_many_outlines_are_stretched_while_zoomed_and_then_drawn_anew(boxed):
    boxed.press(Qt.Key.Key_Escape)
    put = {
        str(number): NewRegion(2, RegionKind.BOX, ((x, y), (x + 9, y + 9)))
        for number in range(300)
        for x, y in [(4 * (number % 25), 5 * (number // 25))]
    }
    boxed.edits._edit(boxed.session.chosen_tag.uuid, put)
    boxed.saved()
    canvas = boxed.canvas
    seen(canvas)
    (layer,) = boxed.tool.view._drawn[canvas].values()
    canvas.zoom_in()
    seen(canvas)
    assert layer.stale
    boxed.qtbot.waitUntil(lambda: not layer.stale)
    settled = seen(canvas)
    boxed.tool.view._drawn.clear()
    np.testing.assert_allclose(settled.astype(int), seen(canvas), atol=24)


def test_the_tip_over_a_region_tells_of_it(boxed):
    at = boxed.point(50, 40)
    QApplication.sendEvent(boxed.canvas, QHelpEvent(QEvent.Type.ToolTip, at, boxed.canvas.mapToGlobal(at)))
    assert "by ana, outlined at step 2" in QToolTip.text()
    at = boxed.point(110, 75)
    QApplication.sendEvent(boxed.canvas, QHelpEvent(QEvent.Type.ToolTip, at, boxed.canvas.mapToGlobal(at)))
    boxed.qtbot.waitUntil(lambda: not QToolTip.isVisible() or "ana" not in QToolTip.text())


def fail(desk, *, uuid=None):
    """Make an edit that is too large for the disk; give its region's UUID."""
    limit_pages(desk.project, 1)
    ring = tuple((60 + 50 * np.cos(a), 40 + 30 * np.sin(a)) for a in np.linspace(0, 6.28, 60_000))
    uuid = desk.edits.draw(desk.session.chosen_tag.uuid, 2, RegionKind.POLYGON, ring)
    desk.qtbot.waitUntil(lambda: bool(desk.edits.reason))
    return uuid


def test_what_cannot_be_written_when_the_project_closes_is_told_kept_and_saved_later(
    qtbot, boxed, study, own_data
):
    uuid = fail(boxed)
    boxed.press(Qt.Key.Key_K, CTRL)  # waits for the one before it
    with qtbot.waitSignal(boxed.session.failed) as told:
        boxed.close()
    assert told.args[0] == "2 edits to regions could not be saved"
    assert "Kept on this computer" in told.args[1]
    with Project.open(study, read_only=True) as project:
        assert len(regions(project)) == 1
    desk = Desk(qtbot, study)
    qtbot.waitUntil(lambda: len(regions(desk.project)) == 3)
    assert uuid in {region.uuid for region in desk.saved()}
    assert list(own_data.rglob("*.json")) == []
    desk.press(Qt.Key.Key_Z, CTRL)
    qtbot.waitUntil(lambda: len(regions(desk.project)) == 2)
    desk.close()


def test_what_cannot_be_written_is_kept_at_once_and_tried_again_by_itself(boxed, own_data):
    uuid = fail(boxed)
    (kept,) = own_data.rglob("*.json")
    assert uuid in kept.read_text("utf-8")
    limit_pages(boxed.project, 2**30)
    boxed.edits._again.setInterval(0)
    boxed.edits._again.start()
    boxed.qtbot.waitUntil(lambda: not boxed.edits.reason)
    assert uuid in {region.uuid for region in boxed.saved()}
    assert not kept.exists()


def test_a_region_that_is_kept_waits_for_its_tag_that_is_kept(qtbot, desk, study):
    limit_pages(desk.project, 1)
    desk.tagging.board.add(NewTag(desk.session.run.id, "persistent_noise", 2, note="long " * 200_000))
    qtbot.waitUntil(lambda: len(desk.tagging.board.failed_rows) == 1)
    tag = desk.tagging.board.failed_rows[0].uuid
    desk.edits.draw(tag, 2, RegionKind.BOX, ((30, 30), (70, 50)))
    qtbot.waitUntil(lambda: bool(desk.edits.reason))
    desk.close()
    again = Desk(qtbot, study)
    qtbot.waitUntil(lambda: len(regions(again.project)) == 1)
    assert not again.edits.reason
    assert [(region.tag_uuid, region.step) for region in again.saved()] == [(tag, 2)]
    again.close()


def test_an_edit_kept_does_not_undo_what_was_done_to_the_region_since(qtbot, boxed, study, own_data):
    (box,) = boxed.saved()
    boxed.project.write(lambda database: database.execute("PRAGMA busy_timeout = 50").fetchall())
    with locked(study):
        boxed.press(Qt.Key.Key_Right)
        boxed.close()
    with Project.open(study) as project:
        change_region(project, "ana", box.uuid, ((1, 1), (9, 9)))
    desk = Desk(qtbot, study)
    qtbot.waitUntil(lambda: "changed since" in desk.tool.hint.text)
    desk.tagged().press(Qt.Key.Key_K, CTRL)  # goes behind it, and doesn't bring it about
    assert [region.points for region in regions(desk.project)] == [((1, 1), (9, 9))]
    desk.tool.hint._discard.click()
    assert list(own_data.rglob("*.json")) == []
    assert [region.points for region in desk.saved()] == [((1, 1), (9, 9))]
    desk.close()


def test_arrows_step_again_where_the_chosen_region_is_not(desk):
    desk.at(4).tagged().press(Qt.Key.Key_K, CTRL)
    desk.at(2)
    desk.qtbot.waitUntil(lambda: desk.tool.chosen is None)
    assert desk.tool.hint.text == ""
    desk.canvas.setFocus()
    desk.press(Qt.Key.Key_Right)
    assert desk.session.step == 3
    assert desk.boxes() == [(4, ((30, 20), (90, 60)))]


def test_a_blink_waits_while_a_region_is_chosen_or_drawn(boxed):
    boxed.trigger("view.blink")
    timer = boxed.compare.panes._timer
    assert not timer.isActive()
    boxed.press(Qt.Key.Key_Escape)
    assert timer.isActive()
    boxed.press(Qt.Key.Key_B, CTRL)
    assert not timer.isActive()
    assert [part.frame.step for part in boxed.tool.parts(boxed.canvas)] == [2]
    boxed.press(Qt.Key.Key_Escape)
    assert timer.isActive()
