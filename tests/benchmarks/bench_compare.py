"""How fast the comparison paints: flips against decoding, pan and zoom whatever the picture's size."""

from __future__ import annotations

import io
import os
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from PIL import Image as Pillow

from tests.benchmarks.bench import BenchRow

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from PySide6.QtWidgets import QApplication

    from app.compare.content import PaneImage
    from app.compare.panel import ComparePanel
    from app.session import Session

WINDOW = 1600, 1000
PICTURE = 5504, 3072
SMALL, LARGE = (1633, 1225), (9000, 6700)  # 2 and 60 megapixels
STEPS = 7
FRAME_MS = 1000 / 60
LIMIT_MS = 16.0


def rows() -> list[BenchRow]:
    """All rows of this benchmark."""
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    from PySide6.QtWidgets import QApplication, QMainWindow

    from app.actions import ActionRegistry
    from app.compare.panel import ComparePanel
    from app.session import Session

    application = QApplication.instance() or QApplication([])
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
        found = [*_flips(application, session, panel, decoding), *_frames(panel)]
        session.close_project()
    window.deleteLater()
    return found


def photograph(width: int, height: int, seed: int = 0) -> np.ndarray:
    """Real photographs side by side until the size is reached; another seed gives other pixels."""
    from skimage import data

    tiles = [
        np.asarray(Pillow.fromarray(tile()).resize((688, 512))) for tile in (data.astronaut, data.coffee)
    ]
    random = np.random.default_rng(seed)
    columns = []
    for _ in range(-(-width // 688)):
        column = [
            np.roll(tiles[random.integers(2)], int(random.integers(500)), 1) for _ in range(-(-height // 512))
        ]
        columns.append(np.concatenate(column))
    return np.ascontiguousarray(np.concatenate(columns, axis=1)[:height, :width])


def _fill(path: Path) -> float:
    """Make a project of one run of large steps; gives the median of milliseconds that decoding one takes."""
    from banana100_core.imaging.decode import Purpose, decode, inspect
    from banana100_core.project import Project
    from banana100_core.project.images import NewImage
    from banana100_core.project.records import NewRun, NewStep, Outcome, RunState
    from banana100_core.project.runs import add_run, add_steps

    encoded = [_png(photograph(*PICTURE, seed)) for seed in range(STEPS)]
    with Project.create(path) as project:
        run = add_run(project, NewRun("tiles", "codec_loss", "jpeg", "replicate", state=RunState.DONE))
        add_steps(
            project,
            [
                (NewStep(run, n, Outcome.DONE if n else Outcome.INITIAL), NewImage(inspect(data), data))
                for n, data in enumerate(encoded)
            ],
        )
    return float(np.median([_timed(lambda data=data: decode(data, Purpose.DISPLAY)) for data in encoded]))


def _flips(
    application: QApplication, session: Session, panel: ComparePanel, decoding: float
) -> Iterator[BenchRow]:
    """Between steps that have been decoded ahead, from the key to the painted window."""
    for number in range(STEPS):  # once through, so that all are decoded and have thumbnails
        session.choose_step(number)
        _wait(application, panel.is_settled)
    loader = panel.pictures.loader
    _wait(application, lambda: all(loader.pyramid(step.image.sha256) for step in session.steps if step.image))

    def flip(number: int) -> None:
        session.choose_step(number)
        application.processEvents()

    p95 = _p95([_timed(lambda turn=turn: flip(turn % STEPS)) for turn in range(15 * STEPS)])
    yield BenchRow(
        "flip to a prefetched 5504x3072 step, p95",
        f"{p95:.1f} ms",
        f"decode {decoding:.0f} ms",
        decoding / p95,
        "a tenth of decoding, >= 10",
        decoding / p95 >= 10,
    )
    yield _against_limit("flip to a prefetched 5504x3072 step, p95", p95, FRAME_MS)


def _frames(panel: ComparePanel) -> Iterator[BenchRow]:
    """Zooming from half of fit to eight times it, and panning at several scales, in each mode."""
    from app.compare.panes import Comparison, Mode
    from banana100_core.imaging.comparison import DifferenceMode

    modes = {
        "side by side": Comparison(Mode.SIDE_BY_SIDE),
        "wipe": Comparison(Mode.WIPE),
        "signed difference": Comparison(Mode.DIFFERENCE),
        "absolute difference": Comparison(Mode.DIFFERENCE, difference=DifferenceMode.ABSOLUTE),
    }
    p95 = {}
    for name, size in {"2 MP": SMALL, "60 MP": LARGE}.items():
        panel.panes.show_images(_pane_image(size, 1), _pane_image(size, 2))
        for mode, comparison in modes.items():
            panel.panes.compare(comparison)
            p95[mode, name] = _p95(_move_about(panel))
    for mode in modes:
        for name in ("2 MP", "60 MP"):
            yield _against_limit(f"pan and zoom, {mode}, {name}, p95", p95[mode, name], LIMIT_MS)


def _move_about(panel: ComparePanel) -> list[float]:
    """Milliseconds of each frame."""
    from app.compare.viewport import fit_scale

    canvases = [canvas for canvas in (panel.panes.left, panel.panes.right) if canvas.isVisible()]
    link, size, pane = canvases[0].link, panel.panes.images[1].size, panel.panes.right.pane
    if size is None:
        raise ValueError("the picture has no size")
    times = []

    def paint() -> None:
        for canvas in canvases:
            canvas.repaint()

    fit = fit_scale(size, pane)
    for frame in range(80):
        link.view = link.view.zoomed_to(fit * 0.5 * 16 ** (frame / 79), (pane.width * 0.4, 300), size, pane)
        times.append(_timed(paint))
    for scale in (fit * 1.3, 0.55, 1.0, 3.0, 20.0):
        link.view = link.view.zoomed_to(scale, (400, 300), size, pane)
        for _ in range(20):
            link.view = link.view.panned(-9, -5, size, pane)
            times.append(_timed(paint))
    return times


def _pane_image(size: tuple[int, int], seed: int) -> PaneImage:
    from app.compare.content import PaneImage
    from app.compare.painting import for_painting, picture_size
    from banana100_core.imaging.pyramid import build

    pyramid = for_painting(build(photograph(*size, seed)))
    return PaneImage(picture_size(pyramid), pyramid)


def _against_limit(name: str, ours: float, limit: float) -> BenchRow:
    return BenchRow(
        name, f"{ours:.1f} ms", f"{limit:.1f} ms", ours / limit, "below the limit, <= 1", ours <= limit
    )


def _png(pixels: np.ndarray) -> bytes:
    stream = io.BytesIO()
    Pillow.fromarray(pixels).save(stream, "PNG", compress_level=3)
    return stream.getvalue()


def _timed(call: Callable[[], object]) -> float:
    start = time.perf_counter()
    call()
    return (time.perf_counter() - start) * 1000


def _wait(application: QApplication, condition: Callable[[], bool], seconds: float = 60) -> None:
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            raise TimeoutError("pictures did not arrive in time")
        application.processEvents()
        time.sleep(0.001)


def _p95(values: list[float]) -> float:
    return float(np.percentile(values, 95))
