from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading

import pytest
from PySide6.QtCore import QMimeData, QPointF, Qt, QUrl
from PySide6.QtGui import QDropEvent, QGuiApplication, QImage
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QDialog, QPushButton

from app.actions import ACTIONS
from app.images import default_cache_bytes
from app.importing import ImportDialog
from app.notifications import FaultCatcher, log_file
from app.panels import MIDDLE
from app.settings import Settings, SettingsDialog
from app.status import duration, generation_text, project_text, scoring_by_metric, scoring_text
from app.window import MainWindow
from banana100_core import demo
from banana100_core.generation.executor import GenerationProgress
from banana100_core.generation.plan import make_plan
from banana100_core.project import Project
from banana100_core.project.check import check
from banana100_core.project.records import NewRun, RunState
from banana100_core.project.runs import add_run
from banana100_core.project.scores import step_scores
from banana100_core.scoring.pool import ScoringProgress

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))  # noqa: PTH100, PTH120


def _open(qtbot, window, path) -> None:
    with qtbot.waitSignal(window.session.project_opened):
        window.open_project(path)


def _start(*arguments: object, **more) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, *map(str, arguments)],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "QT_QPA_PLATFORM": "offscreen"},
        **more,
    )


# With and without a project


def test_without_a_project_the_window_offers_ways_to_begin(window):
    assert window.middle.currentWidget() is window.welcome
    assert not any(dock.isVisible() for dock in window.docks.docks.values())
    texts = {button.text() for button in window.welcome.findChildren(QPushButton)}
    assert {"Open project…", "New project…", "Open the demo study"} <= texts
    assert all(button.isEnabled() for button in window.welcome.findChildren(QPushButton))


def test_opening_shows_runs_pictures_and_panels(qtbot, window, study):
    _open(qtbot, window, study)
    assert window.windowTitle().startswith("study.b100")
    assert window.middle.currentWidget() is window.maker.panels["compare"]
    assert window.docks.docks["runs"].isVisible()
    assert window.statusBar().file.text() == "study.b100 · saved as you go"
    qtbot.waitUntil(window.is_settled)


def test_letters_typed_after_opening_tag_the_run(qtbot, window, study):
    _open(qtbot, window, study)
    qtbot.waitUntil(window.is_settled)
    other = QDialog(window)  # Qt looks for a widget to focus when the window comes forward again
    other.open()
    qtbot.waitUntil(other.isActiveWindow)
    other.reject()
    window.activateWindow()
    qtbot.waitUntil(lambda: QApplication.focusWidget() is not None)
    window.session.last_step()
    QTest.keyClick(QApplication.focusWidget(), Qt.Key.Key_N)
    board = window.maker.panels["tag"].board
    qtbot.waitUntil(lambda: [row.wanted.failure_mode for row in board.rows] == ["persistent_noise"])


def test_closing_the_project_keeps_the_window_and_lists_it_as_recent(qtbot, window, study):
    _open(qtbot, window, study)
    window.registry.qaction("file.close").trigger()
    assert window.middle.currentWidget() is window.welcome
    assert window.windowTitle() == "Banana100 Inspector"
    assert not window.registry.qaction("score.missing").isEnabled()
    recent = next(b for b in window.welcome.findChildren(QPushButton) if b.text().startswith("study.b100"))
    with qtbot.waitSignal(window.session.project_opened):
        recent.click()


def test_a_project_without_runs_says_how_to_get_some(qtbot, window, tmp_path):
    Project.create(tmp_path / "empty.b100").close()
    _open(qtbot, window, tmp_path / "empty.b100")
    texts = {button.text() for button in window.welcome.findChildren(QPushButton)}
    assert {"Import a folder…", "Generate…"} <= texts


def test_a_new_project_is_made_and_opened(qtbot, window, tmp_path):
    with qtbot.waitSignal(window.session.project_opened):
        window._opener.create(tmp_path / "new.b100")
    assert window.session.project.path == tmp_path / "new.b100"


def test_every_action_does_something(window):
    assert [action.key for action in ACTIONS if not window.registry.connected(action.key)] == []


def test_steps_are_walked_with_the_arrows_from_the_list_of_runs(qtbot, window, study):
    _open(qtbot, window, study)
    view = window.maker.panels["runs"].view
    view.setFocus()
    for key, step in ((Qt.Key.Key_Home, 0), (Qt.Key.Key_Right, 1), (Qt.Key.Key_End, 4), (Qt.Key.Key_Left, 3)):
        QTest.keyClick(view, key)
        assert window.session.step == step
    QTest.keyClick(view, Qt.Key.Key_R, Qt.KeyboardModifier.ControlModifier)
    assert window.session.reference_step == 3


def test_f6_takes_the_keyboard_from_panel_to_panel(qtbot, window, study):
    _open(qtbot, window, study)
    reached = []
    for _press in window.maker.panels:
        QTest.keyClick(window, Qt.Key.Key_F6)
        focus = QApplication.focusWidget()
        reached.append(
            next(
                key
                for key, panel in window.maker.panels.items()
                if panel.isAncestorOf(focus) or panel is focus
            )
        )
    assert {"runs", "compare", "tag"} <= set(reached)


# Opening errors


@pytest.fixture
def broken(tmp_path, study):
    """Files that can't be opened, each in its way."""
    (tmp_path / "text.b100").write_text("<b>not a project</b>\n")
    (tmp_path / "short.b100").write_bytes(study.read_bytes()[:3000])
    (tmp_path / "nothing.b100").touch()
    return {name: tmp_path / f"{name}.b100" for name in ("text", "short", "nothing", "missing")}


@pytest.mark.parametrize("name", ["text", "short", "nothing", "missing"])
def test_what_can_not_be_opened_is_said_once_and_the_window_stays(qtbot, window, broken, name):
    path = broken[name]
    before = path.read_bytes() if path.exists() else None
    window.open_project(path)
    qtbot.waitUntil(window.messages.isVisible)
    assert path.name in window.messages.details()
    assert len(window.messages.details()) > 60
    assert window.isVisible()
    assert window.middle.currentWidget() is window.welcome
    assert (path.read_bytes() if path.exists() else None) == before


def test_a_failed_opening_leaves_the_open_project_alone(qtbot, window, study, broken):
    _open(qtbot, window, study)
    window.open_project(broken["text"])
    qtbot.waitUntil(window.messages.isVisible)
    assert window.session.project.path == study
    assert window.middle.currentWidget() is window.maker.panels["compare"]


def test_a_project_in_use_elsewhere_can_be_opened_for_reading(qtbot, window, study):
    with Project.open(study):
        window.open_project(study)
        qtbot.waitUntil(window.messages.isVisible)
        assert "in use" in window.messages.details()
        button = next(b for b in window.messages.findChildren(QPushButton) if b.text() == "Open read-only")
        assert button.isVisible()
        with qtbot.waitSignal(window.session.project_opened):
            button.click()
        assert window.session.project.read_only
        assert "read-only" in window.statusBar().file.text()
        for key in ("score.missing", "generate.start", "file.import"):
            assert not window.registry.qaction(key).isEnabled()
        window.session.close_project()


def test_details_of_an_error_can_be_copied(qtbot, window, broken):
    window.open_project(broken["text"])
    qtbot.waitUntil(window.messages.isVisible)
    copy = next(b for b in window.messages.findChildren(QPushButton) if b.text() == "Copy details")
    copy.click()
    copied = QGuiApplication.clipboard().text()
    assert "text.b100" in copied
    assert "PySide6" in copied


# Faults


def test_an_exception_that_nobody_caught_is_shown_once_with_all_that_a_report_needs(qtbot, window):
    catcher = FaultCatcher(window)
    catcher.install()
    try:
        for _again in range(3):
            sys.excepthook(*_fault())
        qtbot.waitUntil(lambda: catcher.dialog is not None)
        qtbot.wait(1)
        assert "ZeroDivisionError: integer division" in catcher.dialog.text
        assert "Traceback" in catcher.dialog.text
        assert "PySide6" in catcher.dialog.text
        assert str(log_file()) in catcher.dialog.text
        assert (
            len([w for w in QApplication.topLevelWidgets() if w.windowTitle() == "Something went wrong"]) == 1
        )
        catcher.dialog.reject()
    finally:
        catcher.uninstall()


def test_an_exception_on_another_thread_is_shown_too(qtbot, window):
    catcher = FaultCatcher(window)
    catcher.install()
    try:
        thread = threading.Thread(target=lambda: 1 // 0)
        thread.start()
        thread.join()
        qtbot.waitUntil(lambda: catcher.dialog is not None)
        assert "ZeroDivisionError" in catcher.dialog.text
        catcher.dialog.reject()
    finally:
        catcher.uninstall()
    assert sys.excepthook is not catcher._take


def _fault():
    try:
        1 // 0  # noqa: B018
    except ZeroDivisionError:
        return sys.exc_info()


# Settings, layout, look


def test_a_cancelled_settings_dialog_changes_nothing(qtbot, window):
    dialog = SettingsDialog(window.settings, window)
    qtbot.addWidget(dialog)
    dialog._fields["annotator"].setText("Grace")
    dialog.reject()
    assert window.settings.text("annotator") != "Grace"
    dialog.accept()
    assert window.settings.text("annotator") == "Grace"
    assert window.session.annotator == "Grace"
    assert Settings().text("annotator") == "Grace"


def test_the_memory_for_pictures_can_be_set(qtbot, window):
    qtbot.waitUntil(lambda: window.maker.complete)
    loader = window.maker.panels[MIDDLE].pictures.loader
    window.settings.change({"picture_memory": "512"})
    assert loader.cache_bytes == 512 * 2**20
    window.settings.change({"picture_memory": ""})
    assert loader.cache_bytes == default_cache_bytes()


def test_a_setting_that_means_nothing_falls_back_to_its_default():
    settings = Settings()
    settings._store.setValue("settings/theme", "pink")
    assert settings.text("theme") == "system"


def test_panels_stay_where_they_were_left(qtbot, window, study):
    _open(qtbot, window, study)
    window.registry.qaction("view.panel_tag").trigger()
    window.addDockWidget(Qt.DockWidgetArea.RightDockWidgetArea, window.docks.docks["runs"])
    window.session.close_project()
    window.close()

    again = MainWindow()
    qtbot.addWidget(again)
    with qtbot.waitSignal(again.maker.finished):
        again.show()
    _open(qtbot, again, study)
    assert again.docks.docks["tag"].isHidden()
    assert not again.registry.qaction("view.panel_tag").isChecked()
    assert again.dockWidgetArea(again.docks.docks["runs"]) == Qt.DockWidgetArea.RightDockWidgetArea
    again.registry.qaction("view.reset_layout").trigger()
    assert not again.docks.docks["tag"].isHidden()
    assert again.dockWidgetArea(again.docks.docks["runs"]) == Qt.DockWidgetArea.LeftDockWidgetArea
    again.close()


def test_dark_and_light_are_switched_and_remembered(qtbot, window):
    window.registry.qaction("view.theme_dark").trigger()
    assert QApplication.palette().window().color().lightness() < 60
    assert Settings().text("theme") == "dark"
    window.registry.qaction("view.theme_light").trigger()
    assert QApplication.palette().window().color().lightness() > 200


# The status bar


def _scoring(**values) -> ScoringProgress:
    nothing = {"done": 0, "total": 0, "failed": 0, "rate": 0.0, "seconds_left": None, "paused": False}
    return ScoringProgress(**(nothing | {"per_metric": {}} | values))


@pytest.mark.parametrize(
    ("progress", "text"),
    [
        (_scoring(), ""),
        (
            _scoring(done=1240, total=8400, rate=3.14, seconds_left=2280.0),
            "scoring 1,240 of 8,400 · 3.1 a second · 38 min left",
        ),
        (_scoring(done=3, total=9, paused=True), "scoring paused at 3 of 9"),
        (_scoring(done=9, total=9, failed=2), "scored 9 · 2 failed"),
    ],
)
def test_scoring_is_told_in_words(progress, text):
    assert scoring_text(progress) == text


def test_scoring_is_told_by_metric_too():
    progress = _scoring(done=1300, total=2000, per_metric={"brisque": (1000, 1000), "niqe": (300, 1000)})
    assert scoring_by_metric(progress) == "BRISQUE: 1,000 of 1,000\nNIQE: 300 of 1,000"


@pytest.mark.parametrize(
    ("progress", "text"),
    [
        (GenerationProgress(), ""),
        (
            GenerationProgress(
                steps_done=63, steps_planned=100, cost_usd=8.44, running=True, seconds_left=45.0
            ),
            "generation: step 63 of 100 · $8.44 · 45 s left",
        ),
        (
            GenerationProgress(steps_done=63, steps_planned=100, running=True, paused=True),
            "generation paused at step 63 of 100",
        ),
        (
            GenerationProgress(steps_done=40, steps_planned=40, failed=1),
            "generated 40 of 40 steps · 1 run stopped",
        ),
    ],
)
def test_generation_is_told_in_words(progress, text):
    assert generation_text(progress) == text


@pytest.mark.parametrize(
    ("seconds", "text"), [(0.2, "1 s"), (89, "89 s"), (2280, "38 min"), (7500, "2 h 05 min")]
)
def test_times_are_told_in_words(seconds, text):
    assert duration(seconds) == text


def test_a_network_drive_is_told(project):
    project.journal_mode = "delete"
    assert "rollback journal" in project_text(project)


# Importing


@pytest.fixture
def folder(tmp_path, make_png):
    """A folder with one run of three steps, as somebody keeps it."""
    run = tmp_path / "pictures" / "Harbour_r1"
    run.mkdir(parents=True)
    for step in range(4):
        (run / f"step_{step:03}.png").write_bytes(make_png(80, 60, seed=step))
    return run.parent


def _drop(window, path) -> None:
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(path))])
    event = QDropEvent(
        QPointF(20, 20),
        Qt.DropAction.CopyAction,
        data,
        Qt.MouseButton.LeftButton,
        Qt.KeyboardModifier.NoModifier,
    )
    window.dropEvent(event)


def test_a_dropped_project_is_opened(qtbot, window, study):
    with qtbot.waitSignal(window.session.project_opened):
        _drop(window, study)


def test_a_dropped_folder_is_shown_then_imported(qtbot, window, study, folder):
    _open(qtbot, window, study)
    _drop(window, folder)
    dialog = window.findChild(ImportDialog)
    qtbot.waitUntil(dialog.import_button.isEnabled)
    assert "1 runs" in dialog.heading.text()
    before = len(window.session.runs)
    with qtbot.waitSignal(dialog.imported):
        dialog.import_button.click()
    qtbot.waitUntil(lambda: len(window.session.runs) == before + 1)
    qtbot.waitUntil(lambda: window.session.runs[-1].steps_done == 3)


def test_a_cancelled_import_adds_nothing(qtbot, window, study, folder):
    _open(qtbot, window, study)
    _drop(window, folder)
    dialog = window.findChild(ImportDialog)
    qtbot.waitUntil(dialog.import_button.isEnabled)
    dialog.reject()
    assert len(window.session.runs) == 4


def test_a_folder_needs_a_project(window, folder):
    _drop(window, folder)
    assert window.messages.isVisible()
    assert "project" in window.messages.details()


# Leaving


def test_quitting_while_runs_are_made_keeps_every_step(qtbot, window, study):
    _open(qtbot, window, study)
    session = window.session
    run_id = add_run(
        session.project,
        NewRun("Image 1", "codec_loss", "jpeg-webp", "replicate", repeat=9, steps_planned=4000, seed=1),
    )
    with qtbot.waitSignal(session.generation_progressed, check_params_cb=lambda p: p.steps_done >= 2):
        session.executor.start([run_id])
    window.close()
    assert not [finding for finding in check(study) if finding.severity == "error"]
    with Project.open(study, read_only=True) as project:
        from banana100_core.project.runs import run, steps

        assert run(project, run_id).state is RunState.PLANNED
        assert len(steps(project, run_id)) >= 3


def test_quitting_while_pictures_are_scored_keeps_every_score(qtbot, window, tmp_path, fill):
    path = tmp_path / "unscored.b100"
    with Project.create(path) as project:
        fill(project, images=3, repeats=3, steps=12, scored=False)
    _open(qtbot, window, path)
    session = window.session
    with qtbot.waitSignal(
        session.scoring_progressed, timeout=60_000, check_params_cb=lambda p: 0 < p.done < p.total
    ) as told:
        session.score_missing()
    window.close()
    assert not [finding for finding in check(path) if finding.severity == "error"]
    with Project.open(path, read_only=True) as project:
        assert len({(s.image_sha256, s.metric) for s in step_scores(project)}) >= told.args[0].done


def test_opening_the_demo_study_begins_no_runs_that_were_added_to_it(qtbot, window, tmp_path, monkeypatch):
    short = make_plan(["Chelsea"], "replicate", "codec_loss", "jpeg-webp", 1, 1, 100).runs
    monkeypatch.setattr(demo, "_plan", lambda: list(short))
    path = tmp_path / "demo.b100"
    with demo.create_demo(path) as project:
        (planned,) = demo.planned_runs(project)
        own = add_run(project, NewRun("Dongpo", "gemini", "gemini-3-pro-image", "replicate", steps_planned=2))
    window.open_demo(path)

    def states() -> dict[int, RunState]:
        return {run.id: run.state for run in window.session.runs}

    qtbot.waitUntil(lambda: states() == {planned: RunState.DONE, own: RunState.PLANNED})
    qtbot.waitUntil(lambda: not window.session.executor.progress().running)
    assert states()[own] is RunState.PLANNED


# As a program


def test_a_picture_of_the_window_is_left_offscreen(study, tmp_path):
    out = tmp_path / "window.png"
    program = _start("-m", "app", study, "--screenshot", out, "--theme", "dark")
    _said, complained = program.communicate(timeout=120)
    assert complained == ""
    assert program.returncode == 0
    picture = QImage(str(out))
    assert picture.width() >= 1200
    assert picture.pixelColor(picture.width() // 2, 6).lightness() < 60
    seen = {picture.pixelColor(x, y).rgb() for x in range(0, picture.width(), 7) for y in range(0, 800, 7)}
    assert len(seen) > 200
    with Project.open(study):
        pass


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_closes_the_window_in_order(study, number):
    program = _start("-m", "app", study, "--watch")
    for line in program.stdout:
        if line.startswith("panels"):
            break
    program.send_signal(number)
    said, complained = program.communicate(timeout=120)
    assert program.returncode == 130
    assert "QThread" not in complained
    assert "Traceback" not in complained
    assert "event loop" in said
    with Project.open(study):
        pass


LOADED = """
import sys
from pathlib import Path
from app.main import MainWindow, QApplication
application = QApplication([])
window = MainWindow(remember=False)
heavy = ("torch", "pyiqa", "pyqtgraph", "skimage", "ncnn", "pandas", "scipy", "qtawesome")
window.first_painted.connect(lambda: print("first", *[name for name in heavy if name in sys.modules]))
window.maker.finished.connect(lambda: print("then", *[name for name in heavy[:2] if name in sys.modules]))
window.maker.finished.connect(window.close)
window.show()
application.exec()
"""


def test_nothing_heavy_is_imported_before_the_first_paint_and_torch_never():
    program = _start("-c", LOADED)
    with contextlib.closing(program.stdout):
        said = program.stdout.read().split("\n")
    program.stderr.close()
    assert program.wait(60) == 0
    assert said[:2] == ["first", "then"]
