"""Fetching a greyed metric's weights in the window, from a stand-in for the hub."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QMainWindow

from app.actions import ActionRegistry
from app.plots.scores import ScoresView
from app.session import Session
from banana100_core.catalog.metrics import metrics
from banana100_core.project import Project
from banana100_core.scoring import terms
from banana100_core.scoring.weights import WeightsState, find
from tests.scoring.hub_mirror import run_mirror, use_mirror

pytest.importorskip("pyiqa")

PATH = "/chaofengc/IQA-PyTorch-Weights/resolve/main/NRQM_model.mat"
CONTENT = bytes(range(256)) * 8192
A_MINUTE = 60_000


@pytest.fixture
def mirror(tmp_path, monkeypatch):
    for mirror in run_mirror():
        use_mirror(monkeypatch, mirror, tmp_path)
        monkeypatch.setenv(terms.VARIABLE, "1")
        yield mirror


@pytest.fixture
def scores(mirror, tmp_path, qtbot):
    """The scores of an empty project, NRQM chosen in their list; it needs one file, of no known digest."""
    window = QMainWindow()
    qtbot.addWidget(window)
    session = Session(window)
    view = ScoresView(session, ActionRegistry(window))
    window.setCentralWidget(view)
    window.resize(1000, 500)
    window.show()
    session.adopt_project(Project.create(tmp_path / "study.b100"))
    qtbot.waitUntil(lambda: bool(view.source.statuses))
    view.list.setCurrentIndex(view.model.index(view.model.row_of("nrqm")))
    yield view
    session.close_project()


def click(qtbot, box, button: str) -> None:
    assert box.button.text() == button
    qtbot.mouseClick(box.button, Qt.MouseButton.LeftButton)


def test_a_greyed_metric_fetches_its_weights(qtbot, scores, mirror) -> None:
    mirror.files[PATH] = CONTENT
    box = scores.weights
    assert box.isVisible()
    assert box.text.text() == "Weights of NRQM are missing."
    assert not scores.model.usable("nrqm")
    shown = []  # each stays only until the next arrives
    box.fetcher.progressed.connect(lambda *_progress: shown.append((box.text.text(), box.bar.isVisible())))
    click(qtbot, box, "Fetch weights")
    assert box.bar.isVisible()
    assert box.button.text() == "Cancel"
    qtbot.waitUntil(lambda: box.text.text() == "NRQM can score now.", timeout=A_MINUTE)
    assert shown[-1] == ("Fetching weights of NRQM\nNRQM_model.mat\n2 of 2 MB", True)
    assert scores.model.usable("nrqm")
    assert not box.bar.isVisible()
    assert box.button.text() == "Score what is missing"
    scores.list.setCurrentIndex(scores.model.index(scores.model.row_of("piqe")))
    assert not box.isVisible(), "nothing to say of a metric that scores"


def test_what_went_wrong_is_said_with_the_way_out(qtbot, scores, mirror) -> None:
    with qtbot.waitSignal(scores.source._session.failed, timeout=A_MINUTE) as told:
        click(qtbot, scores.weights, "Fetch weights")
    assert told.args[0] == "Weights of NRQM can't be fetched"
    assert "404 Not Found" in told.args[1]
    assert "weights add DIR" in told.args[1]
    mirror.files[PATH] = CONTENT
    click(qtbot, scores.weights, "Try again")
    qtbot.waitUntil(lambda: scores.model.usable("nrqm"), timeout=A_MINUTE)


@pytest.mark.parametrize("way", ["button", "closing"])
def test_a_fetch_ends_when_it_is_told_to(qtbot, scores, mirror, tmp_path, way) -> None:
    mirror.files[PATH] = CONTENT
    mirror.stalls_after[PATH] = 1_000_000
    box = scores.weights
    click(qtbot, box, "Fetch weights")
    qtbot.waitUntil(lambda: " of 2 MB" in box.text.text(), timeout=A_MINUTE)
    if way == "button":
        click(qtbot, box, "Cancel")
        qtbot.waitUntil(lambda: box.button.text() == "Fetch weights", timeout=A_MINUTE)
    else:
        scores.window().close()
        scores.source._session.close_project()
    assert box.fetcher.metric is None
    assert find(metrics()["nrqm"].weights[0]).state is WeightsState.MISSING
    assert list(tmp_path.rglob(".arriving*")) == []


def test_terms_are_asked_for_first(qtbot, scores, mirror, monkeypatch) -> None:
    monkeypatch.delenv(terms.VARIABLE)
    click(qtbot, scores.weights, "Fetch weights")
    (dialog,) = [each for each in scores.window().children() if each.objectName() == "terms"]
    dialog.reject()
    assert scores.weights.fetcher.metric is None
    assert mirror.asked == []
