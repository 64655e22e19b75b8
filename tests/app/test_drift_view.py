"""The tab of drift: measured once it is looked at, followed by the cursor, copied as CSV."""

from __future__ import annotations

import csv
import io

import pytest
from PySide6.QtGui import QGuiApplication

from app.plots.drift import MEASURES, DriftView
from banana100_core.project import Project


@pytest.fixture
def view(qtbot, session, study):
    view = DriftView(session)
    qtbot.addWidget(view)
    session.adopt_project(Project.open(study))
    return view


def shown(view):
    (drawing,) = view.plot._layer.drawings.values()
    return drawing.curve


def test_nothing_is_measured_before_it_is_looked_at(view, qtbot, session):
    assert (view.settled, view.csv().count("\n")) == (True, 1)
    view.show()
    qtbot.waitUntil(lambda: bool(view._found()))
    curve = shown(view)
    assert list(curve.steps) == [1, 2, 3, 4]
    assert curve.values[0] == 0
    assert curve.values[1] > 1
    assert not view.again.isVisible()


def test_another_run_is_measured_and_a_measured_one_is_kept(view, qtbot, session):
    view.show()
    qtbot.waitUntil(lambda: bool(view._found()))
    first = view._found()
    session.choose_run(2)
    qtbot.waitUntil(lambda: bool(view._found()) and view._found()[0].run_id == 2)
    session.choose_run(1)
    assert view.settled
    assert view._found() is first


def test_every_measure_is_a_curve_and_all_are_copied(view, qtbot, session):
    view.show()
    qtbot.waitUntil(lambda: bool(view._found()))
    for place, (field, _name, what) in enumerate(MEASURES):
        view.measures.setCurrentIndex(place)
        assert view.what.text() == what
        assert shown(view).values[1] == pytest.approx(getattr(view._found()[1], field))
    view.copy.click()
    rows = list(csv.DictReader(io.StringIO(QGuiApplication.clipboard().text())))
    assert [row["step"] for row in rows] == ["1", "2", "3", "4"]


def test_the_cursor_follows_the_step_and_chooses_it(view, qtbot, session):
    view.show()
    qtbot.waitUntil(lambda: bool(view._found()))
    session.choose_step(2)
    assert view.plot.cursor_step() == 2
    view.plot.step_chosen.emit(3)
    assert session.step == 3


def test_closing_the_project_ends_the_measuring(view, qtbot, session):
    view.show()
    session.close_project()
    assert view.settled
    assert view._found() == ()
