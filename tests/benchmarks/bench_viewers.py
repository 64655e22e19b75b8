"""Flips and memory against labelme and napari, each in an environment of its own; only when asked."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

import numpy as np
import platformdirs

from tests.benchmarks.bench import BenchRow

# Each release renames what the peers are driven by.
PACKAGES = {"labelme": ["labelme==6.3.1"], "napari": ["napari[pyqt5]"]}
FILES = 4
_PEER = Path(__file__).with_name("peer_viewers.py")


def rows() -> list[BenchRow]:
    """All rows of this benchmark."""
    from tests.benchmarks.bench_compare import PICTURE
    from tests.benchmarks.pictures import encoded, make_run, photograph

    found = []
    for kind in ("PNG", "JPEG"):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name) / "pictures"
            folder.mkdir()
            for seed in range(FILES):
                (folder / f"{seed}.{kind.lower()}").write_bytes(encoded(photograph(*PICTURE, seed), kind))
            project = folder.with_name("study.b100")
            make_run(project, [file.read_bytes() for file in sorted(folder.iterdir())])
            ours = _run(sys.executable, "-m", "tests.benchmarks.bench_viewers", str(project))
            for viewer, packages in PACKAGES.items():
                theirs = _run(str(_environment(viewer, packages)), str(_PEER), viewer, str(folder))
                found += _against(viewer, kind, ours, theirs)
    return found


def _against(viewer: str, kind: str, ours: dict[str, object], theirs: dict[str, object]) -> list[BenchRow]:
    flip, peer_flip = (float(np.median(each["flips"])) for each in (ours, theirs))
    memory, peer_memory = ours["memory"], theirs["memory"]
    return [
        BenchRow(
            f"flip between 5504x3072 {kind} files, against {viewer}",
            f"{flip:.1f} ms",
            f"{peer_flip:.0f} ms",
            peer_flip / flip,
            "faster, >= 10",
            peer_flip >= 10 * flip,
        ),
        BenchRow(
            f"peak memory after flipping {kind} files, {viewer}",
            f"{memory:.0f} MB",
            f"{peer_memory:.0f} MB",
            memory / peer_memory,
            "less, < 1",
            memory < peer_memory,
        ),
    ]


def _environment(viewer: str, packages: list[str]) -> Path:
    """The interpreter of an environment with a viewer, made once and kept among the user's caches."""
    folder = Path(platformdirs.user_cache_dir("banana100-benchmarks")) / viewer
    python = folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    if not (folder / "complete").exists():
        venv.create(folder, with_pip=True, clear=True)
        subprocess.run([python, "-m", "pip", "install", "-q", *packages], check=True)
        (folder / "complete").touch()
    return python


def _run(*command: str) -> dict[str, object]:
    """What a viewer measured of itself; on a display of its own where there is one to be had, for OpenGL."""
    display = ["xvfb-run", "-a", "-s", "-screen 0 1920x1200x24"] if shutil.which("xvfb-run") else []
    environment = {**os.environ, "QT_QPA_PLATFORM": "xcb" if display else "offscreen"}
    with tempfile.TemporaryDirectory() as home:  # the user's own settings stay out of it
        environment |= {"HOME": home, "XDG_CONFIG_HOME": home, "XDG_DATA_HOME": home}
        done = subprocess.run(
            [*display, *command],
            env=environment,
            cwd=Path(__file__).parents[2],
            capture_output=True,
            text=True,
            check=False,
        )
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)} failed: {done.stderr[-2000:]}")
    return json.loads(done.stdout.splitlines()[-1])


def _measure_ours(project: Path) -> None:
    """Open the window on a project and flip as the peers do."""
    import resource
    import time

    from app.main import start_application
    from app.panels import MIDDLE
    from app.window import MainWindow
    from tests.benchmarks.bench_compare import WINDOW
    from tests.benchmarks.measuring import wait, wait_idle

    application = start_application()
    window = MainWindow(remember=False)
    window.resize(*WINDOW)
    window.show()
    start = time.perf_counter()
    window.session.open_project(project)
    wait(application, lambda: window.maker.complete and bool(window.session.steps))
    panel = window.maker.panels[MIDDLE]
    wait(application, lambda: panel.panes.images[1].pyramid is not None)
    opening = (time.perf_counter() - start) * 1000
    loader = panel.pictures.loader
    steps = window.session.steps
    wait(application, lambda: all(loader.pyramid(step.image.sha256) for step in steps))
    flips = []
    for flip in range(12):
        start = time.perf_counter()
        window.session.choose_step((flip + 1) % len(steps))
        wait_idle(panel.pictures.updated, lambda: panel.panes.images[1].pyramid is not None)
        application.processEvents()
        flips.append((time.perf_counter() - start) * 1000)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000
    window.close()
    print(json.dumps({"opening": opening, "flips": flips, "memory": peak}))


if __name__ == "__main__":
    _measure_ours(Path(sys.argv[1]))
