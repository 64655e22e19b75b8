"""Panels are made after the first paint, without holding up the window."""

from __future__ import annotations

from itertools import pairwise

import pytest
from PySide6.QtCore import QTimer

from app import panels
from app.panels import PANELS
from app.window import MainWindow


@pytest.fixture
def new_window(qtbot):
    """A window whose panels are not made yet."""
    window = MainWindow(remember=False)
    qtbot.addWidget(window)
    yield window
    window.close()


def test_no_turn_of_the_loop_makes_two_panels(qtbot, new_window):
    # The timer's event comes once a turn: what happens between two of them keeps a user waiting.
    made, counts = [], []
    new_window.maker.made.connect(lambda place, _panel: made.append(place))
    timer = QTimer(new_window)
    timer.timeout.connect(lambda: counts.append(len(made)))
    timer.start(0)
    with qtbot.waitSignal(new_window.maker.finished):
        new_window.show()
    counts.append(len(made))
    assert made == [place for place, _module, _name in PANELS]
    assert max(after - before for before, after in pairwise(counts)) == 1


def test_a_panel_counts_as_made_once_all_is_in_it(qtbot, new_window):
    placed = {}
    new_window.maker.made.connect(
        lambda place, panel: placed.update({place: (panel, place in new_window.maker.panels)})
    )
    with qtbot.waitSignal(new_window.maker.finished):
        new_window.show()
    assert {place for place, (_panel, whole) in placed.items() if not whole} == {
        "scores",
        "reasoning",
        "generation",
    }
    assert {place: panel for place, (panel, _whole) in placed.items()} == new_window.maker.panels


def test_a_panel_that_fails_is_not_tried_again(qtbot, new_window, monkeypatch):
    place, _module, _name = PANELS[0]
    monkeypatch.setattr(panels, "PANELS", ((place, "app.panels", "NoSuchPanel"), *PANELS[1:]))
    with qtbot.captureExceptions() as faults:
        new_window.show()
        qtbot.waitUntil(lambda: bool(faults))
        turns = []
        timer = QTimer(new_window)
        timer.timeout.connect(lambda: turns.append(len(faults)))
        timer.start(0)
        qtbot.waitUntil(lambda: len(turns) > 10)
    assert ["NoSuchPanel" in str(error) for _kind, error, _where in faults] == [True]
    assert not new_window.maker.panels
