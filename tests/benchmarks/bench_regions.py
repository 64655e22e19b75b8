"""How fast two panes pan with thousands of outlines over them, and how fast one of these is moved."""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from tests.benchmarks.bench_compare import LIMIT_MS, WINDOW
from tests.benchmarks.measuring import against_limit, p95, timed, wait
from tests.benchmarks.pictures import make_run, photograph, png

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from PySide6.QtWidgets import QApplication

    from app.compare.panel import ComparePanel
    from app.session import Session
    from banana100_core.project.records import NewRegion
    from tests.benchmarks.bench import BenchRow

PICTURE = 2816, 1504
BOXES, POLYGONS, POINTS = 2_000, 500, 200


def rows() -> list[BenchRow]:
    """All rows of this benchmark."""
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    from PySide6.QtWidgets import QApplication, QMainWindow

    from app.actions import ActionRegistry
    from app.compare.panel import ComparePanel
    from app.main import SWITCH_SECONDS
    from app.session import Session

    sys.setswitchinterval(SWITCH_SECONDS)  # as the program does
    application = QApplication.instance() or QApplication([])
    window = QMainWindow()
    session = Session(window, annotator="ana")
    panel = ComparePanel(session, ActionRegistry(window))
    window.setCentralWidget(panel)
    window.resize(*WINDOW)
    window.show()
    found: list[BenchRow] = []
    boxes, polygons = _boxes, _polygons
    cases = {
        "no regions": [],
        f"{BOXES} boxes": [boxes],
        f"{POLYGONS} polygons of {POINTS} points": [polygons],
        f"{BOXES} boxes and {POLYGONS} polygons": [boxes, polygons],
    }
    with tempfile.TemporaryDirectory() as folder:
        for number, (name, kinds) in enumerate(cases.items()):
            path = Path(folder) / f"{number}.b100"
            _fill(path, kinds)
            session.open_project(path)
            session.choose_step(2)
            wait(application, lambda: panel.is_settled() and panel.outlines.edits.settled)
            found += _pan(panel, name)
            if len(kinds) == 2:
                found += _zoom(panel, name)
                found += _move_one(application, session, panel, name)
            session.close_project()
    window.deleteLater()
    return found


def _fill(path: Path, kinds: list[Callable[[int], list[NewRegion]]]) -> None:
    """A run of two steps, both of which are outlined."""
    from banana100_core.project import Project
    from banana100_core.project.records import NewTag
    from banana100_core.project.regions import add_regions
    from banana100_core.project.runs import runs
    from banana100_core.project.tags import add_tag

    make_run(path, [png(photograph(*PICTURE, seed), level=1) for seed in range(3)])
    with Project.open(path) as project:
        run = runs(project)[0].id
        for mode in ("persistent_noise", "counting_failure"):
            tag = add_tag(project, "ana", NewTag(run, mode, 1))
            for step in (1, 2):
                for kind in kinds:
                    regions = kind(step)
                    half = len(regions) // 2
                    chosen = regions[:half] if mode == "persistent_noise" else regions[half:]
                    add_regions(project, "ana", tag.uuid, chosen)


def _boxes(step: int) -> list[NewRegion]:
    from banana100_core.project.records import NewRegion, RegionKind

    random = np.random.default_rng(step)
    sides = random.uniform(8, 200, (BOXES, 2))
    corners = random.uniform(0, 1, (BOXES, 2)) * (np.array(PICTURE) - sides)
    both = np.concatenate([corners, corners + sides], axis=1).round().tolist()
    return [NewRegion(step, RegionKind.BOX, ((x0, y0), (x1, y1))) for x0, y0, x1, y1 in both]


def _polygons(step: int) -> list[NewRegion]:
    from banana100_core.project.records import NewRegion, RegionKind

    random = np.random.default_rng(step)
    angles = np.linspace(0, 2 * np.pi, POINTS, endpoint=False)
    found = []
    for _ in range(POLYGONS):
        radius = random.uniform(30, 150) * random.uniform(0.8, 1.2, POINTS)
        middle = random.uniform(200, np.array(PICTURE) - 200)
        ring = middle + np.stack([radius * np.cos(angles), radius * np.sin(angles)], axis=1)
        found.append(NewRegion(step, RegionKind.POLYGON, tuple((x, y) for x, y in ring.round(2).tolist())))
    return found


def _pan(panel: ComparePanel, name: str) -> Iterator[BenchRow]:
    """At several scales, from all outlines on screen to a few."""
    times = []
    for scale in _scales(panel):
        for _ in range(30):
            _link(panel).view = _link(panel).view.panned(-9, -5, *_sizes(panel))
            times.append(_painted(panel))
        assert scale > 0
    yield against_limit(f"pan, {name}, p95", p95(times), LIMIT_MS)


def _zoom(panel: ComparePanel, name: str) -> Iterator[BenchRow]:
    """All outlines are drawn anew at each scale."""
    from app.compare.viewport import fit_scale

    size, pane = _sizes(panel)
    fit, times = fit_scale(size, pane), []
    for frame in range(60):
        link = _link(panel)
        link.view = link.view.zoomed_to(fit * 0.8 * 8 ** (frame / 59), (pane.width * 0.4, 300), size, pane)
        times.append(_painted(panel))
    yield against_limit(f"zoom, {name}, p95", p95(times), 100.0)


def _move_one(
    application: QApplication, session: Session, panel: ComparePanel, name: str
) -> Iterator[BenchRow]:
    """One outline moved among all others, from the key to the painted panes."""
    panel.panes.right.fit()
    application.processEvents()
    tool = panel.regions
    tool.choose(tool.walkable[len(tool.walkable) // 2])
    _painted(panel)

    def nudge() -> None:
        tool.nudge(1, 0)
        _painted(panel)

    times = [timed(nudge) for _ in range(60)]
    yield against_limit(f"move one of {name}, p95", p95(times), LIMIT_MS)
    tool.finish_shape()
    wait(application, lambda: panel.outlines.edits.settled)
    yield against_limit(f"painted after an edit, {name}", _painted(panel), 100.0)


def _scales(panel: ComparePanel) -> Iterator[float]:
    from app.compare.viewport import fit_scale

    size, pane = _sizes(panel)
    for scale in (fit_scale(size, pane) * 1.3, 0.55, 1.0, 3.0):
        link = _link(panel)
        link.view = link.view.zoomed_to(scale, (400, 300), size, pane)
        _painted(panel)  # the first picture at a scale is a zoom
        yield scale


def _link(panel: ComparePanel):
    return panel.panes.right.link


def _sizes(panel: ComparePanel):
    size = panel.panes.images[1].size
    if size is None:
        raise ValueError("the picture has no size")
    return size, panel.panes.right.pane


def _painted(panel: ComparePanel) -> float:
    def paint() -> None:
        for canvas in panel.panes.canvases:
            if canvas.isVisible():
                canvas.repaint()

    return timed(paint)
