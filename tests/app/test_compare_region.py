"""Measuring a rectangle, and what can be taken away: pictures, animations, contact sheets."""

from __future__ import annotations

import io
import threading

import numpy as np
import pytest
from PIL import Image as Pillow
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QMainWindow, QPushButton

from app.actions import ActionRegistry
from app.compare.panel import ComparePanel
from app.compare.viewport import Region, Size
from banana100_core.imaging.decode import Purpose, decode, inspect
from banana100_core.project import Project
from banana100_core.project.images import NewImage, image_bytes
from banana100_core.project.records import NewRun, NewStep, Outcome, RunState
from banana100_core.project.runs import add_run, add_steps

SIZE = Size(200, 120)
LAST = 4


@pytest.fixture
def panel(qtbot, session, tmp_path):
    path = tmp_path / "study.b100"
    with Project.create(path) as project:
        run_id = add_run(
            project, NewRun("cup", "codec_loss", "jpeg", "replicate", 1, LAST, state=RunState.DONE)
        )
        rows = []
        for n in range(LAST + 1):
            pixels = np.random.default_rng(n).integers(
                0, 200 + 10 * n, (SIZE.height, SIZE.width, 3), dtype=np.uint8
            )
            stream = io.BytesIO()
            Pillow.fromarray(pixels).save(stream, "PNG")
            image = NewImage(inspect(stream.getvalue()), data=stream.getvalue())
            rows.append((NewStep(run_id, n, Outcome.DONE if n else Outcome.INITIAL), image))
        add_steps(project, rows)
    window = QMainWindow()
    qtbot.addWidget(window)
    panel = ComparePanel(session, ActionRegistry(window))
    window.setCentralWidget(panel)
    window.resize(1000, 800)
    window.show()
    assert session.open_project(path)
    session.choose_step(3)
    qtbot.waitUntil(panel.is_settled)
    return panel


def trigger(panel, key):
    panel._registry.qaction(key).trigger()


def pixels_of(session, number) -> np.ndarray:
    data = image_bytes(session.project, session.step_numbered(number).image.sha256)
    return decode(data, Purpose.DISPLAY).pixels


def assert_measured(found, pixels):
    for channel, figures in enumerate(found.channels):
        values = pixels[..., channel]
        assert figures.mean == pytest.approx(values.mean())
        assert figures.deviation == pytest.approx(values.std())
        assert (figures.low, figures.median, figures.high) == (values.min(), np.median(values), values.max())
        np.testing.assert_array_equal(figures.histogram, np.bincount(values.ravel(), minlength=256))


def test_a_rectangle_drawn_with_the_right_button_is_measured_in_all_panes(panel, session, qtbot):
    trigger(panel, "view.actual_size")
    canvas = panel.panes.left
    place = canvas.view.place(SIZE, canvas.pane)
    start, end = QPoint(place.left + 20, place.top + 30), QPoint(place.left + 90, place.top + 70)
    qtbot.mousePress(canvas, Qt.MouseButton.RightButton, pos=start)
    qtbot.mouseMove(canvas, end)
    qtbot.mouseRelease(canvas, Qt.MouseButton.RightButton, pos=end)
    qtbot.waitUntil(lambda: len(panel.meter.view._measured) == 2)
    assert panel.meter.view.isVisible()
    for found, number in zip(panel.meter.view._measured, (1, 3), strict=True):
        assert found.name == f"Step {number}"
        assert found.sides == (70, 40)
        assert_measured(found, pixels_of(session, number)[30:70, 20:90])
    # The figures follow the step.
    session.next_step()
    qtbot.waitUntil(lambda: [each.name for each in panel.meter.view._measured] == ["Step 1", "Step 4"])
    assert_measured(panel.meter.view._measured[1], pixels_of(session, 4)[30:70, 20:90])
    assert "mean" not in panel.meter.view.text
    assert "70 × 40 pixels" in panel.meter.view.text
    # A click with the same button ends it.
    qtbot.mouseClick(canvas, Qt.MouseButton.RightButton, pos=start)
    assert not panel.meter.view.isVisible()
    assert not panel._registry.qaction("view.measure").isChecked()


def test_what_is_on_screen_is_measured_by_a_key(panel, session, qtbot):
    trigger(panel, "view.measure")
    qtbot.waitUntil(lambda: len(panel.meter.view._measured) == 2)
    assert panel.meter.view._measured[0].sides == SIZE
    assert_measured(panel.meter.view._measured[1], pixels_of(session, 3))
    panel.meter.view.grab()
    trigger(panel, "view.measure")
    assert not panel.meter.view.isVisible()


def test_zooming_to_the_rectangle(panel):
    panel.meter.measure(Region(0.25, 0.25, 0.5, 0.5))
    trigger(panel, "view.zoom_region")
    seen = panel.panes.right.visible_region
    assert seen.left <= 0.26
    assert seen.top <= 0.26
    assert seen.right >= 0.49
    assert seen.bottom >= 0.49
    assert min(seen.width, seen.height) < 0.35


def test_the_view_is_copied_as_it_is_on_screen(panel):
    trigger(panel, "edit.copy_view")
    copied = QGuiApplication.clipboard().image()
    shown = panel.panes.grab().toImage()
    assert copied.size() == shown.size()
    assert copied.pixelColor(400, 300) == shown.pixelColor(400, 300)


def test_the_view_is_saved_as_a_png(panel, tmp_path, qtbot):
    out = tmp_path / "view.png"
    with qtbot.waitSignal(panel.exporter.written):
        panel.exporter.save_view(out)
    with Pillow.open(out) as opened:
        assert opened.format == "PNG"
        assert opened.size == (panel.panes.width(), panel.panes.height())


def test_what_cannot_be_written_is_told(panel, session, tmp_path, qtbot):
    with qtbot.waitSignal(session.failed) as told:
        panel.exporter.save_view(tmp_path / "nowhere" / "view.png")
    assert "Choose another place" in told.args[1]


@pytest.mark.parametrize("name", ["run.webp", "run.gif"])
def test_the_run_is_saved_as_an_animation_as_fast_as_it_is_played(panel, tmp_path, qtbot, name):
    panel.player.set_rate(8)
    out = tmp_path / name
    with qtbot.waitSignal(panel.exporter.written):
        panel.exporter.save_animation(out)
    with Pillow.open(out) as opened:
        assert opened.n_frames == LAST + 1
        opened.seek(1)
        opened.load()
        assert opened.info["duration"] == pytest.approx(125, abs=5)


def test_the_run_is_saved_as_a_contact_sheet(panel, tmp_path, qtbot):
    out = tmp_path / "run.png"
    with qtbot.waitSignal(panel.exporter.written):
        panel.exporter.save_sheet(out)
    with Pillow.open(out) as opened:
        assert opened.width > 5 * 200


def test_an_export_tells_how_far_it_is_and_that_it_is_done(panel, tmp_path, qtbot):
    bar = panel.exporter.bar
    with qtbot.waitSignal(panel.exporter.written):
        panel.exporter.save_sheet(tmp_path / "run.png")
        assert bar.text == "Writing run.png"
        assert bar.isVisible()
    qtbot.waitUntil(lambda: bar.text == "run.png is written")
    assert not bar.findChild(QPushButton).isVisible()


@pytest.mark.parametrize("kind", ["animation", "sheet"])
def test_an_export_that_is_cancelled_leaves_nothing(panel, session, tmp_path, qtbot, kind):
    bar, busy = panel.exporter.bar, threading.Event()
    for _ in range(8):  # more than there are threads: the export can't end before it is cancelled
        session.in_background(busy.wait)
    getattr(panel.exporter, f"save_{kind}")(tmp_path / ("run.webp" if kind == "animation" else "run.png"))
    bar.findChild(QPushButton).click()
    busy.set()
    qtbot.waitUntil(lambda: not bar.isVisible())
    assert list(tmp_path.glob("*run*")) == []


def test_closing_the_project_ends_an_export(panel, session, tmp_path):
    panel.exporter.save_animation(tmp_path / "run.webp")
    session.close_project()
    assert not list(tmp_path.glob(".run*"))
    assert not panel.exporter.bar.isVisible()


def test_backdrop_details_and_filmstrip_are_as_they_were_left(panel, session, qtbot):
    trigger(panel, "view.canvas_black")
    trigger(panel, "view.step_details")
    trigger(panel, "view.filmstrip")
    window = QMainWindow()
    qtbot.addWidget(window)
    registry = ActionRegistry(window)
    other = ComparePanel(session, registry)
    window.setCentralWidget(other)
    window.show()
    assert registry.qaction("view.canvas_black").isChecked()
    assert other.panes.left.grab().toImage().pixelColor(3, 3).lightness() < 3
    assert other.details.isVisible()
    assert registry.qaction("view.step_details").isChecked()
    assert not other.filmstrip.isVisible()
    assert not registry.qaction("view.filmstrip").isChecked()


def test_each_run_chosen_in_the_list_has_an_animation_of_its_own(panel, session, tmp_path, qtbot):
    first = session.run.id
    second = add_run(session.project, NewRun("fog", "codec_loss", "jpeg", "replicate", 2, 1))
    steps_of_first = [step.image.sha256 for step in session.steps[:2]]
    data = [image_bytes(session.project, sha256) for sha256 in steps_of_first]
    add_steps(
        session.project,
        [
            (NewStep(second, n, Outcome.DONE if n else Outcome.INITIAL), NewImage(inspect(each), data=each))
            for n, each in enumerate(data)
        ],
    )
    session.selected_runs = [first, second]
    (tmp_path / "runs 2.webp").touch()  # is left as it is
    with qtbot.waitSignal(panel.exporter.written):
        panel.exporter.save_animation(tmp_path / "runs.webp")
    frames = {}
    for name in ("runs 1.webp", "runs 3.webp"):
        with Pillow.open(tmp_path / name) as opened:
            frames[name] = opened.n_frames
    assert frames == {"runs 1.webp": LAST + 1, "runs 3.webp": 2}
    assert (tmp_path / "runs 2.webp").read_bytes() == b""
    assert not (tmp_path / "runs.webp").exists()
