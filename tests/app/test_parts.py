"""Boxes of choices where there is little room."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QEvent, QPoint
from PySide6.QtGui import QHelpEvent
from PySide6.QtWidgets import QApplication, QComboBox, QToolTip

from app.parts import Choices
from app.tooltips import plain_tip

LONG = ("gemini-3-pro-image-preview-2026-05-001", "gemini-3-pro-image-preview-2026-05-002", "<b>short</b>")


@pytest.fixture
def box(qtbot):
    box = Choices([(text, text) for text in LONG])
    qtbot.addWidget(box)
    box.show()
    return box


def _tip(box) -> str:
    QToolTip.hideText()
    place = QPoint(4, 4)
    QApplication.sendEvent(box, QHelpEvent(QEvent.Type.ToolTip, place, box.mapToGlobal(place)))
    return QToolTip.text()


def test_a_choice_with_room_is_shown_whole(box):
    box.resize(box.sizeHint())
    assert box.shown_text == LONG[0]
    assert _tip(box) == ""


def test_names_that_differ_at_their_ends_are_told_apart_where_they_are_cut(box):
    box.resize(160, box.height())
    assert box.minimumSizeHint().width() <= 160
    shown = []
    for row in (0, 1):
        box.setCurrentIndex(row)
        shown.append(box.shown_text)
    assert all("…" in text and text.startswith("gemini") for text in shown)
    assert [text[-3:] for text in shown] == ["001", "002"]


def test_what_is_drawn_is_what_has_room(box):
    box.resize(160, box.height())
    box.setCurrentIndex(0)
    first = box.grab().toImage()
    box.setItemText(0, LONG[0].replace("preview", "review"))  # in the middle, which is not seen
    assert box.shown_text[-3:] == "001"
    assert box.grab().toImage() == first
    box.setCurrentIndex(1)
    assert box.grab().toImage() != first


def test_a_cut_choice_is_told_whole_by_a_tooltip(box):
    box.resize(160, box.height())
    assert _tip(box) == plain_tip(LONG[0])
    box.setToolTip(plain_tip("why not"))
    assert _tip(box) == f"{plain_tip(LONG[0])}<br>{plain_tip('why not')}"
    box.setCurrentIndex(2)
    assert box.shown_text == LONG[2]
    assert _tip(box) == plain_tip("why not")


def test_the_list_of_choices_shows_them_whole(qtbot, box):
    box.resize(120, box.height())
    box.showPopup()
    qtbot.waitUntil(box.view().isVisible)
    assert box.view().viewport().width() >= box.view().sizeHintForColumn(0)
    box.hidePopup()


def test_boxes_of_the_window_never_cut_without_saying_so(window):
    boxes = [box for box in window.findChildren(QComboBox) if not box.isEditable()]
    others = {type(box.parent()).__module__ for box in boxes if not isinstance(box, Choices)}
    assert len(boxes) > 10
    assert others <= {"app.tagging.work_bar"}
