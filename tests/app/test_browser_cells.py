"""What is drawn of a run in the list, and where."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import QRect
from PySide6.QtWidgets import QMainWindow

from app.actions import ActionRegistry
from app.browser.columns import OUTCOME, SIZE, STEPS
from app.browser.panel import BrowserPanel
from banana100_core.project import Project
from banana100_core.project.records import RunState
from banana100_core.project.runs import runs, set_run_state

if TYPE_CHECKING:
    from PySide6.QtGui import QImage


@pytest.fixture
def panel(qtbot, session, study):
    with Project.open(study) as project:
        set_run_state(project, runs(project)[0].id, RunState.STOPPED)
    window = QMainWindow()
    qtbot.addWidget(window)
    panel = BrowserPanel(session, ActionRegistry(window))
    window.setCentralWidget(panel)
    window.resize(640, 500)
    window.show()
    qtbot.waitActive(window)
    session.open_project(study)
    qtbot.waitUntil(panel.is_settled)
    return panel


def _warned(image: QImage) -> bool:
    """Whether something is drawn in the colour of warnings, where all else is grey."""
    places = ((x, y) for x in range(image.width()) for y in range(image.height()))
    colours = (image.pixelColor(x, y) for x, y in places)
    return any(colour.red() - colour.blue() > 64 for colour in colours)


def _cells(panel) -> dict[str, QImage]:
    """What is drawn of the stopped run beside its picture and name, by column."""
    view, run = panel.view, panel.tree.index_of_run(1)
    whole = view.viewport().grab().toImage()
    ratio = whole.devicePixelRatio()
    cells = {}
    for section in range(1, panel.tree.columnCount()):
        place = view.visualRect(run.siblingAtColumn(section))
        corner, size = place.topLeft() * ratio, place.size() * ratio
        cells[panel.tree.column(section).key] = whole.copy(QRect(corner, size))
    return cells


@pytest.mark.parametrize(
    ("columns", "marked"),
    [
        ((STEPS,), STEPS),
        ((OUTCOME,), OUTCOME),
        ((STEPS, OUTCOME), OUTCOME),
        ((STEPS, OUTCOME, SIZE), OUTCOME),
    ],
)
def test_the_state_of_a_run_is_marked_once(panel, columns, marked):
    panel.arrange(replace(panel.arrangement, columns=columns))
    cells = _cells(panel)
    assert list(cells) == list(columns)
    assert [key for key, cell in cells.items() if _warned(cell)] == [marked]


def test_the_room_for_steps_is_measured_anew_as_columns_come_and_go(panel):
    def width() -> int:
        return panel.view.columnWidth(list(panel.arrangement.columns).index(STEPS) + 1)

    panel.arrange(replace(panel.arrangement, columns=(STEPS,)))
    panel.view.set_needed(STEPS, 200)  # as after a run of many steps
    panel.arrange(replace(panel.arrangement, columns=(STEPS, OUTCOME)))
    assert width() < 200
