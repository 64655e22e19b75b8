"""The window on a small screen: no panel that is shown makes it larger than 1366 × 768."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from PySide6.QtCore import QEvent, QSize
from PySide6.QtWidgets import QApplication

from app.compare.readout import Readout
from app.compare.region_view import Measured, RegionView
from app.compare.strips import LEAST, Strips
from banana100_core.imaging.statistics import ChannelStatistics

SCREEN = QSize(1366, 768)
FRAME = 40
"""What a title bar takes, or a bar of the system."""

COUNTS = ("view.one_pane", "view.two_panes", "view.four_panes")
PARTS = ("view.step_details", "view.measure", "view.filmstrip")


def _settle() -> None:
    for _ in range(3):
        QApplication.sendPostedEvents(None, QEvent.Type.LayoutRequest)
        QApplication.processEvents()


@pytest.fixture
def low(qtbot, window, study):
    """The window at the size of the screen, with a project."""
    with qtbot.waitSignal(window.session.project_opened):
        window.open_project(study)
    qtbot.waitUntil(window.is_settled)
    window.resize(SCREEN)
    _settle()
    return window


def test_no_parts_of_the_comparison_outgrow_a_small_screen(low):
    registry = low.registry
    sizes = {}
    for count, *shown in product(COUNTS, *[(False, True)] * len(PARTS)):
        registry.qaction(count).trigger()
        for part, on in zip(PARTS, shown, strict=True):
            if registry.qaction(part).isChecked() is not on:
                registry.qaction(part).trigger()
        _settle()
        sizes[count, *shown] = low.minimumSizeHint()
    assert len(sizes) == 24
    assert max(size.height() for size in sizes.values()) <= SCREEN.height() - FRAME
    assert max(size.width() for size in sizes.values()) <= SCREEN.width()
    assert low.size() == SCREEN


@pytest.mark.parametrize("front", ["tag", "generation"])
def test_no_panel_outgrows_a_small_screen(low, front):
    for key in ("view.four_panes", *PARTS[:2]):
        low.registry.qaction(key).trigger()
    low.docks.show(low.docks.docks[front], shown=True)
    low.messages.show_error("Something did not work", "This is why it did not, and what can be done. " * 4)
    low.maker.panels["compare"].exporter.bar.begin("run.webp")
    tabs = low.maker.panels["scores"].tabs
    for tab in range(tabs.count()):
        tabs.setCurrentIndex(tab)
        _settle()
        least = low.minimumSizeHint()
        assert least.height() <= SCREEN.height(), tabs.tabText(tab)
        assert least.width() <= SCREEN.width(), tabs.tabText(tab)


def test_figures_are_seen_beside_the_panes_on_a_small_screen(low, qtbot):
    for key in ("view.four_panes", *PARTS[:2]):
        low.registry.qaction(key).trigger()
    panel = low.maker.panels["compare"]
    qtbot.waitUntil(lambda: len(panel.meter.view._measured) == 4)
    _settle()
    strips = panel.findChild(Strips)
    assert strips.height() >= LEAST
    assert panel.meter.view.visibleRegion().boundingRect().height() >= LEAST
    assert strips.verticalScrollBar().maximum() > 0  # and the rest can be scrolled to
    low.resize(1366, 1800)
    _settle()
    assert strips.verticalScrollBar().maximum() == 0


@pytest.fixture
def strips(qtbot):
    one, other = Readout(), RegionView()
    other.hide()
    strips = Strips(one, other)
    qtbot.addWidget(strips)
    return strips, one, other


def test_strips_are_as_high_as_what_they_show(strips):
    area, one, other = strips
    area.show()
    assert area.sizeHint().height() == area.minimumSizeHint().height() == one.height()
    other.show()
    _settle()
    assert area.sizeHint().height() == one.height() + other.height()
    assert area.minimumSizeHint().height() == LEAST < area.sizeHint().height()


def _measured(name: str) -> Measured:
    channel = ChannelStatistics(123.45, 67.89, 0, 127.5, 255, np.ones(256, np.int64))
    return Measured(name, (1000, 1000), (channel,) * 3)


@pytest.mark.parametrize(("width", "rows"), [(1300, 1), (700, 2), (480, 2), (240, 4), (60, 4)])
def test_figures_that_have_no_room_beside_each_other_begin_new_rows(qtbot, width, rows):
    view = RegionView()
    qtbot.addWidget(view)
    view.resize(width, 100)
    view.show()
    row = view.height()
    view.show_measured([_measured(name) for name in ("1", "2", "3", "4")])
    assert view.height() == rows * row
    view.grab()
