"""How soon the window is up, and whether it stays alive while pictures are scored.

The second part runs in a process of its own: the real window on a real project, its pool scoring real
photographs, somebody walking through steps and runs all the while.
"""

from __future__ import annotations

import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from tests.benchmarks.bench import BenchRow

if TYPE_CHECKING:
    from banana100_core.scoring.pool import ScoringProgress

STARTS = 5
WALKS = 3
FIRST_WINDOW_SECONDS = 1.5
LONGEST_MS = 100.0
P99_MS = 34.0
SCORING_SECONDS = 30.0
START_SECONDS = 60.0
WALK_MS = 250
STEPS = 12


def rows() -> list[BenchRow]:
    """First window on screen; longest and 99th percentile gap of the event loop during scoring."""
    with tempfile.TemporaryDirectory() as folder:
        project = Path(folder) / "study.b100"
        make_study(project)
        start = statistics.median(first_window(project) for _start in range(STARTS))
        walks = [loop_gaps(project) for _walk in range(WALKS)]
    longest, p99 = (statistics.median(walk[key] for walk in walks) for key in ("longest", "p99"))
    return [
        _limit("first window after interpreter start", start, FIRST_WINDOW_SECONDS, "s", 2),
        _limit("longest gap of the event loop while scoring", longest, LONGEST_MS, "ms", 1),
        _limit("p99 gap of the event loop while scoring", p99, P99_MS, "ms", 1),
    ]


def make_study(path: Path) -> None:
    """A project of real photographs that were encoded again and again, without scores."""
    from banana100_core.demo import demo_images
    from banana100_core.imaging.decode import inspect
    from banana100_core.project import Project
    from banana100_core.project.images import NewImage, add_initial_image
    from banana100_core.project.records import NewRun, NewStep, Outcome, RunState
    from banana100_core.project.runs import add_run, add_steps

    with Project.create(path) as project:
        for photograph in demo_images():
            initial = NewImage(inspect(photograph.data, name=photograph.name), data=photograph.data)
            add_initial_image(project, photograph.name, initial, credit=photograph.credit)
            for repeat in (1, 2):
                run_id = add_run(
                    project,
                    NewRun(
                        photograph.name,
                        "codec_loss",
                        "jpeg-webp",
                        "replicate",
                        repeat,
                        STEPS,
                        state=RunState.DONE,
                    ),
                )
                made = [(NewStep(run_id, 0, Outcome.INITIAL), initial)]
                data = photograph.data
                for step in range(1, STEPS + 1):
                    data = _again(data, quality=92 - 5 * step - repeat)
                    image = NewImage(inspect(data, name=f"step {step}"), data=data)
                    made.append((NewStep(run_id, step, Outcome.DONE), image))
                add_steps(project, made)


def first_window(project: Path) -> float:
    """Seconds from starting the interpreter to the first paint."""
    with tempfile.TemporaryDirectory() as home:
        begun = time.time()
        program = _program(["-m", "app", str(project), "--watch"], home)
        seconds = None
        for line in program.stdout or ():
            if line.startswith("first window at "):
                seconds = float(line.rpartition(" ")[2]) - begun
            if line.startswith("panels"):
                program.terminate()
        program.wait()
    if seconds is None:
        raise RuntimeError("the window did not come up")
    return seconds


def loop_gaps(project: Path, seconds: float = SCORING_SECONDS) -> dict[str, float]:
    """Gaps of the event loop in ms while the pool works: `longest`, `p99`, `count`; and `scores` made.

    The project is left as it is; raises RuntimeError when nothing was scored.
    """
    with tempfile.TemporaryDirectory() as home:
        copy = Path(shutil.copy(project, home))
        program = _program(["-m", "tests.benchmarks.bench_window", str(copy), str(seconds)], home)
        try:
            said, _nothing = program.communicate(timeout=seconds + START_SECONDS)
        finally:
            program.kill()
    found: dict[str, float] = json.loads(said.strip().rpartition("\n")[2])
    if not found["scores"]:
        raise RuntimeError("nothing was scored while the event loop was watched")
    return found


def walk_while_scoring(project: Path, seconds: float) -> dict[str, float]:
    """In the process of its own: open the window, score, walk through steps and runs, measure."""
    from PySide6.QtCore import QTimer
    from PySide6.QtWidgets import QApplication

    from app import theme
    from app.garbage import UiThreadCollector
    from app.main import SWITCH_SECONDS
    from app.responsiveness import LoopWatch
    from app.window import MainWindow

    sys.setswitchinterval(SWITCH_SECONDS)
    application = QApplication([])
    theme.apply(application)
    window = MainWindow(remember=False)
    watch, collector = LoopWatch(window), UiThreadCollector(window)
    window.maker.finished.connect(collector.start)
    session = window.session
    scores: list[int] = []
    walk = QTimer(window)
    end = QTimer(window)
    end.setSingleShot(True)

    def follow(progress: ScoringProgress) -> None:
        scores.append(progress.done)
        if walk.isActive() and progress.done == progress.total:
            finish()
        elif not walk.isActive() and scores[-1] > scores[0]:
            walk.start(WALK_MS)
            end.start(round(seconds * 1000))
            watch.start()

    def go() -> None:
        if session.run is not None and session.step == session.steps[-1].number:
            window.registry.qaction("run.next_run").trigger()
            session.first_step()
        else:
            session.next_step()

    def finish() -> None:
        end.stop()
        watch.stop()
        walk.stop()
        window.close()

    walk.timeout.connect(go)
    end.timeout.connect(finish)
    session.scoring_progressed.connect(follow)
    session.project_opened.connect(session.score_missing)
    window.open_project(project)
    window.show()
    application.exec()
    collector.stop()
    return {
        "longest": watch.longest,
        "p99": watch.percentile(0.99),
        "count": watch.count,
        "scores": scores[-1] - scores[0],
    }


def _program(arguments: list[str], home: str) -> subprocess.Popen[str]:
    environment = {"QT_QPA_PLATFORM": "offscreen"} | dict(os.environ) | {"XDG_CONFIG_HOME": home}
    return subprocess.Popen([sys.executable, *arguments], stdout=subprocess.PIPE, text=True, env=environment)


def _again(data: bytes, quality: int) -> bytes:
    import io

    from PIL import Image

    stream = io.BytesIO()
    Image.open(io.BytesIO(data)).convert("RGB").save(stream, "JPEG", quality=quality)
    return stream.getvalue()


def _limit(name: str, ours: float, limit: float, unit: str, digits: int) -> BenchRow:
    return BenchRow(
        name=name,
        ours=f"{ours:.{digits}f} {unit}",
        peer=f"{limit:g} {unit} (limit)",
        ratio=ours / limit,
        target=f"under {limit:g} {unit}",
        met=ours < limit,
    )


if __name__ == "__main__":
    print(json.dumps(walk_while_scoring(Path(sys.argv[1]), float(sys.argv[2]))))
