"""Opens and flips pictures in labelme or napari, in an environment of their own: see bench_viewers.py.

python peer_viewers.py labelme|napari FOLDER: prints the milliseconds of opening and of each flip, and the
peak of memory in MB, as JSON.
"""

from __future__ import annotations

import json
import resource
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

FLIPS = 12
SIZE = 1600, 1000


def main(viewer: str, folder: Path) -> None:
    """Measure one of them."""
    steps = {"labelme": _labelme, "napari": _napari}[viewer](sorted(folder.iterdir()))
    times = []
    start = time.perf_counter()
    for _ in steps:
        times.append((time.perf_counter() - start) * 1000)
        start = time.perf_counter()
    opening, *flips = times
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000
    print(json.dumps({"opening": opening, "flips": flips, "memory": peak}))


def _labelme(files: list[Path]) -> Iterator[None]:
    """Each step of the iteration is a picture shown."""
    from labelme.app import MainWindow
    from PyQt5.QtWidgets import QApplication

    application = QApplication([])
    window = MainWindow(file_or_dir=str(files[0].parent), config_overrides={})
    window.resize(*SIZE)
    window.show()
    window.raise_()
    canvas = window._canvas_widgets.canvas
    yield _until(application, lambda: not canvas.pixmap.isNull())
    forward = True
    for flip in range(FLIPS):
        if flip % (len(files) - 1) == 0:
            forward = flip // (len(files) - 1) % 2 == 0
        before = canvas.pixmap.cacheKey()
        (window._open_next_image if forward else window._open_prev_image)()
        yield _until(application, lambda before=before: canvas.pixmap.cacheKey() != before)


def _napari(files: list[Path]) -> Iterator[None]:
    """The files as one stack, as napari opens a folder."""
    import napari
    from qtpy.QtWidgets import QApplication

    viewer = napari.Viewer(show=False)
    window = viewer.window._qt_window
    window.resize(*SIZE)
    window.show()
    application = QApplication.instance()
    layers = viewer.open([str(file) for file in files], stack=True)

    def shown() -> bool:
        return layers[0].loaded

    yield _until(application, shown)
    for flip in range(FLIPS):
        viewer.dims.set_point(0, (flip + 1) % len(files))
        yield _until(application, shown)


def _until(application: object, condition: Callable[[], bool]) -> None:
    """Handle events until it is so and all that is to be painted is."""
    while True:
        application.processEvents()
        if condition():
            application.processEvents()
            return


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
