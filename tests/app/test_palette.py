"""What the palette finds first."""

from __future__ import annotations

import pytest
from PySide6.QtWidgets import QWidget

from app.actions import ACTIONS
from app.palette import Choice, Palette


@pytest.fixture
def window(qtbot):
    window = QWidget()
    qtbot.addWidget(window)
    window.resize(1000, 800)
    window.show()
    return window


@pytest.fixture
def palette(window):
    box = Palette(window)
    box.ask([Choice(each.title, each.menu, "", lambda: None) for each in ACTIONS], "Find an action")
    return box


@pytest.mark.parametrize(
    ("query", "first"),
    [
        ("dark", "Dark"),
        ("darke", "Darker"),
        ("DARK ", "Dark"),
        ("light", "Light"),
        ("fit", "Fit"),
        ("next s", "Next step"),
    ],
)
def test_a_name_of_these_words_is_found_before_names_of_these_letters(palette, query, first):
    palette._field.setText(query)
    assert palette.shown()[0] == first


def test_words_of_a_name_count_more_than_beginnings_and_those_more_than_letters(palette):
    names = ["Spread curves", "Readings", "Fast reader", "Read"]
    palette.ask([Choice(name, "", "", lambda: None) for name in names], "")
    palette._field.setText("read")
    assert palette.shown() == ["Read", "Readings", "Fast reader", "Spread curves"]


def test_all_lines_found_have_room(palette):
    palette._field.setText("dark")
    assert len(palette.shown()) == 2
    palette.layout().activate()
    assert palette._list.viewport().height() >= 2 * palette._list.sizeHintForRow(0)
