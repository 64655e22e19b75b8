"""Pictures of the window in each mode, for docs: `python packaging/screenshots.py PROJECT FOLDER`."""

from __future__ import annotations

import argparse
import io
import os
import shutil
import sys
import tempfile
import time
from collections import deque
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from PIL import Image as Pillow
from PySide6.QtCore import QBuffer, QEventLoop, QIODevice, QPoint, QSettings, Qt, QTimer
from PySide6.QtTest import QTest

from app import theme
from app.actions import ACTIONS
from app.browser.arrangement import Arrangement, Grouping
from app.browser.facets import Facet
from app.compare.panel import ComparePanel
from app.compare.viewport import Region
from app.garbage import UiThreadCollector
from app.main import start_application
from app.panels import MIDDLE
from app.window import MainWindow

if TYPE_CHECKING:
    from collections.abc import Callable

    from app.browser.panel import BrowserPanel

SIZE = (1480, 900)
MOST_BYTES = 60_000
"""Of one picture, so that all of them can lie in the repository."""
PATIENCE_SECONDS = 120.0
SETTLED_TICKS = 5


@dataclass(frozen=True, slots=True)
class Shot:
    """One picture and its words: the action that it is about, those that lead to it, and what none does."""

    name: str
    title: str
    action: str
    words: str
    actions: tuple[str, ...] = ()
    further: Callable[[MainWindow], None] | None = None

    @property
    def key(self) -> str:
        """The key of its action, as the keys sheet shows it."""
        return next(action.keys_shown for action in ACTIONS if action.key == self.action)


def _compare(window: MainWindow) -> ComparePanel:
    panel = window.maker.panels[MIDDLE]
    assert isinstance(panel, ComparePanel)  # noqa: S101 - the table of panels says so
    return panel


def _browser(window: MainWindow) -> BrowserPanel:
    return window.maker.panels["runs"]  # type: ignore[return-value]


def _without_tags(window: MainWindow) -> None:
    for key in ("tag", "generation"):
        window.docks.show(window.docks.docks[key], shown=False)


def _list_of_runs(window: MainWindow) -> None:
    _without_tags(window)
    window.resizeDocks([window.docks.docks["runs"]], [640], Qt.Orientation.Horizontal)
    columns = ("curve", "steps", "tags", "score:brisque", "score:niqe")
    protocol = window.session.runs[0].protocol
    _browser(window).arrange(
        Arrangement(
            Grouping.MODEL, columns, "score:niqe", descending=True, facets={Facet.PROTOCOL: (protocol,)}
        )
    )


def _close_up(window: MainWindow) -> None:
    panel = _compare(window)
    for _ in range(12):
        panel.panes.right.zoom_in()
    QTest.mouseMove(
        panel.panes.right, QPoint(panel.panes.right.width() // 2, panel.panes.right.height() // 2)
    )


def _measured(window: MainWindow) -> None:
    _compare(window).meter.measure(Region(0.3, 0.25, 0.6, 0.65))


def _amplified(window: MainWindow) -> None:
    panes = _compare(window).panes
    panes.compare(replace(panes.comparison, gain=8))


SHOTS: tuple[Shot, ...] = (
    Shot(
        "side-by-side",
        "Side by side",
        "view.side_by_side",
        "Two steps, zoomed and panned together. The name above a pane opens what it shows: the current step, "
        "step 0 or 1, the one before, a pinned one, or the same step of another run or another model. At the "
        "right, all that is known of the step.",
        ("view.step_details",),
        _without_tags,
    ),
    Shot(
        "runs",
        "Runs",
        "edit.filter",
        "Words narrow the list down, and so do protocol, model, resolution, tags, missing scores and failed "
        "steps. Runs are grouped and sorted, columns chosen, and views saved in the project. What is "
        "selected here is what scoring, plots and export take.",
        (),
        _list_of_runs,
    ),
    Shot(
        "four-panes",
        "Four panes",
        "view.more_panes",
        "Each pane has a rule of its own.",
        ("view.four_panes",),
    ),
    Shot("wipe", "Wipe", "view.wipe", "The divider is dragged, or moved with the keyboard.", ("view.wipe",)),
    Shot(
        "blink",
        "Blink",
        "view.blink",
        "One after the other in one place; a badge says which.",
        ("view.blink",),
    ),
    Shot(
        "difference",
        "Difference",
        "view.difference",
        "Around mid-grey, here amplified eight times; also absolute, relative and FLIP.",
        ("view.signed_difference",),
        _amplified,
    ),
    Shot(
        "false-colour",
        "False colour",
        "view.next_shades",
        "How large the difference is, with its scale.",
        ("view.absolute_difference", "view.shades_false_colour"),
        _amplified,
    ),
    Shot(
        "flip",
        "FLIP",
        "view.next_difference",
        "What an observer would notice on flipping between the two.",
        ("view.flip_difference", "view.shades_false_colour"),
    ),
    Shot(
        "channel",
        "Channels",
        "view.next_channel",
        "Red, green, blue, L*, a*, b*, and here the chroma.",
        ("view.channel_chroma",),
    ),
    Shot(
        "pixels",
        "Pixels",
        "view.zoom_in",
        "Close up, pixels have their grid and their values. The line below tells RGB, Lab and ΔE of the "
        "pixel under the cursor.",
        (),
        _close_up,
    ),
    Shot(
        "measured",
        "A rectangle measured",
        "view.measure",
        "Statistics and histograms of one place in all panes.",
        (),
        _measured,
    ),
)


def take(project: Path, folder: Path) -> list[Path]:
    """Draw every mode in dark and in light into WebP files of a folder, from a copy of the project.

    Open for reading only, the window would show what it then refuses.
    """
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    start_application()
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    with tempfile.TemporaryDirectory() as settings:
        QSettings.setPath(QSettings.Format.IniFormat, QSettings.Scope.UserScope, settings)
        copy = Path(shutil.copy(project, settings))
        for shot in SHOTS:
            # A window for each: no mode is left over from the one before.
            window = MainWindow(remember=False)
            collector = UiThreadCollector(window)
            collector.start()
            try:
                _open(window, copy)
                for key in shot.actions:
                    window.registry.qaction(key).trigger()
                if shot.further is not None:
                    shot.further(window)
                for scheme in (theme.Scheme.DARK, theme.Scheme.LIGHT):
                    theme.set_scheme(scheme)
                    _settle(window)
                    written.append(_save(window, folder / f"{shot.name}-{scheme}.webp"))
            finally:
                window.close()
                collector.stop()
    return written


def _open(window: MainWindow, project: Path) -> None:
    window.resize(*SIZE)
    window.show()
    _until(lambda: window.maker.complete)
    window.session.annotator = "ana"
    window.open_project(project)
    _until(lambda: window.session.run is not None)
    window.session.last_step()
    _settle(window)


def _settle(window: MainWindow) -> None:
    settled: deque[bool] = deque(maxlen=SETTLED_TICKS)

    def look() -> bool:
        settled.append(window.is_settled())
        return len(settled) == SETTLED_TICKS and all(settled)

    _until(look)


def _until(there: Callable[[], bool]) -> None:
    end = time.monotonic() + PATIENCE_SECONDS
    while not there():
        if time.monotonic() > end:
            raise TimeoutError(f"not everything arrived in {PATIENCE_SECONDS:.0f} s")
        # Not QTest.qWait, which holds the interpreter: the threads that this waits for would starve.
        loop = QEventLoop()
        QTimer.singleShot(50, loop.quit)
        loop.exec()


def _save(window: MainWindow, out: Path) -> Path:
    """Write the window as WebP, as good as fits into the bytes that a picture may have."""
    buffer = QBuffer()
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    window.grab().save(buffer, "PNG")
    picture = Pillow.open(io.BytesIO(bytes(buffer.data().data()))).convert("RGB")
    for quality in range(85, 20, -5):
        encoded = io.BytesIO()
        picture.save(encoded, "WEBP", quality=quality, method=6)
        if encoded.tell() < MOST_BYTES:
            break
    out.write_bytes(encoded.getvalue())
    return out


def write_page(folder: Path) -> Path:
    """Write the page that shows the pictures of a folder, beside it."""
    parts = [
        "# A tour of the window",
        (
            "Drawn by `make screenshots` from the demo study, in dark and in light. `?` in the window shows "
            "all keys, and Ctrl+Shift+P finds every action."
        ),
    ]
    for shot in SHOTS:
        dark, light = (f"{folder.name}/{shot.name}-{scheme}.webp" for scheme in ("dark", "light"))
        parts += [
            f"## {shot.title}" + (f" ({shot.key})" if shot.key else ""),
            shot.words,
            (
                f'<picture><source media="(prefers-color-scheme: light)" srcset="{light}">'
                f'<img src="{dark}" alt="{shot.title}"></picture>'
            ),
        ]
    page = folder.with_suffix(".md")
    page.write_text("\n\n".join(parts) + "\n", "utf-8")
    return page


def main(arguments: list[str] | None = None) -> int:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="screenshots.py", description=__doc__)
    parser.add_argument("project", type=Path)
    parser.add_argument("folder", type=Path)
    chosen = parser.parse_args(arguments)
    for path in take(chosen.project, chosen.folder):
        print(f"{path}: {path.stat().st_size / 1000:.0f} kB", flush=True)
    print(write_page(chosen.folder))
    return 0


if __name__ == "__main__":
    sys.exit(main())
