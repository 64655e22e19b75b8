"""Rows of buttons that make do with less room, and the line of readings."""

from __future__ import annotations

import pytest
from PySide6.QtWidgets import QPushButton, QToolButton, QWidget

from app.actions import ACTIONS, ActionRegistry
from app.compare.folding import FoldingRow
from app.compare.panes import Comparison, Mode
from app.compare.readout import Reading, Readout
from app.compare.toolbar import CompareToolbar
from banana100_core.imaging.look import Look


def button(text: str) -> QPushButton:
    made = QPushButton(text)
    made.setFixedWidth(100)
    return made


@pytest.fixture
def row(qtbot):
    row = FoldingRow()
    qtbot.addWidget(row)
    return row


def visible(row: QWidget, kind: type) -> list[str]:
    return [each.text() for each in row.findChildren(kind) if each.isVisibleTo(row)]


def test_some_leave_in_order_and_come_back(row, qtbot):
    _first, second, third = (row.add(button(text)) for text in ("first", "second", "third"))
    short = row.add(button("short"))
    short.setFixedWidth(40)
    row.may_leave([second, third], instead=short)
    row.may_leave([short])
    row.resize(400, 40)
    row.show()
    assert visible(row, QPushButton) == ["first", "second", "third"]
    row.resize(220, 40)
    assert visible(row, QPushButton) == ["first", "short"]
    row.resize(130, 40)
    assert visible(row, QPushButton) == ["first"]
    assert row.minimumSizeHint().width() < 130
    row.resize(400, 40)
    assert visible(row, QPushButton) == ["first", "second", "third"]
    row.want(second, wanted=False)
    row.fold()
    assert visible(row, QPushButton) == ["first", "third"]
    third.setFixedWidth(500)  # as when its words become longer
    qtbot.waitUntil(lambda: visible(row, QPushButton) == ["first", "short"])


@pytest.mark.parametrize("mode", list(Mode))
def test_no_mode_of_comparison_asks_for_a_wider_window(qtbot, mode):
    window = QWidget()
    qtbot.addWidget(window)
    registry = ActionRegistry(window)
    for action in ACTIONS:
        registry.connect(action.key, lambda *_: None)
    toolbar = CompareToolbar(registry)
    qtbot.addWidget(toolbar)
    registry.qaction(f"view.{mode.name.lower()}").setChecked(True)
    toolbar.show()
    toolbar.show_comparison(Comparison(mode=mode), Look(gain=2.0))
    toolbar.show_zoom("fit · 1.01×")
    assert toolbar.minimumSizeHint().width() < 640
    for width in (640, 800, 1000, 1400):
        toolbar.resize(width, 40)
        shown = [each for each in toolbar.findChildren(QToolButton) if each.isVisible()]
        # What stands after the room given is cut off; what is narrower than its words is too.
        assert max(each.geometry().right() for each in shown) < width
        assert all(each.width() >= each.sizeHint().width() for each in shown)


def test_readings_are_never_cut(qtbot):
    readout = Readout()
    qtbot.addWidget(readout)
    readout.set_panes(2)
    readout.show()
    readings = [
        Reading("step 99", 12345, 12345, (255, 255, 255)),
        Reading("step 100", 12345, 12345, (0, 0, 0)),
    ]
    readout.show_readings(readings)
    for width in range(400, 1400, 10):
        readout.resize(width, readout.height())
        picture = readout.grab().toImage()
        ground = picture.pixelColor(0, 0)
        edge = {
            picture.pixelColor(x, y).name()
            for x in range(picture.width() - 4, picture.width())
            for y in range(picture.height())
        }
        assert edge == {ground.name()}, width


def test_figures_of_all_steps_stand_below_each_other(qtbot):
    readout = Readout()
    qtbot.addWidget(readout)
    readout.show_readings([Reading(name, 1, 1, (1, 2, 3)) for name in ("step 9", "step 10", "step 100")])
    lines = ["step " + part for part in readout.text.split("step ")[1:]]
    assert len({line.index("rgb") for line in lines}) == 1
