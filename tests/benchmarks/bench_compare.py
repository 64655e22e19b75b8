"""How fast the comparison paints: flips against decoding, pan and zoom whatever the picture's size."""

from __future__ import annotations

import io
import os
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from PIL import Image as Pillow

from tests.benchmarks.bench import BenchRow
from tests.benchmarks.measuring import against_limit, p95, timed, wait, wait_idle
from tests.benchmarks.pictures import encoded, make_run, photograph, png

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from PySide6.QtGui import QPixmap
    from PySide6.QtWidgets import QApplication

    from app.compare.content import PaneImage
    from app.compare.panel import ComparePanel
    from app.session import Session

WINDOW = 1600, 1000
PICTURE = 5504, 3072
SIZES = {"2 MP": (1633, 1225), "17 MP": PICTURE, "60 MP": (9000, 6700)}
STEPS = 7
COLD_STEPS = 15
FRAME_MS = 1000 / 60
LIMIT_MS = 16.0


def rows() -> list[BenchRow]:
    """All rows of this benchmark."""
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    from PySide6.QtWidgets import QMainWindow

    from app.actions import ActionRegistry
    from app.compare.panel import ComparePanel
    from app.garbage import UiThreadCollector
    from app.main import start_application
    from app.session import Session

    application = start_application()
    window = QMainWindow()
    session = Session(window)
    panel = ComparePanel(session, ActionRegistry(window))
    window.setCentralWidget(panel)
    window.resize(*WINDOW)
    window.show()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "study.b100"
        decoding = _fill(path)
        session.open_project(path, read_only=True)
        wait(application, panel.is_settled)
        # As in the window: it leaves out what is imported by now, which here is more than the program's.
        collector = UiThreadCollector(window)
        collector.start()
        found = [*_flips(application, session, panel, decoding), *_frames(panel)]
        found += _exact_pixels(panel)
        found += _level_memory(application, session, panel)
        found += _given_back(session, panel)
        for kind in ("PNG", "JPEG"):
            found += _cold(application, session, panel, Path(folder) / f"{kind}.b100", kind)
        found += _held_arrow(application, session, panel, Path(folder) / "long.b100")
    collector.stop()
    window.deleteLater()
    return found


def _fill(path: Path) -> float:
    """Make a project of one run of large steps; gives the median of milliseconds that decoding one takes."""
    from banana100_core.imaging.decode import Purpose, decode

    files = [png(photograph(*PICTURE, seed)) for seed in range(STEPS)]
    make_run(path, files)
    return float(np.median([timed(lambda data=data: decode(data, Purpose.DISPLAY)) for data in files]))


def _flips(
    application: QApplication, session: Session, panel: ComparePanel, decoding: float
) -> Iterator[BenchRow]:
    """Between steps that have been decoded ahead, from the key to the painted window."""
    for number in range(STEPS):  # once through, so that all are decoded and have thumbnails
        session.choose_step(number)
        wait(application, panel.is_settled)
    loader = panel.pictures.loader
    wait(application, lambda: all(loader.pyramid(step.image.sha256) for step in session.steps if step.image))

    def flip(number: int) -> None:
        session.choose_step(number)
        application.processEvents()

    slow = p95([timed(lambda turn=turn: flip(turn % STEPS)) for turn in range(15 * STEPS)])
    yield BenchRow(
        "flip to a prefetched 5504x3072 step, p95",
        f"{slow:.1f} ms",
        f"decode {decoding:.0f} ms",
        decoding / slow,
        "a tenth of decoding, >= 10",
        decoding / slow >= 10,
    )
    yield against_limit("flip to a prefetched 5504x3072 step, p95", slow, FRAME_MS)


def _frames(panel: ComparePanel) -> Iterator[BenchRow]:
    """Zooming from half of fit to eight times it, and panning at several scales, in each mode."""
    from app.compare.content import Shades
    from app.compare.panes import Comparison, Mode
    from app.compare.turns import Turn
    from banana100_core.imaging.comparison import DifferenceMode
    from banana100_core.imaging.look import Channel, Look, channel_table

    channel_table(Channel.A)  # made in the background when it is chosen
    kinds = {kind: Comparison(Mode.DIFFERENCE, difference=kind) for kind in DifferenceMode}
    modes = {
        "side by side": (Comparison(), Look()),
        "four panes": (Comparison(count=4), Look()),
        "wipe": (Comparison(Mode.WIPE), Look()),
        "blink": (Comparison(Mode.BLINK), Look()),
        **{
            f"{kind} difference, {shades}": (replace(each, shades=shades), Look())
            for kind, each in kinds.items()
            for shades in Shades
        },
        "signed difference of a*": (kinds[DifferenceMode.SIGNED], Look(Channel.A)),
        "gain and gamma": (Comparison(), Look(gamma=1.4, gain=1.5)),
        "red channel": (Comparison(), Look(Channel.RED)),
        "a* channel": (Comparison(), Look(Channel.A)),
        "a* channel, gain": (Comparison(), Look(Channel.A, gain=2.0)),
        "turned": (Comparison(), Look()),
        "blurred preview": (Comparison(), Look()),
    }
    slow = {}
    for name, size in SIZES.items():
        images = _pane_image(size, 1), _pane_image(size, 2)
        error_map = _pane_image((1920, 1080), 3)
        panel.panes.make_flip_maps(lambda _one, _other, made=error_map: made)
        for mode, (comparison, look) in modes.items():
            panel.panes.compare(comparison)
            panel.panes.look_through(look)
            turn = Turn(mirrored=True, quarters=1) if mode == "turned" else Turn()
            shown = [image.turned(turn) for image in images]
            if mode == "blurred preview":
                shown = [replace(image, pyramid=None, preview=_thumbnail(image)) for image in images]
            panel.panes.show_images(*shown, *shown)
            slow[mode, name] = p95(_move_about(panel))
    for mode in modes:
        for name in SIZES:
            yield against_limit(f"pan and zoom, {mode}, {name}, p95", slow[mode, name], LIMIT_MS)
    panel.panes.compare(Comparison())
    panel.panes.look_through(Look())
    panel.panes.make_flip_maps(panel.flip_maps.of)


def _move_about(panel: ComparePanel) -> list[float]:
    """Milliseconds of each frame."""
    from app.compare.viewport import View, fit_scale

    canvases = [canvas for canvas in panel.panes.canvases if canvas.isVisible()]
    link, size, pane = panel.panes.right.link, panel.panes.images[1].size, panel.panes.right.pane
    if size is None or not canvases:
        raise ValueError("there is no picture on screen")
    times = []

    def paint() -> None:
        for canvas in canvases:
            canvas.repaint()

    fit = fit_scale(size, pane)
    link.view = View()  # from the middle, so that the picture covers the pane
    for frame in range(80):
        link.view = link.view.zoomed_to(fit * 0.5 * 16 ** (frame / 79), (pane.width * 0.4, 300), size, pane)
        times.append(timed(paint))
    for scale in (fit * 1.3, 0.55, 1.0, 3.0, 20.0):
        link.view = link.view.zoomed_to(scale, (400, 300), size, pane)
        for _ in range(20):
            link.view = link.view.panned(-9, -5, size, pane)
            times.append(timed(paint))
    return times


def _exact_pixels(panel: ComparePanel) -> Iterator[BenchRow]:
    """Whether very long and very large pictures are shown value for value, to the last row and column."""
    from PySide6.QtGui import QImage

    from app.compare.content import One, PaneImage
    from app.compare.painting import picture_size
    from app.compare.viewport import View
    from banana100_core.imaging.pyramid import build

    canvas = panel.panes.right
    for width, height in ((20_000, 2_000), (10_000, 8_000)):
        pixels = photograph(width, height)
        pyramid = build(pixels)
        size = picture_size(pyramid)
        canvas.show_content(One(PaneImage(size, pyramid)))
        wrong = 0
        for x, y in ((0.0, 0.0), (1.0, 0.0), (0.0, 1.0), (1.0, 1.0), (0.5, 0.5)):
            canvas.link.view = View(x, y, 1.0, size)
            shown = canvas.grab().toImage().convertToFormat(QImage.Format.Format_RGB32)
            seen = np.frombuffer(shown.constBits(), np.uint8).reshape(shown.height(), -1, 4)[..., 2::-1]
            place = canvas.view.place(size, canvas.pane)
            left, top = max(0, -place.left), max(0, -place.top)
            part = seen[max(0, place.top) :, max(0, place.left) :]
            expected = pixels[top : top + part.shape[0], left : left + part.shape[1]]
            wrong += int((part[: expected.shape[0], : expected.shape[1]] != expected).any(axis=2).sum())
        yield BenchRow(
            f"pixels of {width}x{height} that differ at 1:1",
            str(wrong),
            "0",
            float(wrong),
            "none",
            wrong == 0,
        )
    panel.panes.refresh()
    panel.panes.right.fit()


def _level_memory(application: QApplication, session: Session, panel: ComparePanel) -> Iterator[BenchRow]:
    """Memory before and after 2,000 flips with a cache that holds three pictures."""
    import psutil

    loader = panel.pictures.loader
    usual, loader.cache_bytes = loader.cache_bytes, 3 * PICTURE[0] * PICTURE[1] * 3 * 4 // 3
    process, held = psutil.Process(), []
    for flip in range(2_000):
        session.choose_step(flip % STEPS)
        application.processEvents()
        if flip in {200, 1_999}:
            wait(application, panel.is_settled)
            held.append(process.memory_info().rss / 1e6)
    loader.cache_bytes = usual
    yield BenchRow(
        "memory after 2,000 flips, over that after 200",
        f"{held[1]:.0f} MB",
        f"{held[0]:.0f} MB",
        held[1] / held[0],
        "level, <= 1.1",
        held[1] <= 1.1 * held[0],
    )


def _given_back(session: Session, panel: ComparePanel) -> Iterator[BenchRow]:
    """How much of what decoded pictures hold is the system's again once the project is closed."""
    import psutil

    process, held = psutil.Process(), panel.pictures.loader.held_bytes / 1e6
    before = process.memory_info().rss / 1e6
    session.close_project()
    returned = before - process.memory_info().rss / 1e6
    yield BenchRow(
        "memory given back when the project is closed",
        f"{returned:.0f} MB",
        f"{held:.0f} MB decoded",
        returned / held,
        "all, >= 0.9",
        returned >= 0.9 * held,
    )


def _cold(
    application: QApplication, session: Session, panel: ComparePanel, path: Path, kind: str
) -> Iterator[BenchRow]:
    """From choosing a step that was never decoded to its pixels on screen, against decoders alone."""
    from banana100_core.imaging.thumbnails import make_thumbnail
    from banana100_core.project import Project
    from banana100_core.project.images import add_thumbnails

    files = [encoded(photograph(*PICTURE, seed), kind) for seed in range(2 * COLD_STEPS + 2)]
    make_run(path, files)
    with Project.open(path) as project:
        add_thumbnails(project, {_sha256(data): make_thumbnail(data) for data in files})
    session.open_project(path, read_only=True)
    wait(application, panel.is_settled)
    loader = panel.pictures.loader
    # Room for what is on screen alone, so that nothing is decoded ahead.
    usual, loader.cache_bytes = loader.cache_bytes, 2 * PICTURE[0] * PICTURE[1] * 3 * 4 // 3
    panel.player.stop()
    session.next_step()
    wait(application, panel.is_settled)
    time.sleep(1)  # what was under way ahead is done
    cold, blurred, alone = [], [], []
    _decoders(files[0])  # as the panel has, each has decoded before
    for number in range(3, len(files), 2):  # beside none that was on screen
        alone.append(_decoders(files[number]))
        start = time.perf_counter()
        session.choose_step(number)
        application.processEvents()
        blurred.append((time.perf_counter() - start) * 1000)
        if panel.panes.images[1].preview is None:
            blurred[-1] = float("inf")
        wait_idle(panel.pictures.updated, lambda: panel.panes.images[1].pyramid is not None)
        application.processEvents()
        cold.append((time.perf_counter() - start) * 1000)
    # The fastest decoder of such files, not of each file whichever was least disturbed.
    medians = {name: float(np.median([each[name] for each in alone])) for name in alone[0]}
    best = min(medians, key=lambda name: medians[name])
    ours, theirs, fastest = float(np.median(cold)), medians[best], [each[best] for each in alone]
    ratio = float(np.median(np.divide(cold, fastest)))  # of each pair, since a machine's speed drifts
    yield BenchRow(
        f"cold 5504x3072 {kind} step on screen, over its fastest decode",
        f"{ours:.0f} ms",
        f"{best} {theirs:.0f} ms",
        ratio,
        "<= 1.25",
        ratio <= 1.25,
    )
    loader.cache_bytes = usual
    at_once = float(np.median(blurred))
    yield against_limit(f"blurred preview of a cold {kind} step on screen", at_once, 34.0)
    session.close_project()


def _decoders(data: bytes) -> dict[str, float]:
    """Milliseconds that each decoder there is takes."""
    from PySide6.QtGui import QImage

    calls: dict[str, Callable[[], object]] = {
        "Pillow": lambda: Pillow.open(io.BytesIO(data)).load(),
        "Qt": lambda: QImage.fromData(data),
    }
    try:
        import cv2

        array = np.frombuffer(data, np.uint8)
        calls["OpenCV"] = lambda: cv2.imdecode(array, cv2.IMREAD_COLOR)
    except ImportError:
        pass
    try:
        import pyvips

        calls["libvips"] = lambda: pyvips.Image.new_from_buffer(
            data, "", access="sequential"
        ).write_to_memory()
    except (ImportError, OSError):
        pass
    return {name: timed(call) for name, call in calls.items()}


def _held_arrow(
    application: QApplication, session: Session, panel: ComparePanel, path: Path
) -> Iterator[BenchRow]:
    """The arrow key held, 30 times a second, through 100 steps of which none was decoded."""
    from app.responsiveness import LoopWatch

    base = photograph(3840, 2160)
    pictures = [encoded(np.roll(base, 31 * n, axis=1), "JPEG") for n in range(101)]
    make_run(path, pictures)
    session.open_project(path, read_only=True)
    session.first_step()
    wait(application, panel.is_settled)
    watch = LoopWatch()
    watch.start()
    began = time.monotonic()
    while session.step < 100:
        due = int((time.monotonic() - began) * 30)
        while session.step < min(due, 100):
            session.next_step()
        application.processEvents()
        time.sleep(0.001)
    last = session.step_numbered(100)
    wait(
        application,
        lambda: panel.is_settled() or panel.pictures.loader.pyramid(last.image.sha256) is not None,
    )
    watch.stop()
    yield against_limit(
        "longest the UI thread was busy, arrow held through 100 cold 4K steps", watch.longest, 34.0
    )
    session.close_project()


def _sha256(data: bytes) -> str:
    from banana100_core.imaging.decode import sha256

    return sha256(data)


def _thumbnail(image: PaneImage) -> QPixmap:
    """The level that is as small as a thumbnail, 256 pixels or less."""
    from PySide6.QtGui import QPixmap

    from app.compare.painting import image_of

    return QPixmap.fromImage(image_of(image.pyramid.levels[-3]))


def _pane_image(size: tuple[int, int], seed: int) -> PaneImage:
    from app.compare.content import PaneImage
    from app.compare.painting import picture_size
    from banana100_core.imaging.pyramid import build, with_halves

    pyramid = with_halves(build(photograph(*size, seed)))
    return PaneImage(picture_size(pyramid), pyramid)
