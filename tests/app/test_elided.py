"""Names where there is no room for all of them."""

from __future__ import annotations

from dataclasses import replace

import pytest
from PySide6.QtCore import QPoint, QRect, Qt
from PySide6.QtGui import QFontMetrics, QStandardItemModel
from PySide6.QtWidgets import QMainWindow, QStyleOptionHeader, QTableView

from app import theme
from app.actions import ActionRegistry
from app.browser.columns import STEPS
from app.browser.facets import Facet, FacetValue
from app.browser.panel import BrowserPanel
from app.elided import ElidedText, shortened
from app.plots.gaps import RowNames
from app.tooltips import plain_tip
from banana100_core.project import Project
from banana100_core.project.records import NewRun, RunState
from banana100_core.project.runs import add_run

MODELS = ("gemini-3-pro-image-preview-2026-05-001", "gemini-3-pro-image-preview-2026-05-002")
PROTOCOLS = ("alternate-resolution-every-fifth-step-1K", "alternate-resolution-every-fifth-step-4K")
NAMES = [f"coffee · {model} · {protocol} · r2" for model in MODELS for protocol in PROTOCOLS]


@pytest.fixture
def metrics(qapp):
    return QFontMetrics(theme.base_font())


@pytest.mark.parametrize("letters", [40, 60, 90])
def test_every_part_of_a_name_that_tells_it_apart_is_kept(metrics, letters):
    width = letters * metrics.averageCharWidth()
    shown = [shortened(metrics, name, width) for name in NAMES]
    assert len(set(shown)) == len(NAMES)
    assert all(metrics.horizontalAdvance(text) <= width for text in shown)
    assert all(text.startswith("coffee · ") and text.endswith(" · r2") for text in shown)


def test_a_name_with_room_is_whole(metrics):
    name = "two\nlines · r1"
    assert shortened(metrics, name, metrics.horizontalAdvance(name.replace("\n", " "))) == "two lines · r1"


@pytest.mark.parametrize("width", [0, 1, 20, 60, 90])
def test_what_is_cut_fits_however_little_room_there_is(metrics, width):
    for name in (*NAMES, "x" * 200, " · " * 20):
        for may_drop in (False, True):
            text = shortened(metrics, name, width, may_drop=may_drop)
            assert metrics.horizontalAdvance(text) <= max(width, metrics.horizontalAdvance("…"))


def test_the_last_parts_may_leave_before_others_are_cut_to_little(metrics):
    width = 14 * metrics.averageCharWidth()
    text = shortened(metrics, f"r1 · {MODELS[1]} · google", width, may_drop=True)
    assert text.startswith("r1 · ge")
    assert text.endswith("2")
    text = shortened(metrics, "Restoration loop · embedded", width, may_drop=True)
    assert text.startswith("Res")
    assert text.endswith("oop")
    assert shortened(metrics, "Codec loss · embedded", width, may_drop=True) == "Codec loss"
    text = shortened(metrics, "r1 · Nano Banana Pro", width, may_drop=True)
    assert text.startswith("r1 · N")
    assert text.endswith("o")


def test_a_text_that_is_cut_is_told_whole_by_a_tooltip(qtbot):
    line = ElidedText("text", is_name=True)
    qtbot.addWidget(line)
    line.set_text("<b>" + NAMES[0])
    line.resize(line.sizeHint())
    line.show()
    assert line.toolTip() == ""
    line.resize(100, line.height())
    assert line.toolTip() == plain_tip("<b>" + NAMES[0])
    assert line.minimumSizeHint().width() < 50


@pytest.fixture
def narrow(qtbot, session, study):
    """The list at its least width, with runs whose names differ at their ends."""
    with Project.open(study) as project:
        for model in MODELS:
            for protocol in PROTOCOLS:
                run = NewRun(
                    "Image 1", "google", model, protocol, steps_planned=100, state=RunState.CANCELLED
                )
                add_run(project, run)
    window = QMainWindow()
    qtbot.addWidget(window)
    panel = BrowserPanel(session, ActionRegistry(window))
    window.setCentralWidget(panel)
    window.show()
    window.resize(panel.minimumWidth(), 700)
    qtbot.waitActive(window)
    session.open_project(study)
    qtbot.waitUntil(panel.is_settled)
    panel.arrange(replace(panel.arrangement, columns=(STEPS,)))
    return panel


def test_runs_are_told_apart_in_the_list_at_its_least_width(narrow):
    assert narrow.width() == narrow.minimumWidth()
    view = narrow.view
    picture = view.viewport().grab().toImage()
    ratio = picture.devicePixelRatio()
    drawn = {}
    for node in narrow.tree.nodes():
        if node.run.provider == "google":
            place = view.visualRect(narrow.tree.index_of_run(node.run.id))
            names = place.adjusted(4 * theme.GRID, 2, 0, -2)  # without its bar and picture
            drawn[node.run.model, node.run.protocol] = picture.copy(
                QRect(names.topLeft() * ratio, names.size() * ratio)
            )
            tip = narrow.tree.index_of_run(node.run.id).data(Qt.ItemDataRole.ToolTipRole)
            assert node.run.model in tip
            assert node.run.protocol in tip
    pictures = list(drawn.values())
    assert len(pictures) == 4
    assert all(one != other for place, one in enumerate(pictures) for other in pictures[place + 1 :])


def test_chips_of_long_values_are_told_apart(qtbot, narrow):
    names = PROTOCOLS[0], PROTOCOLS[1]
    narrow.bar.show_chips([FacetValue(Facet.PROTOCOL, name, name, 1, chosen=True) for name in names])
    line = narrow.bar._line
    chips = [line.layout().itemAt(place).widget() for place in range(2)]
    assert [chip.text()[-4:] for chip in chips] == ["p-1K", "p-4K"]
    assert all(len(chip.text()) <= 24 for chip in chips)
    assert all(name in chip.toolTip() for name, chip in zip(names, chips, strict=True))
    qtbot.waitUntil(lambda: line.height() > chips[0].height())
    assert all(line.rect().contains(chip.mapTo(line, QPoint(chip.width() - 1, 0))) for chip in chips)


def test_rows_of_the_table_of_gaps_are_told_apart(qtbot):
    table, model = QTableView(), QStandardItemModel(len(NAMES), 1)
    qtbot.addWidget(table)
    model.setVerticalHeaderLabels(NAMES)
    table.setModel(model)
    names = RowNames(table)
    names.setMaximumWidth(300)
    table.setVerticalHeader(names)
    table.resize(600, 300)
    table.show()
    shown = []
    for row in range(len(NAMES)):
        option = QStyleOptionHeader()
        names.initStyleOption(option)
        names.initStyleOptionForIndex(option, row)
        shown.append(option.text)
    assert len(set(shown)) == len(NAMES)
    assert names.width() <= 300
    assert max(map(names.fontMetrics().horizontalAdvance, shown)) <= 300
