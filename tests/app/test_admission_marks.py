"""Where reasoning summaries begin to admit degradation: marked on the plot and flagged on the slider."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QPointF

from app.actions import ActionRegistry
from app.admissions import FIRST, FIRST_OF_TWO, Admissions
from app.compare.panel import ComparePanel
from app.compare.slider import StepSlider
from app.plots.scores import ScoresView
from app.plots.scores_bar import Compare
from banana100_core.project import Project
from banana100_core.project.verdicts import Verdict, add_verdict


def judged(project, run_id, admitting, *, model="judge", steps=4):
    for step in range(1, steps + 1):
        add_verdict(project, Verdict(run_id, step, model, "1-ab", step in admitting))


@pytest.fixture
def opened(session, study, qtbot):
    session.adopt_project(Project.open(study))
    yield session
    session.close_project()


@pytest.fixture
def registry(qtbot):
    from PySide6.QtWidgets import QMainWindow

    window = QMainWindow()
    qtbot.addWidget(window)
    return ActionRegistry(window)


def test_a_verdict_is_marked_on_the_plot_and_the_slider_as_it_comes(opened, registry, qtbot) -> None:
    view, panel = ScoresView(opened, registry), ComparePanel(opened, registry)
    qtbot.addWidget(view)
    qtbot.addWidget(panel)
    assert view.plot.marks == ()
    judged(opened.project, 1, {2, 4})
    qtbot.waitUntil(lambda: panel.slider.flags == [(2, FIRST)])
    (mark,) = view.plot.marks
    assert (mark.step, mark.weak) == (2, True)
    judged(opened.project, 1, {2, 3})
    qtbot.waitUntil(lambda: panel.slider.flags == [(2, FIRST), (2, FIRST_OF_TWO)])
    opened.choose_run(2)
    assert panel.slider.flags == []
    assert view.plot.marks == ()


def test_runs_compared_have_their_marks_in_the_colours_of_their_curves(opened, registry, qtbot) -> None:
    view = ScoresView(opened, registry)
    qtbot.addWidget(view)
    opened.selected_runs = [1, 2]
    view.set_compare(Compare.RUNS)
    judged(opened.project, 1, {3})
    judged(opened.project, 2, {1, 2})
    qtbot.waitUntil(lambda: [mark.step for mark in view.plot.marks] == [3, 1, 1])
    assert len({mark.colour for mark in view.plot.marks}) == 2
    assert "r2" in view.plot.marks[1].text
    layer = view.plot._marks
    assert layer.told_at(3.01, 0.01).startswith(f"Step 3: {FIRST}")
    assert layer.told_at(3.2, 0.01) == ""


def test_the_slider_tells_what_a_flag_says(opened, qtbot) -> None:
    slider = StepSlider()
    qtbot.addWidget(slider)
    slider.resize(600, slider.sizeHint().height())
    slider.show_steps(opened.steps)
    slider.show_flags([(2, FIRST)])
    slider.grab()
    assert slider._told_at(QPointF(slider._x(2), 4)) == f"Step 2\n{FIRST}"
    assert slider._told_at(QPointF(slider._x(3), 4)) == "Step 3"


def test_another_judge_can_be_chosen(opened, qtbot) -> None:
    found = Admissions.of(opened)
    judged(opened.project, 1, {1})
    judged(opened.project, 2, {3}, model="other", steps=3)
    qtbot.waitUntil(lambda: len(found.found.judges) == 2 and found.settled)
    assert found.found.judge == ("judge", "1-ab")
    found.choose(("other", "1-ab"))
    qtbot.waitUntil(lambda: found.found.judge == ("other", "1-ab"))
    assert found.steps_of(2) == [(3, FIRST)]
    assert found.steps_of(1) == []
    assert found.found.spreads[0].admitting == 1
