"""One, two or four panes: their rules, their places, turns, modes, looks and playing."""

from __future__ import annotations

import io
from dataclasses import fields, replace

import numpy as np
import pytest
from PIL import Image as Pillow
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QMainWindow
from skimage import data

from app.actions import ActionRegistry
from app.compare.content import Difference, One, PaneImage, Shades
from app.compare.panel import ComparePanel
from app.compare.panes import Mode
from app.compare.rules import Rule, Shows, counterpart
from app.compare.turns import Turn, asked_turn, turn_back
from app.compare.viewport import Region, Size, View
from banana100_core.catalog.protocols import protocols
from banana100_core.imaging.comparison import DifferenceMode, difference
from banana100_core.imaging.decode import Purpose, decode, inspect
from banana100_core.imaging.look import Channel, Look
from banana100_core.imaging.pyramid import build
from banana100_core.project import Project
from banana100_core.project.images import NewImage, image_bytes
from banana100_core.project.records import NewRun, NewStep, Outcome, Run, RunState
from banana100_core.project.runs import add_run, add_steps, steps

LAST, SHORT = 8, 3
WIDTH, HEIGHT = 240, 160


def encoded(pixels: np.ndarray) -> NewImage:
    stream = io.BytesIO()
    Pillow.fromarray(pixels).save(stream, "PNG")
    return NewImage(inspect(stream.getvalue()), data=stream.getvalue())


def photograph(seed: int) -> np.ndarray:
    """A part of a photograph with noise of its own."""
    part = data.astronaut()[:HEIGHT, :WIDTH].astype(int)
    noise = np.random.default_rng(seed).integers(-9, 10, part.shape)
    return np.clip(part + noise, 0, 255).astype(np.uint8)


def fill(
    project: Project, initial: str, repeat: int, protocol: str, count: int, start: int, model: str = "jpeg"
) -> int:
    run = NewRun(initial, "codec_loss", model, protocol, repeat, count, state=RunState.DONE)
    run_id = add_run(project, run)
    add_steps(
        project,
        [
            (NewStep(run_id, n, Outcome.DONE if n else Outcome.INITIAL), encoded(photograph(start + n)))
            for n in range(count + 1)
        ],
    )
    return run_id


@pytest.fixture
def study(tmp_path):
    path = tmp_path / "study.b100"
    with Project.create(path) as project:
        fill(project, "cup", 1, "replicate", LAST, 0)
        fill(project, "cup", 2, "replicate", SHORT, 100)
        fill(project, "tree", 1, "replicate", LAST, 200)
    return path


@pytest.fixture
def panel(qtbot, session, study):
    window = QMainWindow()
    qtbot.addWidget(window)
    panel = ComparePanel(session, ActionRegistry(window))
    window.setCentralWidget(panel)
    window.resize(1100, 900)
    window.show()
    assert session.open_project(study)
    session.choose_step(2)
    qtbot.waitUntil(panel.is_settled)
    return panel


def trigger(panel, key):
    panel._registry.qaction(key).trigger()


def pixels_of(session, number, run=0) -> np.ndarray:
    found = steps(session.project, session.runs[run].id)
    step = next(step for step in found if step.number == number)
    return decode(image_bytes(session.project, step.image.sha256), Purpose.DISPLAY).pixels


def seen(canvas) -> np.ndarray:
    image = QImage(canvas.size(), QImage.Format.Format_RGB32)
    canvas.render(image)
    image = image.convertToFormat(QImage.Format.Format_RGB888)
    rows = np.frombuffer(image.constBits(), np.uint8).reshape(image.height(), image.bytesPerLine())
    return rows[:, : image.width() * 3].reshape(image.height(), image.width(), 3).copy()


def picture_in(canvas) -> np.ndarray:
    """What a canvas at 1:1 shows of its picture, but for a strip on top and below where marks lie."""
    size = canvas.content.image.size
    placement = canvas.view.place(size, canvas.pane)
    screen = seen(canvas)
    return screen[placement.top : placement.top + size.height, placement.left : placement.left + size.width]


def assert_shows(canvas, pixels):
    np.testing.assert_array_equal(picture_in(canvas), pixels)


# Rules


def test_four_panes_follow_the_current_step_each_by_its_rule(panel, session, qtbot):
    trigger(panel, "view.four_panes")
    trigger(panel, "view.actual_size")
    for number in (2, 5, LAST):
        session.choose_step(number)
        qtbot.waitUntil(panel.is_settled)
        for canvas, shown in zip(panel.panes.canvases, (1, number, number - 1, 0), strict=True):
            assert canvas.isVisible()
            assert_shows(canvas, pixels_of(session, shown))
    panel.pane_steps.set_rule(3, Rule(Shows.PINNED, 4))
    session.choose_step(6)
    qtbot.waitUntil(panel.is_settled)
    assert_shows(panel.panes.canvases[3], pixels_of(session, 4))
    assert "pinned" in panel.headers[3].text


def test_the_number_of_panes_goes_round_by_one_key(panel):
    counts = []
    for _ in range(4):
        counts.append(sum(canvas.isVisible() for canvas in panel.panes.canvases))
        trigger(panel, "view.more_panes")
    assert counts == [2, 4, 1, 2]


def test_a_single_pane_has_all_the_room(panel, qtbot):
    trigger(panel, "view.one_pane")
    qtbot.waitUntil(lambda: panel.panes.right.width() > 0.95 * panel.panes.width())
    assert not panel.left_header.isVisible()


def test_another_runs_same_step_is_read_from_the_project(panel, session, qtbot):
    other = session.runs[1]
    panel.pane_steps.set_rule(0, Rule(Shows.OTHER_RUN, run_id=other.id))
    qtbot.waitUntil(lambda: panel.pane_steps.step(0) is not None)
    trigger(panel, "view.actual_size")
    for number in (2, SHORT):
        session.choose_step(number)
        qtbot.waitUntil(panel.is_settled)
        assert_shows(panel.panes.left, pixels_of(session, number, run=1))
        assert_shows(panel.panes.right, pixels_of(session, number))
    assert "repeat 2" in panel.left_header.text
    session.choose_step(SHORT + 1)
    assert "no step of this number" in panel.panes.left.content.message
    trigger(panel, "view.reference_first")
    qtbot.waitUntil(panel.is_settled)
    assert_shows(panel.panes.left, pixels_of(session, 1))


def test_another_models_same_step_follows_the_run_and_the_step(panel, session, qtbot):
    ids = [fill(session.project, "cup", n, "replicate", LAST, 400 + 100 * n, model="webp") for n in (1, 2)]
    qtbot.waitUntil(lambda: {run.id for run in session.runs} >= set(ids))
    menu = panel.headers[0]._name.menu()
    menu.fill()
    models = next(action.menu() for action in menu.actions() if action.menu() and "model" in action.text())
    [only] = models.actions()
    assert "webp" in only.text()
    only.trigger()
    for run_id, theirs in ((session.runs[0].id, ids[0]), (session.runs[1].id, ids[1])):
        session.choose_run(run_id)
        qtbot.waitUntil(lambda theirs=theirs: panel.pane_steps.other_run(0).id == theirs)
        qtbot.waitUntil(lambda: panel.pane_steps.step(0) is not None)
        assert panel.pane_steps.step(0).run_id == theirs
        assert panel.pane_steps.step(0).number == session.step
    session.choose_run(next(run.id for run in session.runs if run.initial_image == "tree"))
    assert "has no run of tree" in panel.panes.left.content.message


def test_a_run_of_the_same_protocol_and_repeat_is_the_counterpart():
    def run(number: int, **more) -> Run:
        return replace(_run_of("replicate"), id=number, initial_image="cup", model="a", repeat=1, **more)

    here = run(1)
    others = [
        replace(run(2), model="b", protocol="mirror"),
        replace(run(3), model="b", repeat=2),
        replace(run(4), model="b"),
        replace(run(5), model="b", initial_image="tree"),
    ]
    assert counterpart(others, here, ("", "b")).id == 4
    assert counterpart(others[:2], here, ("", "b")).id == 3
    assert counterpart(others[:1], here, ("", "b")).id == 2
    assert counterpart(others[3:], here, ("", "b")) is None


def test_the_menu_of_a_pane_offers_runs_of_the_same_initial_image_first(panel, session):
    menu = panel.headers[2]._name.menu()
    menu.fill()
    texts = [action.text() for action in menu.actions()]
    assert texts[:4] == ["The &current step", "Step &0, the initial image", "Step &1", texts[3]]
    runs = menu.actions()[-1].menu().actions()
    assert "cup" in runs[0].text()
    assert "repeat 2" in runs[0].text()
    assert runs[-1].menu().title() == "tree"
    runs[0].trigger()
    assert panel.pane_steps.rule(2) == Rule(Shows.OTHER_RUN, run_id=session.runs[1].id)


# Playing


def test_play_goes_to_the_end_by_the_clock_and_stops(panel, session, qtbot):
    session.first_step()
    numbers: list[int] = []
    session.step_changed.connect(numbers.append)
    panel.player.set_rate(30)
    trigger(panel, "run.play")
    assert panel.player.playing
    qtbot.waitUntil(lambda: not panel.player.playing)
    assert numbers[-1] == LAST
    assert numbers == sorted(set(numbers))
    assert not panel._registry.qaction("run.play").isChecked()
    trigger(panel, "run.play")  # from the end it begins anew
    assert session.step == 0
    trigger(panel, "run.play")
    assert not panel.player.playing


def test_steps_are_skipped_and_not_queued_when_the_loop_is_held_up(panel, session, qtbot):
    session.first_step()
    numbers: list[int] = []
    session.step_changed.connect(numbers.append)
    panel.player.set_rate(30)
    trigger(panel, "run.play")
    panel.player._began -= 5 / 30  # as if the loop had been busy for five steps
    qtbot.waitUntil(lambda: len(numbers) > 0)
    assert numbers[0] >= 5


def test_another_run_ends_the_playing(panel, session):
    session.first_step()
    trigger(panel, "run.play")
    session.choose_run(session.runs[2].id)
    assert not panel.player.playing


# Places


def test_a_pane_moved_alone_keeps_its_offset_until_aligned(panel, session, qtbot):
    panes = panel.panes
    trigger(panel, "view.actual_size")
    qtbot.mousePress(
        panes.left, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.ControlModifier, QPoint(200, 150)
    )
    qtbot.mouseMove(panes.left, QPoint(212, 155))
    qtbot.mouseRelease(
        panes.left, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.ControlModifier, QPoint(212, 155)
    )
    size = Size(WIDTH, HEIGHT)
    left, right = (canvas.view.place(size, canvas.pane) for canvas in (panes.left, panes.right))
    shift = left.left - right.left, left.top - right.top
    assert shift == pytest.approx((12, 5), abs=1.01)
    assert not panes.aligned
    trigger(panel, "view.zoom_in")
    trigger(panel, "view.pan_right")
    for number in (3, 4):
        session.choose_step(number)
        qtbot.waitUntil(panel.is_settled)
        left, right = (canvas.view.place(size, canvas.pane) for canvas in (panes.left, panes.right))
        assert (left.left - right.left, left.top - right.top) == pytest.approx((18, 7.5), abs=1.01)
    trigger(panel, "view.align_panes")
    assert panes.left.view == panes.right.view


def test_shift_and_drag_zooms_to_a_rectangle_in_all_panes(panel, qtbot):
    panes = panel.panes
    trigger(panel, "view.actual_size")
    start = panes.right.place_at(QPointF(200, 300))
    end = panes.right.place_at(QPointF(260, 330))
    shift = Qt.KeyboardModifier.ShiftModifier
    qtbot.mousePress(panes.right, Qt.MouseButton.LeftButton, shift, QPoint(200, 300))
    qtbot.mouseMove(panes.right, QPoint(260, 330))
    qtbot.mouseRelease(panes.right, Qt.MouseButton.LeftButton, shift, QPoint(260, 330))
    assert panes.left.view == panes.right.view
    shown = panes.right.visible_region
    assert shown.left <= start[0] + 0.01
    assert shown.right >= end[0] - 0.01
    assert panes.right.scale == pytest.approx(
        min(panes.right.pane.width / 60, panes.right.pane.height / 30), rel=0.02
    )


def test_fill_leaves_nothing_of_the_pane_uncovered(panel):
    trigger(panel, "view.fill")
    canvas = panel.panes.right
    covered = canvas.view.place(Size(WIDTH, HEIGHT), canvas.pane).covered(Size(WIDTH, HEIGHT))
    assert covered.left <= 0
    assert covered.top <= 0
    assert covered.right >= canvas.pane.width - 1
    assert covered.bottom >= canvas.pane.height - 1


def test_a_region_touches_whole_pixels():
    size = Size(100, 50)
    assert Region(0.1, 0.2, 0.3, 0.4).pixels(size) == (10, 10, 30, 20)
    assert Region(0.101, 0.2, 0.299, 0.4).pixels(size) == (10, 10, 30, 20)
    assert Region(0.5, 0.5, 0.5, 0.5).pixels(size) == (50, 25, 51, 26)
    assert Region.between((0.9, -1.0), (0.2, 3.0)) == (0.2, 0.0, 0.9, 1.0)


# Turns


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        (["view.mirror"], lambda p: p[:, ::-1]),
        (["view.turn_right"], lambda p: np.rot90(p, -1)),
        (["view.turn_left", "view.turn_left"], lambda p: p[::-1, ::-1]),
        (["view.turn_right", "view.mirror"], lambda p: np.rot90(p, -1)[:, ::-1]),
        (["view.mirror", "view.turn_right", "view.turn_left", "view.mirror"], lambda p: p),
    ],
)
def test_a_turned_pane_is_exact_at_one_to_one(panel, session, keys, expected):
    for key in keys:
        trigger(panel, key)
    trigger(panel, "view.actual_size")
    assert_shows(panel.panes.right, expected(pixels_of(session, 2)))
    trigger(panel, "view.fit")
    assert panel.panes.left.content.image.size == Size(WIDTH, HEIGHT)


def test_the_readout_reads_the_turned_pixel(panel, session, qtbot):
    trigger(panel, "view.mirror")
    trigger(panel, "view.actual_size")
    canvas = panel.panes.right
    x, y = canvas.view.place(Size(WIDTH, HEIGHT), canvas.pane).to_pane(17.5, 33.5)
    qtbot.mouseMove(canvas, QPoint(int(x), int(y)))
    assert " ".join(f"{v:>3}" for v in pixels_of(session, 2)[33, WIDTH - 1 - 17]) in panel.readout.text


def _run_of(protocol: str, prompts: list[str] | None = None) -> Run:
    values = dict.fromkeys((field.name for field in fields(Run)), "")
    settings = {} if prompts is None else {"prompts": prompts}
    return Run(**values | {"protocol": protocol, "settings": settings})


def test_protocols_of_the_catalog_that_mirror_or_rotate_are_turned_back_step_by_step():
    assert {key for key in protocols() if not turn_back(_run_of(key), 1).neutral} == {"mirror", "rotate"}
    assert [turn_back(_run_of("mirror"), n).mirrored for n in range(4)] == [False, True, False, True]
    assert [turn_back(_run_of("rotate"), n).quarters for n in range(6)] == [0, 3, 2, 1, 0, 3]
    picture = photograph(1)
    for n in range(5):
        turned = np.rot90(picture, -n)  # clockwise, once a step
        back = turn_back(_run_of("rotate"), n).pyramid(build(turned)).levels[0]
        np.testing.assert_array_equal(back, picture)


@pytest.mark.parametrize(
    ("prompt", "turn"),
    [
        ("Mirror the provided image horizontally, with no other alterations.", Turn(mirrored=True)),
        ("Flip this photo vertically.", Turn(mirrored=True, quarters=2)),
        ("Rotate the image by 90 degrees counter-clockwise.", Turn(quarters=3)),
        ("rotate it 180 degrees", Turn(quarters=2)),
        ("Turn the picture by 270° clockwise", Turn(quarters=3)),
        ("Rotate the apple by 90 degrees.", Turn()),
        ("Add a mirror to the wall.", Turn()),
        ("", Turn()),
    ],
)
def test_prompts_say_how_the_picture_is_turned(prompt, turn):
    assert asked_turn(prompt) == turn


def test_a_protocol_of_ones_own_is_turned_back_by_the_prompts_kept_with_its_run():
    run = _run_of("there-and-back", ["Mirror the image.", "Rotate the image by 90 degrees.", "Leave it."])
    picture = photograph(1)
    steps_seen = [picture]
    for step in range(4):
        before = steps_seen[-1]
        steps_seen.append([before[:, ::-1], np.rot90(before, -1), before][step % 3])
    for number, seen in enumerate(steps_seen):
        back = turn_back(run, number).pyramid(build(seen)).levels[0]
        np.testing.assert_array_equal(back, picture)


def test_of_an_imported_run_the_name_of_the_protocol_tells():
    assert turn_back(_run_of("my-mirror-runs"), 1) == Turn(mirrored=True)
    assert turn_back(_run_of("imported"), 1).neutral


def test_turning_back_is_switched_on_by_an_action(qtbot, session, tmp_path):
    path = tmp_path / "mirrored.b100"
    with Project.create(path) as project:
        fill(project, "cup", 1, "mirror", 4, 0)
    window = QMainWindow()
    qtbot.addWidget(window)
    panel = ComparePanel(session, ActionRegistry(window))
    window.setCentralWidget(panel)
    window.resize(1000, 700)
    window.show()
    session.open_project(path)
    session.choose_step(3)
    qtbot.waitUntil(panel.is_settled)
    trigger(panel, "view.actual_size")
    trigger(panel, "view.turn_back")
    assert_shows(panel.panes.right, pixels_of(session, 3)[:, ::-1])
    assert "mirrored" in panel.right_header.text
    session.choose_step(2)
    qtbot.waitUntil(panel.is_settled)
    assert_shows(panel.panes.right, pixels_of(session, 2))


@pytest.mark.parametrize("turn", [Turn(m, q) for m in (False, True) for q in range(4)])
def test_turns_can_be_joined(turn):
    picture = np.arange(12, dtype=np.uint8).reshape(3, 4)

    def apply(each, pixels):
        pixels = pixels[:, ::-1] if each.mirrored else pixels
        return np.rot90(pixels, -each.quarters)

    for other in (Turn(mirrored=True, quarters=1), Turn(quarters=3), Turn(mirrored=True, quarters=2)):
        np.testing.assert_array_equal(apply(turn.then(other), picture), apply(other, apply(turn, picture)))


# Modes


def test_blink_changes_between_the_two_and_names_them(panel, session, qtbot):
    trigger(panel, "view.actual_size")
    panel.panes.compare(panel.panes.comparison)
    trigger(panel, "view.blink")
    canvas = panel.panes.right
    badges = set()

    def both() -> bool:
        content = canvas.content
        assert isinstance(content, One)
        badges.add((content.badge, content.image.key))
        return len(badges) == 2

    for _ in range(5):
        trigger(panel, "view.blink_faster")
    qtbot.waitUntil(both)
    key = {number: session.step_numbered(number).image.sha256 for number in (1, 2)}
    assert badges == {("Step 1", key[1]), ("Step 2", key[2])}
    trigger(panel, "view.side_by_side")
    assert not panel.panes._timer.isActive()


@pytest.mark.parametrize("kind", ["signed", "absolute", "relative"])
def test_kinds_of_difference_are_what_the_core_computes(panel, session, kind):
    trigger(panel, f"view.{kind}_difference")
    trigger(panel, "view.actual_size")
    expected = difference(pixels_of(session, 1), pixels_of(session, 2), DifferenceMode(kind), 6)
    shown = picture_in(panel.panes.right)
    np.testing.assert_array_equal(shown, expected)


def test_flip_is_computed_in_the_background_and_shown_with_its_scale(panel, session, qtbot):
    from banana100_core.imaging.flip import flip

    trigger(panel, "view.flip_difference")
    trigger(panel, "view.shades_grey")
    trigger(panel, "view.actual_size")
    content = panel.panes.right.content
    assert isinstance(content, Difference)
    qtbot.waitUntil(lambda: panel.panes.right.content.flip is not None)
    errors = np.rint(flip(pixels_of(session, 1), pixels_of(session, 2)) * 255)
    np.testing.assert_array_equal(picture_in(panel.panes.right)[..., 0], errors)
    assert panel.panes.right.content.ends() == ("0", "FLIP", "1")


def test_false_colour_and_grey_go_round_by_one_key(panel):
    trigger(panel, "view.difference")
    found = []
    for _ in Shades:
        found.append(panel.panes.comparison.shades)
        trigger(panel, "view.next_shades")
    assert found == [Shades.CHANNELS, Shades.GREY, Shades.FALSE_COLOUR]
    kinds = []
    for _ in DifferenceMode:
        kinds.append(panel.panes.comparison.difference)
        trigger(panel, "view.next_difference")
    assert kinds == list(DifferenceMode)
    assert panel.panes.comparison.mode is Mode.DIFFERENCE


def test_the_scale_says_what_its_ends_mean():
    def ends(mode, gain):
        return Difference(PaneImage(), PaneImage(), mode, gain).ends()

    assert ends(DifferenceMode.SIGNED, 4) == ("−32", "0", "+31.8")
    assert ends(DifferenceMode.ABSOLUTE, 1) == ("0", "", "255")
    assert ends(DifferenceMode.RELATIVE, 2) == ("0", "", "50 %")


# Looks


def test_a_channel_is_shown_once_its_table_is_made(panel, session, qtbot):
    from skimage import color

    trigger(panel, "view.actual_size")
    trigger(panel, "view.channel_luminance")
    qtbot.waitUntil(lambda: panel.panes.look.channel is Channel.LUMINANCE)
    shown = picture_in(panel.panes.right)
    light = color.rgb2lab(pixels_of(session, 2))[..., 0] * 2.55
    assert abs(shown[..., 0] - light).max() < 0.55
    assert panel.toolbar._look.isVisible()
    trigger(panel, "view.reset_look")
    assert panel.panes.look.neutral
    assert not panel.toolbar._look.isVisible()
    assert_shows(panel.panes.right, pixels_of(session, 2))


def test_brightness_gamma_and_gain_change_what_is_seen_and_nothing_else(panel, session):
    trigger(panel, "view.actual_size")
    for key in ("brighter", "more_gamma", "more_contrast"):
        trigger(panel, f"view.{key}")
    look = panel.panes.look
    assert look == Look(
        brightness=0.05, gamma=pytest.approx(2**0.25, abs=1e-3), gain=pytest.approx(2**0.25, abs=1e-3)
    )
    before = pixels_of(session, 2)
    values = np.clip(before / 255 * look.gain + look.brightness, 0, 1) ** (1 / look.gamma) * 255
    assert abs(picture_in(panel.panes.right) - values).max() <= 0.51
    for key in ("darker", "less_gamma", "less_contrast"):
        trigger(panel, f"view.{key}")
    assert panel.panes.look.neutral


def test_the_difference_of_one_channel(panel, session, qtbot):
    trigger(panel, "view.channel_green")
    trigger(panel, "view.absolute_difference")
    trigger(panel, "view.actual_size")
    green = [pixels_of(session, number)[..., 1].copy() for number in (1, 2)]
    expected = difference(*green, DifferenceMode.ABSOLUTE, 6)
    for place in range(3):
        np.testing.assert_array_equal(picture_in(panel.panes.right)[..., place], expected)


# Loupe and readout


def test_the_loupe_enlarges_the_place_under_the_cursor_in_all_panes(panel, session, qtbot):
    trigger(panel, "view.actual_size")
    trigger(panel, "view.loupe")
    canvas = panel.panes.right
    x, y = canvas.view.place(Size(WIDTH, HEIGHT), canvas.pane).to_pane(60.5, 70.5)
    qtbot.mouseMove(canvas, QPoint(int(x), int(y)))
    for each, number in ((panel.panes.left, 1), (panel.panes.right, 2)):
        corner = seen(each)[8 : 8 + 176, -8 - 176 : -8]
        pixels = pixels_of(session, number)
        # The cross hides the pixel in the middle; its neighbours are squares of eight.
        for dx, dy in ((3, 2), (-4, 5)):
            square = corner[88 + 8 * dy + 3, 88 + 8 * dx + 3]
            near = pixels[70 + dy - 1 : 70 + dy + 2, 60 + dx - 1 : 60 + dx + 2].reshape(-1, 3)
            assert any((square == pixel).all() for pixel in near)


def test_four_panes_are_read_with_their_difference_from_the_reference(panel, session, qtbot):
    trigger(panel, "view.four_panes")
    session.choose_step(5)
    qtbot.waitUntil(panel.is_settled)
    canvas = panel.panes.canvases[3]
    qtbot.mouseMove(canvas, QPoint(canvas.width() // 2, canvas.height() // 2))
    assert [word for word in panel.readout.text.split() if word == "ΔE"] == ["ΔE"] * 3
    for number in (1, 5, 4, 0):
        assert f"step {number} " in panel.readout.text


def test_fitted_views_stay_fitted():
    assert View().moved(0, 0) == View()
