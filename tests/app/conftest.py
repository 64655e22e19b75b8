"""Projects for the window, and settings of its own for each test."""

from __future__ import annotations

import gc
from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import QSettings
from pytestqt.qtbot import QtBot

from banana100_core.imaging.decode import inspect
from banana100_core.project import Project
from banana100_core.project.images import NewImage, add_initial_image
from banana100_core.project.records import NewRun, NewScore, NewStep, Outcome, RunState
from banana100_core.project.runs import add_run, add_steps
from banana100_core.project.scores import add_scores

if TYPE_CHECKING:
    from pathlib import Path

METRICS = {"piqe": 30.0, "brisque": 20.0, "niqe": 4.0}
PATIENCE_MS = 60_000


class PatientBot(QtBot):
    """Waits longer before it gives up than QtBot does, since tests run beside others."""

    def waitUntil(self, callback, *, timeout=PATIENCE_MS):
        super().waitUntil(callback, timeout=timeout)

    def waitSignal(self, signal, *, timeout=PATIENCE_MS, **options):
        return super().waitSignal(signal, timeout=timeout, **options)


@pytest.fixture
def qtbot(qapp, request):
    """As pytest-qt's own, with patience."""
    return PatientBot(request)


@pytest.fixture(autouse=True)
def own_qsettings(tmp_path_factory):
    """Qt looks only once for where settings are kept, so the environment is not enough."""
    folder = tmp_path_factory.mktemp("qsettings")
    QSettings.setPath(QSettings.Format.IniFormat, QSettings.Scope.UserScope, str(folder))


@pytest.fixture(autouse=True)
def own_data(tmp_path_factory, monkeypatch) -> Path:
    """No test may leave anything among the user's data; what is kept there goes into this folder."""
    folder = tmp_path_factory.mktemp("data")
    monkeypatch.setenv("XDG_DATA_HOME", str(folder))
    return folder


@pytest.fixture(autouse=True)
def garbage_on_this_thread():
    """As in the program: a widget in a reference cycle must not be destroyed on a thread of the core."""
    gc.collect()
    gc.freeze()  # what lives on is not looked through again
    gc.disable()
    yield
    gc.collect()
    gc.enable()


@pytest.fixture(scope="session")
def styled(qapp):
    """The program's style, which it gets once."""
    from app import theme

    theme.apply(qapp, theme.Scheme.LIGHT)


@pytest.fixture(autouse=True)
def look(styled):
    """The program's look, in light."""
    from app import theme

    theme.set_scheme(theme.Scheme.LIGHT)


@pytest.fixture(scope="session")
def fill(make_png):
    """Adds runs of real pictures to a project: `repeats` runs for each initial image, of `steps` steps."""

    def fill(
        project: Project,
        *,
        images: int = 2,
        repeats: int = 2,
        steps: int = 4,
        scored: bool = True,
        state: RunState = RunState.DONE,
    ) -> list[int]:
        run_ids = []
        for number in range(1, images + 1):
            name = f"Image {number}"
            data = make_png(96, 64, seed=number)
            initial = NewImage(inspect(data, name=name), data=data)
            add_initial_image(project, name, initial, credit="made for a test")
            for repeat in range(1, repeats + 1):
                run_id = add_run(
                    project,
                    NewRun(
                        initial_image=name,
                        provider="restoration_loop",
                        model="realesr-animevideov3-x2",
                        protocol="replicate",
                        repeat=repeat,
                        steps_planned=steps,
                        seed=repeat,
                        state=state,
                    ),
                )
                run_ids.append(run_id)
                new_steps: list[tuple[NewStep, NewImage | None]] = [
                    (NewStep(run_id, 0, Outcome.INITIAL), initial)
                ]
                for step in range(1, steps + 1):
                    made = make_png(96, 64, seed=1000 * number + 100 * repeat + step)
                    new_steps.append(
                        (
                            NewStep(run_id, step, Outcome.DONE, prompt="again", reasoning="as it was"),
                            NewImage(inspect(made, name=f"step {step}"), data=made),
                        )
                    )
                add_steps(project, new_steps)
                if scored:
                    add_scores(
                        project,
                        [
                            NewScore(image.image.sha256, metric, "test-1", start + step.number)
                            for step, image in new_steps
                            if image is not None
                            for metric, start in METRICS.items()
                        ],
                    )
        return run_ids

    return fill


@pytest.fixture
def study(tmp_path, fill) -> Path:
    """A closed project file with two initial images and two finished, scored runs of each."""
    path = tmp_path / "study.b100"
    with Project.create(path) as project:
        fill(project)
    return path


@pytest.fixture
def session(qtbot):
    """A session with nothing open; closed at the end."""
    from app.session import Session

    session = Session(annotator="Ada")
    yield session
    session.close_project()


@pytest.fixture
def window(qtbot):
    """The window, shown, with all its panels made."""
    from app.window import MainWindow

    window = MainWindow()
    qtbot.addWidget(window)
    with qtbot.waitSignal(window.maker.finished):
        window.show()
    yield window
    window.close()
