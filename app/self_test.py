"""Trying out every part of an installed program on a project of its own: `banana100 --self-test`."""

from __future__ import annotations

import faulthandler
import io
import os
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

import psutil
from PIL import Image, ImageOps
from PySide6.QtCore import QEventLoop, QSettings, QTimer
from PySide6.QtGui import QImage

from app.garbage import UiThreadCollector
from app.main import start_application
from app.notifications import FaultCatcher, versions
from app.window import MainWindow
from banana100_core.catalog.models import editor_models
from banana100_core.project import Project
from banana100_core.project.records import Outcome, RunState

if TYPE_CHECKING:
    from collections.abc import Callable

    from app.session import Session

PATIENCE_SECONDS = 120.0
QUIT_SECONDS = 5.0
COMPARED = ("wipe", "signed_difference", "flip_difference", "side_by_side")
METRICS = ("piqe", "brisque", "niqe")  # those that need no download
LOOK_MS = 20
STEPS_GENERATED = 2
SIZE = 288, 224
TOLERANCE = 0.05
"""How far our own scores may lie from pyiqa's, as a share of them."""

_EDITORS = frozenset({"restoration_loop", "codec_loss"})


class SelfTestError(Exception):
    """A part of the program does not work here."""


def run_self_test() -> int:
    """Try all parts one after another, one line each; the exit code is 1 if one does not work.

    The window is drawn offscreen unless QT_QPA_PLATFORM says otherwise. Nothing of the user's is touched:
    project, pictures and settings lie in a temporary folder that is removed at the end.
    """
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    with tempfile.TemporaryDirectory(prefix="banana100-self-test-", ignore_cleanup_errors=True) as folder:
        QSettings.setPath(QSettings.Format.IniFormat, QSettings.Scope.UserScope, folder)
        test = _SelfTest(Path(folder))
        try:
            works = all(_try(name, part) for name, part in test.parts())
        finally:
            closed = _try("quit", test.quit)
    print("everything works" if works and closed else "NOT everything works", flush=True)
    return 0 if works and closed else 1


def _try(name: str, part: Callable[[], str]) -> bool:
    begun = time.monotonic()
    try:
        said = part()
    except Exception as error:  # noqa: BLE001 - whatever it is, this part does not work
        kind = "" if isinstance(error, SelfTestError) else f"{type(error).__name__}: "
        print(f"FAILED  {name:<9} {kind}{error}", flush=True)
        return False
    print(f"ok      {name:<9} {said} ({time.monotonic() - begun:.1f} s)", flush=True)
    return True


class _SelfTest:
    """The parts, in the order in which they build on each other."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._path = folder / "self-test.b100"
        self._faults: list[str] = []
        self._application = start_application()
        faulthandler.enable()  # after a crash in Qt, the last line printed would not say where
        self._window = MainWindow(remember=False)
        # No other thread may collect what the window left: Qt's objects end on their own thread.
        self._collector = UiThreadCollector(self._window)
        self._collector.start()
        self._catcher = FaultCatcher(self._window)
        self._catcher.install()
        self._catcher.caught.connect(self._faults.append)
        self._session.failed.connect(lambda title, details: self._faults.append(f"{title}: {details}"))

    def parts(self) -> list[tuple[str, Callable[[], str]]]:
        """Names of the parts, and what tries each: it says what it saw, or raises."""
        return [
            ("versions", lambda: ", ".join(versions().splitlines())),
            ("import", self._import),
            ("window", self._show),
            ("steps", self._flip),
            ("compare", self._compare),
            ("tags", self._tag),
            ("scores", self._score),
            ("pyiqa", self._compare_with_pyiqa),
            ("generate", self._generate),
            ("export", self._export),
        ]

    def quit(self) -> str:
        """Close the window; its workers must be gone at once, and the project whole."""
        from banana100_core.project.check import check

        begun = time.monotonic()
        self._window.close()
        workers = psutil.Process().children(recursive=True)
        _gone, alive = psutil.wait_procs(workers, timeout=max(0.0, begun + QUIT_SECONDS - time.monotonic()))
        self._collector.stop()
        self._catcher.uninstall()
        if alive:
            raise SelfTestError(f"{len(alive)} worker processes were still there after {QUIT_SECONDS:.0f} s")
        findings = [finding.what for finding in check(self._path)] if self._path.exists() else []
        if self._faults or findings:
            raise SelfTestError("; ".join([*self._faults, *findings]))
        return "all workers ended, and the project is whole"

    # The parts

    def _import(self) -> str:
        from banana100_core.exchange.folder import preview_folder
        from banana100_core.exchange.importing import import_runs

        pictures = self._folder / "pictures"
        kinds = _write_pictures(pictures)
        with Project.create(self._path) as project:
            report = import_runs(project, preview_folder(pictures), copy=True)
        if report.failed or report.steps_added != len(kinds):
            raise SelfTestError(f"{report.steps_added} of {len(kinds)} were imported: {report.failed}")
        return f"{len(kinds)} pictures: {', '.join(kinds)}"

    def _show(self) -> str:
        self._window.show()
        self._until(lambda: self._window.maker.complete, "the panels of the window")
        self._window.open_project(self._path)
        self._until(lambda: self._session.run is not None, "the project in the window")
        self._until(self._window.is_settled, "the pictures in the window")
        colours = self._window.grab().toImage().convertToFormat(QImage.Format.Format_RGB32)
        seen = {
            colours.pixel(x, y) for x in range(0, colours.width(), 7) for y in range(0, colours.height(), 7)
        }
        if len(seen) < 200:
            raise SelfTestError(f"the window shows no pictures: it has {len(seen)} colours")
        return f"{colours.width()} x {colours.height()}, {len(self._window.maker.panels)} panels"

    def _flip(self) -> str:
        session = self._session
        session.first_step()
        for step in session.steps:
            if session.step != step.number:
                raise SelfTestError(f"step {session.step} is shown instead of step {step.number}")
            self._until(self._window.is_settled, f"the picture of step {step.number}")
            session.next_step()
        return f"{len(session.steps)} steps"

    def _compare(self) -> str:
        from banana100_core.analysis.drift import drift

        project, run = self._session.project, self._session.run
        if project is None or run is None:
            raise SelfTestError("there is nothing to compare")
        for mode in COMPARED:
            self._window.registry.qaction(f"view.{mode}").trigger()
            self._until(self._window.is_settled, f"the picture of {mode}")
        report = drift(project, [run.id])
        if report.unreadable or not report.steps:
            raise SelfTestError(f"the drift has {len(report.steps)} rows; unreadable: {report.unreadable}")
        return f"{', '.join(COMPARED)}; drift of {len(report.steps)} steps"

    def _tag(self) -> str:
        from app.tagging.panel import TaggingPanel
        from banana100_core.project.tags import tags

        project, run = self._session.project, self._session.run
        panel = self._window.maker.panels["tag"]
        if project is None or run is None or not isinstance(panel, TaggingPanel):
            raise SelfTestError("there is nothing to tag")
        for mode in list(panel.taxonomy.buttons)[:2]:
            panel.begin(mode)
        self._until(lambda: len(tags(project, run.id)) == 2, "two tags")
        self._until(panel.is_settled, "the panel of tags")
        self._window.registry.qaction("tag.undo").trigger()
        self._until(lambda: len(tags(project, run.id)) == 1, "undoing a tag")
        self._until(panel.is_settled, "the panel of tags")
        return "two made, one undone"

    def _score(self) -> str:
        from banana100_core.project.scores import step_scores
        from banana100_core.scoring.methods import State, statuses

        session, project = self._session, self._session.project
        if project is None or session.pool is None:
            raise SelfTestError("the project has no scoring pool")
        pictures = {step.image.sha256 for step in session.steps if step.image is not None}
        session.start_pool()
        session.pool.request(pictures, metrics=METRICS)
        wanted = len(pictures) * len(METRICS)
        self._until(lambda: len(_distinct(project)) >= wanted, f"{wanted} scores")
        failed = [score.error for score in step_scores(project, metrics=METRICS) if score.score is None]
        if failed:
            raise SelfTestError(f"{len(failed)} scores failed: {failed[0]}")
        ready = [each.metric for each in statuses().values() if each.state is State.READY]
        return f"{wanted} by {', '.join(METRICS)}; {len(ready)} of {len(statuses())} metrics can score here"

    def _compare_with_pyiqa(self) -> str:
        from importlib.util import find_spec

        from banana100_core.project.scores import step_scores
        from banana100_core.scoring import terms
        from banana100_core.scoring.methods import PYIQA
        from banana100_core.scoring.pool import ScoringPool

        session, project = self._session, self._session.project
        if find_spec("torch") is None or find_spec("pyiqa") is None:
            return "not in this build: the learned metrics can't score here"
        image = session.steps[0].image
        if project is None or image is None:
            raise SelfTestError("there is no picture to score")
        os.environ[terms.VARIABLE] = "1"  # what is tried is the build: no score is kept
        pool = ScoringPool(project, metrics=METRICS, backends=dict.fromkeys(METRICS, PYIQA), follow=False)
        try:
            pool.start()
            pool.request([image.sha256])
            self._until(lambda: pool.wait(0) and pool.progress().done == len(METRICS), "scores by pyiqa")
        finally:
            pool.close()
        for metric in METRICS:
            both = [s for s in step_scores(project, metrics=[metric]) if s.image_sha256 == image.sha256]
            values = [score.score for score in both if score.score is not None]
            if len(values) != 2:
                raise SelfTestError(f"{metric} by pyiqa: {[score.error for score in both if score.error]}")
            if abs(values[0] - values[1]) > TOLERANCE * abs(values[1]):
                raise SelfTestError(f"{metric} is {values[0]:.3f} or {values[1]:.3f}, by backend")
        return f"{', '.join(METRICS)} as our own"

    def _generate(self) -> str:
        from banana100_core.generation.plan import add_plan, make_plan
        from banana100_core.imaging.decode import inspect
        from banana100_core.project.images import NewImage, add_initial_image
        from banana100_core.project.runs import run, steps

        project, executor = self._session.project, self._session.executor
        if project is None or executor is None:
            raise SelfTestError("the project has no executor")
        data = _encode(_photograph(), "PNG")
        add_initial_image(project, "Self-test", NewImage(inspect(data, name="Self-test"), data=data))
        run_ids = []
        for model in editor_models():
            if model.provider in _EDITORS:
                arguments = (model.provider, model.key, STEPS_GENERATED, 1, 100)
                run_ids += add_plan(project, make_plan(["Self-test"], "replicate", *arguments))
        self._session.in_background(lambda: executor.start(run_ids))
        self._until(
            lambda: all(run(project, each).state is not RunState.PLANNED for each in run_ids),
            "the runs of the embedded editors",
        )
        for run_id in run_ids:
            made = [step for step in steps(project, run_id) if step.outcome is Outcome.DONE]
            if len(made) != STEPS_GENERATED:
                raise SelfTestError(f"run {run_id}: {run(project, run_id).state_reason}")
        return f"{STEPS_GENERATED} steps each by {' and '.join(sorted(_EDITORS))}"

    def _export(self) -> str:
        from banana100_core.analysis.gap_formats import as_csv
        from banana100_core.analysis.gaps import gaps
        from banana100_core.exchange.contact_sheet import contact_sheet

        project = self._session.project
        if project is None:
            raise SelfTestError("the project is not open")
        sheet = self._folder / "contact-sheet.png"
        contact_sheet(project, [run.id for run in self._session.runs], sheet)
        with Image.open(sheet) as picture:
            size = picture.size
        rows = as_csv(gaps(project)).count("\n") - 1
        if rows < len(METRICS):
            raise SelfTestError(f"the table of gaps has {rows} rows")
        return f"contact sheet of {size[0]} x {size[1]}, {rows} rows of gaps"

    # Waiting

    @property
    def _session(self) -> Session:
        return self._window.session

    def _until(self, met: Callable[[], bool], what: str) -> None:
        """Let the window live until a condition is met."""
        deadline = time.monotonic() + PATIENCE_SECONDS
        loop = QEventLoop()
        timer = QTimer()
        timer.setInterval(LOOK_MS)
        timer.timeout.connect(loop.quit)
        timer.start()
        while not met():
            if self._faults:
                raise SelfTestError(self._faults.pop(0))
            if time.monotonic() > deadline:
                raise SelfTestError(f"{what}: nothing came in {PATIENCE_SECONDS:.0f} s")
            loop.exec()


def _distinct(project: Project) -> set[tuple[str, str]]:
    from banana100_core.project.scores import step_scores

    return {(score.image_sha256, score.metric) for score in step_scores(project, metrics=METRICS)}


def _photograph() -> Image.Image:
    from banana100_core.demo import demo_images

    with Image.open(io.BytesIO(demo_images()[0].data)) as picture:
        return ImageOps.fit(picture.convert("RGB"), SIZE)


def _encode(picture: Image.Image, file_format: str, **options: object) -> bytes:
    stream = io.BytesIO()
    picture.save(stream, file_format, **options)
    return stream.getvalue()


def _write_pictures(folder: Path) -> list[str]:
    """Save one photograph as the steps of a run, each of another kind; gives the names of the kinds."""
    photograph = _photograph()
    grey = photograph.convert("L")
    transparent = photograph.copy()
    transparent.putalpha(grey)
    orientation = Image.Exif()
    orientation[0x0112] = 6
    kinds: tuple[tuple[str, str, Image.Image, str, dict[str, object]], ...] = (
        ("PNG", "png", photograph, "PNG", {}),
        ("JPEG turned by EXIF", "jpg", photograph, "JPEG", {"quality": 80, "exif": orientation}),
        ("WebP", "webp", photograph, "WEBP", {"quality": 70}),
        ("TIFF", "tif", photograph, "TIFF", {"compression": "tiff_deflate"}),
        ("BMP", "bmp", photograph, "BMP", {}),
        ("GIF", "gif", photograph.quantize(64), "GIF", {}),
        ("16 bit", "png", grey.convert("I").point(lambda value: value * 257).convert("I;16"), "PNG", {}),
        ("grey", "png", grey, "PNG", {}),
        ("alpha", "png", transparent, "PNG", {}),
        ("CMYK", "jpg", photograph.convert("CMYK"), "JPEG", {"quality": 90}),
    )
    run = folder / "Self-test pictures"
    run.mkdir(parents=True)
    for number, (_kind, suffix, picture, file_format, options) in enumerate(kinds):
        (run / f"step_{number:03}.{suffix}").write_bytes(_encode(picture, file_format, **options))
    return [kind for kind, *_rest in kinds]


if __name__ == "__main__":
    sys.exit(run_self_test())
