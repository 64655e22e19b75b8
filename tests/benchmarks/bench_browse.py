"""The list of runs over a study of 28,000 steps: opening, looking for runs, arranging them, scrolling."""

from __future__ import annotations

import os
import statistics
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from tests.benchmarks.bench import BenchRow
from tests.benchmarks.study_of_many import RUNS, STEPS, build

if TYPE_CHECKING:
    from collections.abc import Callable

OPEN_MS, KNOWN_MS, KEY_MS, ARRANGE_MS, FRAME_MS = 1000.0, 5000.0, 50.0, 100.0, 16.7
TYPED = ("image 1 mirror r3", "initial replicate nano", "zzz", "restoration r5")
SIZE = (520, 900)
ROUNDS = 5


def rows() -> list[BenchRow]:
    """Build the study, then use the list as a person does; all times end with the list painted."""
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    from PySide6.QtCore import QSettings

    from app.main import start_application

    application = start_application()
    with tempfile.TemporaryDirectory() as folder:
        QSettings.setPath(QSettings.Format.IniFormat, QSettings.Scope.UserScope, folder)
        path = Path(folder) / "study.b100"
        build(path)
        return _use(application, path)


def _use(application, path: Path) -> list[BenchRow]:
    from PySide6.QtWidgets import QMainWindow

    from app.actions import ActionRegistry
    from app.browser.panel import BrowserPanel
    from app.garbage import UiThreadCollector
    from app.session import Session

    window = QMainWindow()
    collector = UiThreadCollector(window)
    collector.start()
    session = Session(annotator="bench")
    panel = BrowserPanel(session, ActionRegistry(window))
    window.setCentralWidget(panel)
    window.resize(*SIZE)
    window.show()
    application.processEvents()
    try:
        return [
            *_opening(application, session, panel, path),
            _looking(panel),
            *_arranging(panel),
            *_scrolling(application, panel),
        ]
    finally:
        collector.stop()
        session.close_project()
        window.close()


def _opening(application, session, panel, path: Path) -> list[BenchRow]:
    """Until the runs are painted and a key is answered; and until the facts read behind them are there."""
    painted, known = [], []
    for _ in range(ROUNDS):
        session.close_project()
        begun = time.perf_counter()
        session.open_project(path)
        application.processEvents()
        _repaint(panel)
        panel.bar.field.setText("r3")
        _repaint(panel)
        painted.append(_ms(begun))
        panel.bar.field.clear()
        while not panel._facts.settled:
            application.processEvents()
        known.append(_ms(begun))
    name = f"{RUNS * STEPS:,} steps in {RUNS} runs"
    return [
        _row(f"{name}: opened, painted, first key", painted, OPEN_MS),
        _row("the same: latest scores, tags and sizes read behind", known, KNOWN_MS),
    ]


def _looking(panel) -> BenchRow:
    """Words are typed letter by letter, and taken back."""
    keys = [
        text[:length] for text in TYPED for length in (*range(1, len(text) + 1), *reversed(range(len(text))))
    ]
    times = [_timed(panel, lambda text=text: panel.bar.field.setText(text)) for text in keys]
    return _row(f"a key in the filter, p95 of {len(times)}", times, KEY_MS, share=0.95)


def _arranging(panel) -> list[BenchRow]:
    from app.browser.arrangement import Arrangement, Grouping
    from app.browser.facets import ANY, Facet

    def arrange(arrangement: Arrangement) -> Callable[[], None]:
        return lambda: panel.arrange(arrangement)

    plain = Arrangement()
    columns = replace(plain, columns=("curve", "steps", "outcome", "tags", "annotators", "score:niqe"))
    grouped = [replace(plain, grouping=grouping) for grouping in Grouping]
    ways = [
        *grouped,
        *(replace(each, sort="score:niqe", descending=True) for each in grouped),
        columns,
        plain,
    ]
    facet = replace(plain, facets={Facet.TAG: (ANY,)})
    times = [_timed(panel, arrange(way)) for _ in range(ROUNDS) for way in ways]
    facets = [_timed(panel, arrange(way)) for _ in range(ROUNDS) for way in (facet, plain)]
    return [
        _row(f"grouped or sorted otherwise, p95 of {len(times)}", times, ARRANGE_MS, share=0.95),
        _row("a facet chosen or left", facets, KEY_MS, share=0.95),
    ]


def _scrolling(application, panel) -> list[BenchRow]:
    """From end to end of the whole list, thumbnails still to be made: in a rush, and in groups at 60 Hz.

    In a rush each frame begins when the last one ends. At a steady pace a frame is late by what it takes
    itself and by what came in between, thumbnails above all.
    """
    from app.browser.arrangement import Arrangement, Grouping

    bar = panel.view.verticalScrollBar()
    panel.arrange(Arrangement(Grouping.NONE))
    rush = []
    for place in _places(bar):
        begun = time.perf_counter()
        bar.setValue(place)
        application.processEvents()  # paints, and takes the thumbnails that have come
        rush.append(_ms(begun))
    _forget_thumbnails(panel)
    panel.arrange(Arrangement())
    panel.view.expandAll()
    steady = []
    due = time.perf_counter()
    for place in _places(bar):
        while time.perf_counter() < due:
            application.processEvents()
            time.sleep(0.0005)
        bar.setValue(place)
        application.processEvents()
        steady.append(_ms(due))
        due = max(due + FRAME_MS / 1000, time.perf_counter())
    name = "scrolling over cold thumbnails"
    return [
        _row(f"{name}, p95 of {len(rush)} frames", rush, FRAME_MS, share=0.95),
        _row(f"{name} in groups at 60 Hz: p95, due to painted", steady, FRAME_MS, share=0.95),
    ]


def _places(bar) -> range:
    return range(0, bar.maximum(), max(1, bar.maximum() // 300))


def _forget_thumbnails(panel) -> None:
    """Have all of them to be made again."""
    project = panel._session.project
    panel._thumbnails.close()
    project.write(lambda database: database.execute("DELETE FROM thumbnail"))
    panel._thumbnails.open(project)


def _repaint(panel) -> None:
    panel.view.viewport().repaint()


def _timed(panel, change: Callable[[], None]) -> float:
    begun = time.perf_counter()
    change()
    _repaint(panel)
    return _ms(begun)


def _ms(begun: float) -> float:
    return (time.perf_counter() - begun) * 1000


def _row(name: str, times: list[float], limit: float, share: float = 0.5) -> BenchRow:
    taken = statistics.median(times) if share == 0.5 else sorted(times)[int(share * (len(times) - 1))]
    ratio = taken / limit
    return BenchRow(name, f"{taken:.1f} ms", f"limit {limit:g} ms", ratio, "ratio <= 1", ratio <= 1)
