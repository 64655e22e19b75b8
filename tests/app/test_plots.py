"""The panel of scores: curves, cursor, failures, versions, chooser, heat map of gaps, all of it live."""

from __future__ import annotations

import numpy as np
import pytest
from PySide6.QtCore import QEvent, QPoint, QPointF, Qt
from PySide6.QtGui import QColor, QImage, QMouseEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QMainWindow

from app import theme
from app.actions import ActionRegistry
from app.plots.chooser import MetricCard
from app.plots.curves import Hit
from app.plots.gap_model import GapTable
from app.plots.look import contrast, look
from app.plots.panel import ScorePlotPanel
from app.plots.scores_bar import Compare
from app.plots.series import Group, ScoreTable, mean_and_spread
from app.session import Session
from banana100_core.analysis.gaps import gaps
from banana100_core.catalog.metrics import metric, metrics
from banana100_core.imaging.decode import inspect
from banana100_core.project import Project
from banana100_core.project.images import NewImage
from banana100_core.project.records import NewRun, NewScore, NewStep, Outcome, StepScore
from banana100_core.project.runs import add_run, add_steps, steps
from banana100_core.project.scores import add_scores

STEPS = 20
METHOD = "method 1"


class Study:
    """A project with repeats of two initial images, and scores given by a formula."""

    def __init__(self, path, make_png, *, images=("coffee", "rocket"), repeats=3):
        self.path = path
        self.project = Project.create(path)
        seed = 0
        for image in images:
            for repeat in range(1, repeats + 1):
                run = NewRun(image, "codec_loss", "jpeg-webp", "replicate", repeat, steps_planned=STEPS)
                run_id = add_run(self.project, run)
                new = []
                for number in range(STEPS + 1):
                    seed += 1
                    data = make_png(8, 8, seed)
                    outcome = Outcome.DONE if number else Outcome.INITIAL
                    new.append((NewStep(run_id, number, outcome), NewImage(inspect(data), data=data)))
                add_steps(self.project, new)

    def score(self, run_id, key, value_of, *, method=METHOD, numbers=range(STEPS + 1)):
        """Score steps; a value that is a text is a failure with that reason."""
        by_number = {step.number: step for step in steps(self.project, run_id)}
        scores = []
        for number in numbers:
            value = value_of(number)
            failed = isinstance(value, str)
            sha256 = by_number[number].image.sha256
            scores.append(NewScore(sha256, key, method, None if failed else value, value if failed else None))
        add_scores(self.project, scores)


@pytest.fixture
def study(tmp_path, make_png):
    study = Study(tmp_path / "study.b100", make_png)
    yield study
    study.project.close()


class Desk:
    """A window with the panel."""

    def __init__(self, qtbot, project):
        self.qtbot = qtbot
        self.window = QMainWindow()
        qtbot.addWidget(self.window)
        self.registry = ActionRegistry(self.window)
        self.session = Session(self.window)
        self.panel = ScorePlotPanel(self.session, self.registry)
        self.scores, self.plot, self.gaps = self.panel.scores, self.panel.scores.plot, self.panel.gaps
        self.window.setCentralWidget(self.panel)
        self.window.resize(1000, 400)
        self.window.show()
        qtbot.waitExposed(self.window)
        if project is not None:
            self.session.adopt_project(project)
        self.settle()

    def settle(self):
        self.qtbot.waitUntil(self.panel.is_settled)

    def update(self, condition):
        self.qtbot.waitUntil(condition)

    def curve(self, key=None):
        (curve,) = [curve for curve in self.scores.curves if key in {None, curve.metric}]
        return curve


@pytest.fixture
def open_desk(qtbot):
    desks = []

    def make(project):
        desks.append(Desk(qtbot, project))
        return desks[-1]

    yield make
    for desk in desks:
        desk.session.close_project()


def values(curve):
    return {
        int(step): value for step, value in zip(curve.steps, curve.values, strict=True) if not np.isnan(value)
    }


# Empty states


def test_without_a_project_it_says_to_open_one(open_desk):
    desk = open_desk(None)
    assert desk.scores.empty.isVisible()
    assert "Open a project" in desk.scores.empty.text()
    assert not desk.scores.empty_button.isVisible()


def test_without_scores_it_says_how_to_get_them_and_offers_it(open_desk, study):
    desk = open_desk(study.project)
    desk.update(lambda: desk.scores.empty.text() == "No scores yet. Score > Score what is missing.")
    asked = []
    desk.registry.connect("score.missing", lambda: asked.append(True))
    desk.scores.empty_button.click()
    assert asked == [True]


# Curves


def test_metrics_with_scores_are_shown_when_a_project_opens(open_desk, study):
    study.score(1, "brisque", float)
    study.score(1, "niqe", lambda step: step / 2)
    desk = open_desk(study.project)
    assert [curve.metric for curve in desk.scores.curves] == ["brisque", "niqe"]
    expected = {step: metric("brisque").normalise(step) for step in range(STEPS + 1)}
    assert values(desk.curve("brisque")) == pytest.approx(expected)


def test_metrics_that_are_about_to_score_are_shown_with_the_first_that_did(open_desk, study):
    study.score(1, "niqe", float)
    desk = open_desk(study.project)
    desk.update(lambda: set(desk.scores.model.chosen) >= {"piqe", "brisque", "niqe"})


def test_raw_scores_are_shown_as_they_are_with_the_direction_of_the_metric(open_desk, study):
    study.score(1, "brisque", float)
    desk = open_desk(study.project)
    assert desk.scores.bar.better.text() == "↑ higher is better"
    desk.scores.bar.normalised.setChecked(False)
    desk.update(lambda: values(desk.curve()) == {step: float(step) for step in range(STEPS + 1)})
    assert desk.scores.bar.better.text() == "↓ lower is better"


def test_repeats_become_their_mean_with_a_band_of_one_standard_deviation(open_desk, study):
    for repeat, offset in ((1, 0.0), (2, 3.0), (3, 6.0)):
        study.score(repeat, "brisque", lambda step, offset=offset: step + offset)
    study.score(4, "brisque", lambda step: 100.0)  # another initial image does not count
    desk = open_desk(study.project)
    desk.scores.bar.normalised.setChecked(False)
    desk.scores.bar.averaged.setChecked(True)
    desk.update(lambda: desk.scores.curves and desk.curve().counts.max() == 3)
    curve = desk.curve()
    assert values(curve) == {step: step + 3.0 for step in range(STEPS + 1)}
    assert curve.spread == pytest.approx(3.0)  # the sample sd of 0, 3, 6
    said = desk.scores._describe(Hit(curve, 7, int(np.flatnonzero(curve.steps == 7)[0])))
    assert "10 ± 3 (mean of 3)" in said
    assert METHOD in said


def test_selected_runs_are_compared_by_one_metric(open_desk, study):
    for run_id in (1, 2, 4):
        study.score(run_id, "niqe", lambda step, run_id=run_id: float(run_id))
    desk = open_desk(study.project)
    desk.session.selected_runs = [1, 2, 4]
    desk.scores.set_compare(Compare.RUNS)
    desk.scores.bar.metric_box.setCurrentIndex(desk.scores.model.row_of("niqe"))
    desk.update(lambda: len(desk.scores.curves) == 3)
    assert [curve.group.run_ids for curve in desk.scores.curves] == [(1,), (2,), (4,)]
    titles = [desk.scores.run_list.item(row).text() for row in range(3)]
    assert titles == ["coffee · r1", "coffee · r2", "rocket · r1"]


def test_no_line_bridges_steps_without_a_score(open_desk, study):
    study.score(1, "brisque", float, numbers=(0, 1, 2, 9, 10))
    desk = open_desk(study.project)
    curve = desk.curve()
    assert set(values(curve)) == {0, 1, 2, 9, 10}
    between = curve.values[(curve.steps > 2) & (curve.steps < 9)]
    assert len(between) == 1
    assert np.isnan(between).all()


def test_of_23_metrics_no_two_look_alike_and_all_are_seen_on_both_themes(qtbot):
    for scheme in (theme.Scheme.DARK, theme.Scheme.LIGHT):
        theme.set_scheme(scheme)
        looks = [look(place) for place in range(len(metrics()))]
        assert len({(each.colour, each.dash) for each in looks}) == len(looks)
        surface = theme.colours().field
        assert min(contrast(QColor(each.colour), QColor(surface)) for each in looks) > 2.3


# Cursor and clicks


def test_the_cursor_follows_the_current_step(open_desk, study):
    study.score(1, "brisque", float)
    desk = open_desk(study.project)
    desk.session.choose_step(7)
    assert desk.plot.cursor_step() == 7


def test_dragging_the_cursor_chooses_steps(open_desk, study):
    study.score(1, "brisque", float)
    desk = open_desk(study.project)
    desk.session.choose_step(7)
    curve = desk.curve()
    start = QPoint(desk.plot.place_of(curve, 7).x(), 40)
    end = QPoint(desk.plot.place_of(curve, 12).x(), 40)
    port = desk.plot.viewport()
    QTest.mousePress(port, Qt.MouseButton.LeftButton, pos=start)
    for share in (0.25, 0.5, 0.75, 1.0):
        drag_to(port, start + (end - start) * share)
    QTest.mouseRelease(port, Qt.MouseButton.LeftButton, pos=end)
    assert desk.session.step == 12
    assert desk.plot.cursor_step() == 12


def drag_to(port, place):
    """Move with the left button held: QTest.mouseMove has none held."""
    left = Qt.MouseButton.LeftButton
    where = QPointF(place)
    event = QMouseEvent(
        QEvent.Type.MouseMove,
        where,
        QPointF(port.mapToGlobal(place)),
        Qt.MouseButton.NoButton,
        left,
        Qt.KeyboardModifier.NoModifier,
    )
    QApplication.sendEvent(port, event)


def test_a_click_on_a_point_goes_to_its_step_and_run(open_desk, study):
    study.score(1, "brisque", lambda step: 10.0)
    study.score(2, "brisque", lambda step: 90.0)
    desk = open_desk(study.project)
    desk.session.selected_runs = [1, 2]
    desk.scores.set_compare(Compare.RUNS)
    desk.scores.bar.metric_box.setCurrentIndex(desk.scores.model.row_of("brisque"))
    desk.update(lambda: len(desk.scores.curves) == 2)
    place = desk.plot.place_of(desk.scores.curves[1], 14)
    QTest.mouseClick(desk.plot.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert desk.session.step == 14
    assert desk.session.run.id == 2


def test_a_click_beside_all_curves_goes_to_the_nearest_step(open_desk, study):
    study.score(1, "brisque", float)
    desk = open_desk(study.project)
    place = QPoint(desk.plot.place_of(desk.curve(), 3).x() + 2, 20)
    QTest.mouseClick(desk.plot.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert desk.session.step == 3


def test_failed_scores_are_crosses_with_their_reason_as_plain_text(open_desk, study):
    study.score(1, "niqe", lambda step: "<b>too small</b>" if step == 6 else 4.0)
    desk = open_desk(study.project)
    (failed,) = desk.curve().failed
    hit = desk.plot.hit_at(QPointF(desk.plot.place_of_failed(failed)))
    assert hit.failed is failed
    assert desk.scores._describe(hit).endswith("<b>too small</b>")
    assert 6 not in values(desk.curve())
    QTest.mouseClick(desk.plot.viewport(), Qt.MouseButton.LeftButton, pos=desk.plot.place_of_failed(failed))
    assert desk.session.step == 6


# Live


def test_new_points_touch_only_the_curves_that_they_belong_to(open_desk, study):
    study.score(1, "brisque", float)
    study.score(1, "niqe", float, numbers=range(10))
    desk = open_desk(study.project)
    drawn = []
    show_curves = desk.plot.show_curves

    def count(*arguments, **keywords):
        drawn.append(show_curves(*arguments, **keywords))
        return drawn[-1]

    desk.plot.show_curves = count
    study.score(1, "niqe", float, numbers=[10])
    desk.update(lambda: 10 in values(desk.curve("niqe")))
    desk.settle()
    assert [each for each in drawn if each] == [1]


def test_scores_appear_while_the_pool_works(open_desk, tmp_path, make_png):
    with Project.create(tmp_path / "live.b100") as project:
        run_id = add_run(project, NewRun("coffee", "codec_loss", "jpeg-webp", "replicate", steps_planned=5))
        new = []
        for number in range(6):
            data = make_png(128, 128, number)
            outcome = Outcome.DONE if number else Outcome.INITIAL
            new.append((NewStep(run_id, number, outcome), NewImage(inspect(data), data=data)))
        add_steps(project, new)
        desk = open_desk(project)
        desk.session.score_missing()
        wanted = {"brisque", "niqe", "piqe"}
        desk.qtbot.waitUntil(
            lambda: wanted <= {c.metric for c in desk.scores.curves if len(values(c)) == 6}, timeout=120_000
        )
        desk.session.close_project()


# Method versions


def test_of_several_method_versions_one_is_shown_and_another_can_be_chosen(open_desk, study):
    study.score(1, "brisque", lambda step: 10.0)
    for run_id in (1, 2):
        study.score(run_id, "brisque", lambda step: 20.0, method="method 2")  # the commoner one
    desk = open_desk(study.project)
    desk.scores.bar.normalised.setChecked(False)
    desk.settle()
    assert desk.curve().method_version == "method 2"
    assert desk.scores.versions.box.isEnabled()
    assert "1 of 2" in desk.scores.versions.label.text()
    desk.scores.versions.box.setCurrentText(METHOD)
    desk.scores.versions.box.activated.emit(desk.scores.versions.box.currentIndex())
    desk.update(lambda: desk.curve().method_version == METHOD)
    assert set(values(desk.curve()).values()) == {10.0}


def test_the_only_method_version_is_said(open_desk, study):
    study.score(1, "brisque", float)
    desk = open_desk(study.project)
    assert desk.scores.versions.box.currentText() == METHOD
    assert not desk.scores.versions.box.isEnabled()


# Chooser and card


def test_the_chooser_greys_metrics_that_cannot_score_and_says_why_and_the_way_out(open_desk, study):
    desk = open_desk(study.project)
    model = desk.scores.model
    desk.update(lambda: model.status("qalign") is not None)
    row = model.row_of("qalign")
    assert not model.flags(model.index(row)) & Qt.ItemFlag.ItemIsUserCheckable
    tip = model.data(model.index(row), Qt.ItemDataRole.ToolTipRole)
    assert model.status("qalign").reason.split()[0] in tip
    assert model.row_of("brisque") < row
    assert model.flags(model.index(model.row_of("brisque"))) & Qt.ItemFlag.ItemIsUserCheckable
    assert model.rowCount() == 23


def test_scores_that_came_from_elsewhere_can_be_shown_although_this_machine_cannot_score(open_desk, study):
    study.score(1, "qalign", lambda step: 3.0)
    desk = open_desk(study.project)
    assert [curve.metric for curve in desk.scores.curves] == ["qalign"]
    desk.update(lambda: desk.scores.model.status("qalign") is not None)
    assert desk.scores.model.usable("qalign")


def test_unticking_a_metric_takes_its_curve_away(open_desk, study):
    study.score(1, "brisque", float)
    study.score(1, "niqe", float)
    desk = open_desk(study.project)
    model = desk.scores.model
    model.setData(model.index(model.row_of("niqe")), Qt.CheckState.Unchecked, Qt.ItemDataRole.CheckStateRole)
    desk.update(lambda: [curve.metric for curve in desk.scores.curves] == ["brisque"])


def test_the_card_of_a_metric_tells_what_it_is_and_what_banana100_found(open_desk, study):
    desk = open_desk(study.project)
    desk.update(lambda: desk.scores.model.status("brisque") is not None)
    card = MetricCard(desk.scores.model, "brisque", desk.window)
    desk.qtbot.addWidget(card)
    card.popup(QPoint(10, 10))
    for part in ("0 to 150", "lower is better", metric("brisque").paper, metric("brisque").finding, "Ready"):
        assert part in card.text()


def test_a_right_click_on_a_metric_shows_its_card(open_desk, study):
    desk = open_desk(study.project)
    row = desk.scores.model.index(desk.scores.model.row_of("qalign"))
    place = desk.scores.list.visualRect(row).center()
    desk.scores.list.customContextMenuRequested.emit(place)
    card = desk.scores.list.findChild(MetricCard)
    assert card.isVisible()
    assert metric("qalign").paper in card.text()
    card.close()


# Theme


def test_the_plot_follows_the_theme(open_desk, study):
    study.score(1, "brisque", float)
    desk = open_desk(study.project)
    backgrounds = set()
    for scheme in (theme.Scheme.DARK, theme.Scheme.LIGHT):
        theme.set_scheme(scheme)
        backgrounds.add(desk.plot.grab().toImage().pixelColor(3, 3).name())
        assert theme.colours().field in backgrounds
    assert len(backgrounds) == 2


# Gaps


def scored_for_gaps(study):
    """BRISQUE that improves on coffee and worsens on rocket."""
    for run_id in (1, 2, 3):
        study.score(run_id, "brisque", lambda step, run_id=run_id: 90.0 - step - run_id)
    for run_id in (4, 5, 6):
        study.score(run_id, "brisque", lambda step: 30.0 + step)


def cell(desk, row, column=0, role=Qt.ItemDataRole.DisplayRole):
    return desk.gaps.model.data(desk.gaps.model.index(row, column), role)


def open_gaps(desk):
    desk.panel.tabs.setCurrentIndex(1)
    desk.update(lambda: desk.gaps.model.rowCount() == 2)


def test_the_heat_map_has_initial_images_down_and_failures_in_blue(open_desk, study):
    scored_for_gaps(study)
    desk = open_desk(study.project)
    open_gaps(desk)
    across = Qt.Orientation.Horizontal
    assert [desk.gaps.model.headerData(0, across), cell(desk, 0), cell(desk, 1)] == [
        "BRISQUE",
        "+12.7",
        "-12.7",
    ]
    failing, seeing = (cell(desk, row, role=Qt.ItemDataRole.BackgroundRole) for row in (0, 1))
    assert failing.blue() > failing.red() + 30
    assert abs(seeing.blue() - seeing.red()) < 8
    desk.gaps.choose(5)
    assert cell(desk, 0) == "+2.7"
    desk.gaps.choose(None)
    assert [cell(desk, 0), cell(desk, 1)] == ["3", "0"]


def test_hovering_a_cell_tells_the_figures_of_every_repeat(open_desk, study):
    scored_for_gaps(study)
    desk = open_desk(study.project)
    open_gaps(desk)
    tip = cell(desk, 0, role=Qt.ItemDataRole.ToolTipRole)
    assert "+12.67 ± 0.00 (3 repeats)" in tip
    assert "r1 +12.67, r2 +12.67, r3 +12.67" in tip
    assert "Failures: 3 of 3" in tip


def test_a_click_on_a_cell_opens_its_run_at_that_step(open_desk, study):
    scored_for_gaps(study)
    desk = open_desk(study.project)
    open_gaps(desk)
    desk.gaps.choose(10)
    place = desk.gaps.table.visualRect(desk.gaps.model.index(1, 0)).center()
    QTest.mouseClick(desk.gaps.table.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert (desk.session.run.id, desk.session.step) == (4, 10)


def test_the_heat_map_fills_while_scores_arrive(open_desk, study):
    desk = open_desk(study.project)
    desk.panel.tabs.setCurrentIndex(1)
    desk.update(desk.gaps.empty.isVisible)
    scored_for_gaps(study)
    desk.update(lambda: desk.gaps.model.rowCount() == 2)


def test_the_heat_map_begins_with_the_last_step_that_runs_reach(open_desk, study):
    for run_id in range(1, 7):
        study.score(run_id, "piqe", float, numbers=range(11))
    desk = open_desk(study.project)
    desk.panel.tabs.setCurrentIndex(1)
    desk.update(lambda: desk.gaps.model.rowCount() > 0)
    assert desk.gaps.buttons.checkedId() == 10
    desk.gaps.buttons.button(20).click()
    study.score(1, "piqe", float, numbers=range(11, 15))
    desk.settle()
    assert desk.gaps.buttons.checkedId() == 20, "what was chosen by hand stays"


def test_gaps_are_those_of_the_core(study):
    scored_for_gaps(study)
    table = GapTable(gaps(study.project))
    summary = table.cells[("coffee", "jpeg-webp", "replicate"), "brisque"]
    assert {step: round(delta.mean, 2) for step, delta in summary.deltas.items()} == {
        5: 2.67,
        10: 6.0,
        20: 12.67,
    }


# Arithmetic


def test_mean_and_spread_take_what_there_is():
    table = np.array([[1.0, 2.0, np.nan], [3.0, np.nan, np.nan]])
    mean, spread, counts = mean_and_spread(table)
    assert mean[:2].tolist() == [2.0, 2.0]
    assert np.isnan(mean[2])
    assert spread[0] == pytest.approx(2**0.5)
    assert np.isnan(spread[1:]).all()
    assert counts.tolist() == [2, 1, 0]


def test_a_table_takes_new_scores_of_some_metrics_in_place_of_the_old():
    def row(key, step, score):
        return StepScore(
            1, step, "a" * 64, key, METHOD, score, score, None if score is not None else "failed"
        )

    table = ScoreTable()
    table.replace([row("brisque", 1, 5.0), row("niqe", 1, 7.0)], None)
    table.replace([row("niqe", 1, 8.0), row("niqe", 2, None)], ["niqe"])
    assert table.metrics() == ["brisque", "niqe"]
    curve = table.curve("niqe", METHOD, Group("", (1,)), normalised=True)
    assert values(curve) == {1: 8.0}
    assert [failed.step for failed in curve.failed] == [2]
    assert table.complete("niqe", METHOD, {1: 2})
    assert not table.complete("brisque", METHOD, {1: 2})


def test_the_heat_map_is_saved_as_svg_png_and_csv(open_desk, study, tmp_path):
    scored_for_gaps(study)
    desk = open_desk(study.project)
    open_gaps(desk)
    for name in ("gaps.svg", "gaps.png", "gaps.csv"):
        desk.gaps.save(tmp_path / name)
    assert "BRISQUE" in (tmp_path / "gaps.svg").read_text("utf-8")
    picture = QImage(str(tmp_path / "gaps.png"))
    assert picture.width() > 200
    blue = [
        picture.pixelColor(x, y)
        for x in range(0, picture.width(), 8)
        for y in range(0, picture.height(), 8)
        if picture.pixelColor(x, y).blue() > picture.pixelColor(x, y).red() + 60
    ]
    assert blue
    assert (tmp_path / "gaps.csv").read_text("utf-8").startswith("run_id,initial_image")


def test_a_heat_map_that_cant_be_saved_says_why(open_desk, study, tmp_path):
    scored_for_gaps(study)
    desk = open_desk(study.project)
    open_gaps(desk)
    told = []
    desk.session.failed.connect(lambda title, details: told.append(details))
    desk.gaps.save(tmp_path / "gaps.doc")
    desk.gaps.save(tmp_path / "nowhere" / "gaps.svg")
    assert ".svg, .png or .csv" in told[0]
    assert "can't be written" in told[1]


def test_the_heat_map_can_be_of_one_model(open_desk, study):
    scored_for_gaps(study)
    study.project.write(lambda db: db.execute("UPDATE run SET model = 'other' WHERE id >= 4"))
    desk = open_desk(study.project)
    open_gaps(desk)
    models = desk.gaps.editor_models
    assert models.count() == 3
    assert models.itemText(2) == "other"
    models.setCurrentText("other")
    models.activated.emit(2)
    assert desk.gaps.model.rowCount() == 1
    assert cell(desk, 0) == "-12.7"
