"""The comparison: panes that follow the session, modes, slider, filmstrip, details."""

from __future__ import annotations

import io
import re

import numpy as np
import pytest
from PIL import Image as Pillow
from PySide6.QtCore import QEvent, QObject, QPoint, QPointF, QRect, Qt
from PySide6.QtGui import QColor, QImage
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QMainWindow
from skimage import color

from app.actions import ActionRegistry
from app.compare.panel import ComparePanel
from app.compare.panes import Mode
from app.compare.rules import Rule, Shows, ruled_number
from app.compare.slider import TRACK_HEIGHT
from app.compare.steps import (
    aspect_differs,
    neighbours,
)
from app.compare.tag_bars import lanes_of, lay_out
from app.compare.viewport import Size, View
from banana100_core.catalog.failure_modes import failure_modes
from banana100_core.imaging.decode import Purpose, decode, inspect
from banana100_core.project import Project
from banana100_core.project.images import NewImage, image_bytes
from banana100_core.project.records import NewRun, NewStep, NewSuggestion, NewTag, Outcome, RunState
from banana100_core.project.runs import add_run, add_step, add_steps, steps
from banana100_core.project.suggestions import replace_suggestions, suggestions
from banana100_core.project.tags import add_tag, tags

FAILED, MISLABELLED, CROPPED, DAMAGED, LAST = 5, 6, 7, 8, 9
REASON = "The service answered without an image. Ask again, or go on from the step before."
REASONING = "Before any title.\n\n**Looking <i>closely</i>**\nThe cup stays.\n\n**Drawing it**\nDone.\n"


def picture(seed: int, width: int = 320, height: int = 200, kind: str = "PNG") -> NewImage:
    pixels = np.random.default_rng(seed).integers(0, 256, (height, width, 3), dtype=np.uint8)
    stream = io.BytesIO()
    Pillow.fromarray(pixels).save(stream, kind)
    return NewImage(inspect(stream.getvalue()), data=stream.getvalue())


@pytest.fixture
def study(tmp_path):
    """Three runs: one of nine steps with every oddity, one of sixty, one without any step."""
    path = tmp_path / "study.b100"
    with Project.create(path) as project:
        odd = add_run(project, NewRun("cup", "codec_loss", "jpeg", "replicate", 1, LAST, state=RunState.DONE))
        rows: list[tuple[NewStep, NewImage | None]] = [(NewStep(odd, 0, Outcome.INITIAL), picture(0))]
        for number in range(1, LAST + 1):
            if number == FAILED:
                rows.append((NewStep(odd, number, Outcome.FAILED, reason=REASON), None))
                continue
            step = NewStep(
                odd,
                number,
                Outcome.DONE,
                prompt="Produce <b>an exact</b> replica.",
                reasoning=REASONING,
                settings={"seed": number},
                declared_media_type="image/jpeg" if number == MISLABELLED else "image/png",
                cost_usd=0.134,
                seconds=13.5,
            )
            rows.append((step, picture(number, height=160 if number == CROPPED else 200)))
        add_steps(project, rows)
        long = add_run(project, NewRun("long", "codec_loss", "jpeg", "replicate", 1, 60, state=RunState.DONE))
        add_steps(
            project,
            [
                (NewStep(long, n, Outcome.DONE if n else Outcome.INITIAL), picture(100 + n, 64, 48))
                for n in range(61)
            ],
        )
        add_run(project, NewRun("planned", "codec_loss", "jpeg", "replicate", 1, 20))
        add_tag(project, "ada", NewTag(odd, "persistent_noise", 3))
        add_tag(project, "ada", NewTag(odd, "counting_failure", 4, 6, note="<b>three</b> spoons"))
    return path


@pytest.fixture
def panel(qtbot, session, study):
    """The panel on the run of oddities, shown at step 2 against step 1."""
    window = QMainWindow()
    qtbot.addWidget(window)
    registry = ActionRegistry(window)
    for key, slot in (("run.next_step", session.next_step), ("run.previous_step", session.previous_step)):
        registry.connect(key, slot)
    panel = ComparePanel(session, registry)
    window.setCentralWidget(panel)
    window.resize(1000, 760)
    window.show()
    assert session.open_project(study)
    session.choose_step(2)
    qtbot.waitUntil(panel.is_settled)
    return panel


def trigger(panel, key):
    panel._registry.qaction(key).trigger()


def seen(canvas) -> np.ndarray:
    image = QImage(canvas.size(), QImage.Format.Format_RGB32)
    canvas.render(image)
    image = image.convertToFormat(QImage.Format.Format_RGB888)
    rows = np.frombuffer(image.constBits(), np.uint8).reshape(image.height(), image.bytesPerLine())
    return rows[:, : image.width() * 3].reshape(image.height(), image.width(), 3).copy()


def pixels_of(session, number) -> np.ndarray:
    data = image_bytes(session.project, session.step_numbered(number).image.sha256)
    return decode(data, Purpose.DISPLAY).pixels


def shows(canvas, pixels) -> bool:
    """Whether a canvas at 1:1 shows the middle of these pixels, value for value."""
    screen = seen(canvas)
    height, width = pixels.shape[:2]
    size = Size(width, height)
    placement = View(0.5, 0.5, 1.0, size).place(size, canvas.pane)
    patch = screen[placement.top + 20 : placement.top + 80, placement.left + 20 : placement.left + 80]
    return np.array_equal(patch, pixels[20:80, 20:80])


# Panes


def test_left_is_step_one_and_right_the_current_step(panel, session, qtbot):
    assert session.reference_step == 1
    trigger(panel, "view.actual_size")
    assert shows(panel.panes.left, pixels_of(session, 1))
    assert shows(panel.panes.right, pixels_of(session, 2))
    session.next_step()
    qtbot.waitUntil(panel.is_settled)
    assert shows(panel.panes.left, pixels_of(session, 1))
    assert shows(panel.panes.right, pixels_of(session, 3))


def test_headers_tell_step_size_and_type(panel, session, qtbot):
    assert panel.left_header.text.startswith("Step 1 · reference · 320 × 200 · PNG")
    assert panel.right_header.text.startswith("Step 2 · 320 × 200 · PNG")
    assert "aspect" not in panel.right_header.text
    session.choose_step(CROPPED)
    assert "aspect differs from step 0 (320 × 200)" in panel.right_header.text
    session.choose_step(MISLABELLED)
    assert "declared as JPEG" in panel.right_header.text


def test_a_failed_step_shows_its_reason_in_place_of_a_picture(panel, session, qtbot):
    session.choose_step(FAILED)
    assert panel.panes.right.content.message == f"Step {FAILED} failed\n\n{REASON}"
    assert "failed" in panel.right_header.text
    assert panel.panes.left.content.message == ""
    session.next_step()
    qtbot.waitUntil(panel.is_settled)
    assert panel.panes.right.content.message == ""


def test_a_picture_that_cannot_be_read_becomes_a_message_and_the_rest_goes_on(panel, session, qtbot):
    sha256 = session.step_numbered(DAMAGED).image.sha256
    session.project.write(lambda database: database.execute("DELETE FROM blob WHERE sha256 = ?", [sha256]))
    panel.pictures.loader.open(session.project)  # forget what was decoded ahead
    session.choose_step(DAMAGED)
    qtbot.waitUntil(lambda: bool(panel.panes.right.content.message))
    assert f"Step {DAMAGED} can't be shown" in panel.panes.right.content.message
    session.choose_step(2)
    qtbot.waitUntil(panel.is_settled)
    trigger(panel, "view.actual_size")
    assert shows(panel.panes.right, pixels_of(session, 2))


@pytest.mark.parametrize("zoom", [None, 1.0, 5.0])
def test_position_and_zoom_stay_when_the_step_changes(panel, session, qtbot, zoom):
    panes = panel.panes
    if zoom is not None:
        panes.right.link.view = View(0.31, 0.64, zoom, Size(320, 200))
    before = panes.right.link.view
    for number in (3, CROPPED, FAILED, 0, LAST):
        session.choose_step(number)
        qtbot.waitUntil(panel.is_settled)
        assert panes.right.link.view == before
        size = panes.right.content.image.size
        if size is not None:
            place = before.place(size, panes.right.pane)
            middle = place.to_pane(before.x * size.width, before.y * size.height)
            assert middle == pytest.approx(
                (panes.right.pane.width / 2, panes.right.pane.height / 2), abs=0.51
            )


def test_both_panes_look_at_the_same_place_unless_unlinked(panel, session):
    panes = panel.panes
    panes.right.zoom_in(QPointF(100, 100))
    assert panes.left.link.view == panes.right.link.view
    trigger(panel, "view.link_panes")
    assert not panes.linked
    before = panes.left.link.view
    panes.right.zoom_in(QPointF(10, 10))
    assert panes.left.link.view == before
    trigger(panel, "view.link_panes")
    assert panes.left.link.view == panes.right.link.view


def test_a_pane_whose_picture_stays_is_not_painted_anew(panel, session, qtbot):
    session.choose_step(2)
    qtbot.waitUntil(panel.is_settled)
    QApplication.processEvents()
    painted = []

    class Watch(QObject):
        def eventFilter(self, watched, event):
            if event.type() == QEvent.Type.Paint:
                painted.append(watched)
            return False

    watch = Watch()
    for canvas in panel.panes.canvases:
        canvas.installEventFilter(watch)
    session.choose_step(3)
    qtbot.waitUntil(lambda: panel.is_settled() and panel.panes.right in painted)
    QApplication.processEvents()
    assert panel.panes.left not in painted


def test_a_hundred_quick_steps_end_at_the_last_and_decode_few(panel, session, qtbot):
    session.choose_run(session.runs[1].id)
    qtbot.waitUntil(panel.is_settled)
    told: list[str] = []
    panel.pictures.loader.open(session.project)
    panel.pictures.loader.loaded.connect(told.append)
    session.first_step()
    for _ in range(60):
        session.next_step()
    for _ in range(40):
        session.previous_step()
    assert session.step == 20
    qtbot.waitUntil(panel.is_settled)
    trigger(panel, "view.actual_size")
    screen = seen(panel.panes.right)
    pixels = pixels_of(session, 20)
    place = panel.panes.right.link.view.place(Size(64, 48), panel.panes.right.pane)
    np.testing.assert_array_equal(screen[place.top : place.top + 48, place.left : place.left + 64], pixels)


def test_zoom_is_told(panel):
    assert panel.toolbar.zoom_text.startswith("fit · ")
    trigger(panel, "view.actual_size")
    assert panel.toolbar.zoom_text == "1:1"
    trigger(panel, "view.zoom_in")
    assert panel.toolbar.zoom_text == "1.5×"
    trigger(panel, "view.fit")
    assert panel.toolbar.zoom_text.startswith("fit · ")


def test_the_readout_tells_the_pixel_in_both_pictures(panel, session, qtbot):
    trigger(panel, "view.actual_size")
    canvas = panel.panes.right
    size = Size(320, 200)
    x, y = canvas.link.view.place(size, canvas.pane).to_pane(17.5, 33.5)
    qtbot.mouseMove(canvas, QPoint(int(x), int(y)))
    before, after = pixels_of(session, 1)[33, 17], pixels_of(session, 2)[33, 17]
    words = panel.readout.text.replace(",", "").split()
    assert words[:8] == ["step", "1", "17", "33", "rgb", *map(str, before)]
    assert words[12:20] == ["step", "2", "17", "33", "rgb", *map(str, after)]
    assert (words[8], words[20], words[22], words[26]) == ("Lab", "ΔE", "Lab", "Δ")
    lab = color.rgb2lab(np.stack([before, after])[None].astype(np.uint8))[0]
    assert [float(word) for word in words[9:12]] == pytest.approx(lab[0], abs=0.1)
    assert float(words[21]) == pytest.approx(color.deltaE_ciede2000(*lab), abs=0.1)
    assert [float(word) for word in words[23:26]] == pytest.approx(lab[1], abs=0.1)
    changes = [int(word) for word in words[27:30]]
    assert changes == [int(a) - int(b) for a, b in zip(after, before, strict=True)]
    # The readout follows the step under a cursor at rest.
    session.next_step()
    qtbot.waitUntil(panel.is_settled)
    assert " ".join(map(str, pixels_of(session, 3)[33, 17])) in " ".join(panel.readout.text.split())


# Modes


def test_modes_and_gain_are_chosen_by_actions(panel):
    panes = panel.panes
    assert panes.left.isVisible()
    trigger(panel, "view.wipe")
    assert panes.comparison.mode is Mode.WIPE
    assert not panes.left.isVisible()
    trigger(panel, "view.difference")
    assert panes.comparison.mode is Mode.DIFFERENCE
    gain = panes.comparison.gain
    trigger(panel, "view.more_gain")
    assert panes.comparison.gain > gain
    for _ in range(10):
        trigger(panel, "view.more_gain")
    assert panes.comparison.gain == 32
    for _ in range(10):
        trigger(panel, "view.less_gain")
    assert panes.comparison.gain == 1
    trigger(panel, "view.side_by_side")
    assert panes.left.isVisible()


def test_the_difference_is_that_of_the_two_steps(panel, session, qtbot):
    trigger(panel, "view.difference")
    trigger(panel, "view.actual_size")
    canvas, size = panel.panes.right, Size(320, 200)
    place = canvas.link.view.place(size, canvas.pane)
    change = pixels_of(session, 2).astype(int) - pixels_of(session, 1)
    for signed in (True, False):
        trigger(panel, "view.signed_difference" if signed else "view.absolute_difference")
        shown = seen(canvas)[place.top : place.top + 200, place.left : place.left + 320].astype(int)
        gain = panel.panes.comparison.gain
        expected = 128 + gain * change if signed else gain * abs(change)
        clear = _away_from_the_scale(shown, np.clip(expected, 0, 255))
        assert abs(clear).max() <= 1


def _away_from_the_scale(shown, expected):
    """What the two differ by, but for the corner that the scale of the difference covers."""
    return (shown - expected)[:120]


def test_where_sizes_differ_it_is_said_which_was_resized(panel, session, qtbot):
    session.choose_step(CROPPED)
    assert "stretched" not in panel.readout.text
    trigger(panel, "view.difference")
    assert "Step 1 is stretched from 320 × 200 to 320 × 160" in panel.readout.text
    session.choose_step(3)
    assert "stretched" not in panel.readout.text


def test_the_divider_moves_by_keyboard_and_stays_when_the_step_changes(panel, session):
    trigger(panel, "view.wipe")
    before = panel.panes.comparison.divider
    trigger(panel, "view.divider_right")
    moved = panel.panes.right.content.divider
    assert moved > before
    session.next_step()
    assert panel.panes.right.content.divider == moved


def test_the_reference_is_shown_for_as_long_as_the_key_is_held(panel, session, qtbot):
    trigger(panel, "view.actual_size")
    canvas = panel.panes.right
    canvas.window().activateWindow()
    canvas.setFocus()
    QTest.keyPress(canvas, Qt.Key.Key_Space)
    assert shows(canvas, pixels_of(session, 1))
    assert panel.right_header.text.startswith("Step 1 · flipped")
    QTest.keyRelease(canvas, Qt.Key.Key_Space)
    assert shows(canvas, pixels_of(session, 2))
    assert panel.right_header.text.startswith("Step 2")


# Reference


def test_the_reference_follows_its_rule(panel, session):
    trigger(panel, "view.reference_previous")
    session.choose_step(4)
    assert session.reference_step == 3
    session.choose_step(LAST)
    assert session.reference_step == LAST - 1
    trigger(panel, "view.reference_initial")
    assert session.reference_step == 0
    session.choose_step(3)
    assert session.reference_step == 0
    trigger(panel, "view.reference_first")
    assert session.reference_step == 1


def test_a_reference_chosen_elsewhere_is_pinned(panel, session):
    session.choose_reference(4)
    assert panel._registry.qaction("view.reference_pinned").isChecked()
    session.choose_step(LAST)
    assert session.reference_step == 4
    assert "pinned" in panel.left_header.text


def test_swapping_panes(panel, session):
    trigger(panel, "view.swap_panes")
    assert (session.reference_step, session.step) == (2, 1)


# Slider, filmstrip, tags


def test_slider_and_filmstrip_choose_the_step(panel, session, qtbot):
    slider = panel.slider
    qtbot.mouseClick(slider, Qt.MouseButton.LeftButton, pos=QPoint(round(slider._x(4)), TRACK_HEIGHT // 2))
    assert session.step == 4
    assert slider.value() == 4
    cell = panel.filmstrip._cell(3)
    qtbot.mouseClick(panel.filmstrip, Qt.MouseButton.LeftButton, pos=cell.center())
    assert session.step == 3
    assert slider.value() == 3
    assert slider.maximum() == LAST


def test_the_filmstrip_keeps_the_current_step_in_view(panel, session, qtbot):
    session.choose_run(session.runs[1].id)
    strip = panel.filmstrip
    for number in (0, 30, 60, 45):
        session.choose_step(number)
        cell = strip._cell(number)
        assert strip.rect().contains(cell.center())
    assert len(strip._visible(strip.rect())) < 20  # the rest is neither painted nor asked for


def test_cells_that_scrolling_moves_look_as_if_they_were_painted_anew(panel, session, qtbot):
    def on_screen():
        corner = panel.filmstrip.mapTo(panel.window(), QPoint(0, 0))
        shown = panel.screen().grabWindow(panel.window().winId()).toImage()
        return shown.copy(QRect(corner, panel.filmstrip.size()))

    session.choose_run(session.runs[1].id)
    for number in (*range(20, 41), *range(39, 30, -1)):
        session.choose_step(number)
        qtbot.waitUntil(panel.is_settled)
        QApplication.processEvents()  # paints
    scrolled = on_screen()
    panel.filmstrip.repaint()
    assert scrolled == on_screen()


def test_cells_are_drawn_from_thumbnails_and_failed_steps_are_hatched(panel, session, qtbot):
    strip = panel.filmstrip
    qtbot.waitUntil(strip.is_settled)
    image = strip.grab().toImage()
    failed, done = strip._cell(FAILED).center(), strip._cell(3).center()
    red = sum(
        QColor(image.pixel(failed.x() + dx, 30)).red() > QColor(image.pixel(failed.x() + dx, 30)).green() + 40
        for dx in range(-20, 20)
    )
    assert red > 3
    assert image.pixelColor(done.x(), 30) != image.pixelColor(failed.x(), 30)


def test_tags_are_bars_along_the_slider_and_follow_changes(panel, session, qtbot):
    qtbot.waitUntil(lambda: len(panel.slider.bars) == 2)
    noise, counting = panel.slider.bars
    assert (noise.text, noise.first, noise.last, noise.open_end) == (
        "Persistent noise from 3 · ada",
        3,
        LAST,
        True,
    )
    assert (counting.first, counting.last, counting.lane) == (4, 6, 1)
    assert noise.colour != counting.colour
    height = panel.slider.height()
    add_tag(session.project, "bo", NewTag(session.run.id, "green_tint", 5))
    qtbot.waitUntil(lambda: len(panel.slider.bars) == 3)
    qtbot.waitUntil(lambda: panel.slider.height() > height)
    height = panel.slider.height()
    session.choose_run(session.runs[1].id)
    qtbot.waitUntil(lambda: panel.slider.bars == [])
    assert panel.slider.sizeHint().height() == height  # or the pictures would jump from run to run


def test_suggestions_have_lanes_below_however_many_tags_there_are(project):
    run_id = add_run(project, NewRun("cup", "codec_loss", "jpeg", "replicate", steps_planned=9))
    for mode in list(failure_modes())[:6]:
        add_tag(project, "ada", NewTag(run_id, mode, 2))
    new = [NewSuggestion(run_id, mode, 4, 1.0, "why", "test-1") for mode in list(failure_modes())[6:9]]
    replace_suggestions(project, [run_id], new)
    bars = lay_out(tags(project, run_id), range(10), failure_modes(), suggestions(project, run_id))
    assert [bar.lane for bar in bars if not bar.suggested] == [0, 1, 2, 3, -1, -1]
    assert [bar.lane for bar in bars if bar.suggested] == [4, 5, -1]
    assert lanes_of(bars) == 6


def test_what_has_no_lane_is_counted_and_told(panel, session, qtbot):
    for mode in list(failure_modes())[:5]:
        add_tag(session.project, "bo", NewTag(session.run.id, mode, 2))
    qtbot.waitUntil(lambda: len(panel.slider.bars) == 7)
    hidden = [bar.text for bar in panel.slider.bars if not bar.shown]
    assert len(hidden) == 3
    told = panel.slider._told_at(panel.slider._beside_lanes().center())
    assert told.splitlines() == ["There is no room for:", *hidden]


def test_bars_share_a_lane_where_they_do_not_overlap(project):
    run_id = add_run(project, NewRun("cup", "codec_loss", "jpeg", "replicate"))
    add_steps(
        project,
        [(NewStep(run_id, n, Outcome.DONE if n else Outcome.INITIAL), picture(n, 16, 16)) for n in range(10)],
    )
    for onset, end in ((1, 3), (2, 6), (4, 8), (7, None)):
        add_tag(project, "ada", NewTag(run_id, "persistent_noise", onset, end))
    bars = lay_out(tags(project, run_id), list(range(10)), failure_modes())
    assert [(bar.first, bar.lane) for bar in bars] == [(1, 0), (2, 1), (4, 0), (7, 1)]


def test_bars_of_others_say_whose_they_are(project):
    run_id = add_run(project, NewRun("cup", "codec_loss", "jpeg", "replicate"))
    add_steps(project, [(NewStep(run_id, n, Outcome.DONE), picture(n, 16, 16)) for n in (1, 2)])
    for annotator in ("ada", "bo"):
        add_tag(project, annotator, NewTag(run_id, "persistent_noise", 2))
    bars = lay_out(tags(project, run_id), [1, 2], failure_modes(), annotator="ada")
    assert sorted(bar.text for bar in bars) == ["Persistent noise from 2", "Persistent noise from 2 · bo"]


# Details


def test_details_show_what_is_known_as_plain_text(panel, session, qtbot):
    trigger(panel, "view.step_details")
    text = panel.details.text
    for expected in (
        "Step 2",
        "Produce <b>an exact</b> replica.",
        "seed: 2",
        "Looking <i>closely</i>",
        "The cup stays.",
        "image/png",
        "$0.134",
        "13.5 s",
    ):
        assert expected in text
    assert text.count("image/png") == 1  # declared is what it is
    assert re.search(r"Created\W+\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\n", text)
    session.choose_step(MISLABELLED)
    assert "image/jpeg — not what it is" in panel.details.text
    assert "True type" in panel.details.text
    session.choose_step(FAILED)
    assert REASON in panel.details.text
    trigger(panel, "view.step_details")
    assert not panel.details.isVisible()


# Coming and going


def test_a_run_without_pictures_says_what_to_do(panel, session):
    session.choose_run(session.runs[2].id)
    assert panel._stack.currentIndex() == 1
    session.choose_run(session.runs[0].id)
    assert panel._stack.currentIndex() == 0


def test_a_step_that_arrives_is_shown(panel, session, qtbot):
    planned = session.runs[2].id
    session.choose_run(planned)
    add_step(session.project, NewStep(planned, 0, Outcome.INITIAL), picture(900))
    qtbot.waitUntil(lambda: session.step_numbered(0) is not None)
    add_step(session.project, NewStep(planned, 1, Outcome.DONE), picture(901))
    qtbot.waitUntil(lambda: session.step == 1)
    qtbot.waitUntil(panel.is_settled)
    assert session.reference_step == 1
    trigger(panel, "view.actual_size")
    assert shows(panel.panes.right, pixels_of(session, 1))


def test_closing_the_project_gives_the_memory_back(panel, session):
    loader = panel.pictures.loader
    assert loader.held_bytes > 0
    session.close_project()
    assert loader.held_bytes == 0
    assert panel.panes.images[0].pyramid is None
    assert panel.panes.images[1].pyramid is None
    assert panel.right_header.text == ""


# What is said of steps


def test_rules_of_the_reference(panel, session):
    found = steps(session.project, session.runs[0].id)
    assert ruled_number(Rule(Shows.CURRENT), found, 6) == 6
    assert ruled_number(Rule(Shows.INITIAL), found, 6) == 0
    assert ruled_number(Rule(Shows.FIRST), found, 6) == 1
    assert ruled_number(Rule(Shows.PREVIOUS), found, 6) == 5
    assert ruled_number(Rule(Shows.PREVIOUS), found, 0) == 0
    assert ruled_number(Rule(Shows.PINNED, 4), found, 6) == 4
    assert ruled_number(Rule(Shows.FIRST), found[:1], 0) == 0
    assert ruled_number(Rule(Shows.FIRST), [], 0) == 0


def test_neighbours_favour_the_direction_of_travel(panel, session):
    found = steps(session.project, session.runs[1].id)
    forward = [step.number for step in neighbours(found, 30, 1)]
    back = [step.number for step in neighbours(found, 30, -1)]
    assert forward[:3] == [31, 32, 29]
    assert back[:3] == [29, 28, 31]
    assert sum(number > 30 for number in forward) > sum(number < 30 for number in forward) > 0
    assert [step.number for step in neighbours(found, 60, 1)] == [59, 58, 57, 56]


def test_aspect_differs_only_beyond_rounding():
    def image(width, height):
        return picture(1, width, height).image

    assert not aspect_differs(image(281, 150), image(562, 301))
    assert not aspect_differs(image(100, 100), image(640, 640))
    assert aspect_differs(image(320, 160), image(320, 200))
    assert aspect_differs(image(200, 320), image(320, 200))
