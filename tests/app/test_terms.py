"""pyiqa's terms in the window: a metric that waits for them, and one that doesn't."""

from __future__ import annotations

import pytest
from PySide6.QtWidgets import QDialogButtonBox, QMainWindow

from app.actions import ActionRegistry
from app.plots.panel import ScorePlotPanel
from app.plots.terms import TermsDialog
from app.session import Session
from banana100_core.project import Project
from banana100_core.scoring import terms


@pytest.fixture
def panel(qtbot, tmp_path, monkeypatch):
    """NRQM's weights have no known digest, so that a file of their name makes it wait for the terms alone."""
    pytest.importorskip("pyiqa")
    weights = tmp_path / "torch" / "hub" / "pyiqa"
    weights.mkdir(parents=True)
    (weights / "NRQM_model.mat").write_bytes(b"a model")
    monkeypatch.setenv("TORCH_HOME", str(tmp_path / "torch"))
    monkeypatch.delenv(terms.VARIABLE, raising=False)
    Project.create(tmp_path / "study.b100").close()
    window = QMainWindow()
    qtbot.addWidget(window)
    session = Session(window)
    panel = ScorePlotPanel(session, ActionRegistry(window))
    window.setCentralWidget(panel)
    window.resize(900, 300)
    window.show()
    assert session.open_project(tmp_path / "study.b100")
    qtbot.waitUntil(lambda: panel.scores.source.statuses != {})
    yield panel
    session.close_project()


def answer(panel, role) -> None:
    panel.terms.button.click()
    dialog = panel.window().findChild(TermsDialog)
    (button,) = [each for each in dialog.buttons.buttons() if dialog.buttons.buttonRole(each) is role]
    button.click()


def test_a_metric_waits_until_its_terms_are_accepted(qtbot, panel) -> None:
    model = panel.scores.model
    assert panel.terms.isVisible()
    assert panel.terms.text.text().startswith("1 metric waits for you to accept")
    assert not model.usable("nrqm")
    assert model.usable("piqe")
    answer(panel, QDialogButtonBox.ButtonRole.RejectRole)
    assert not terms.accepted()
    assert panel.terms.isVisible()
    answer(panel, QDialogButtonBox.ButtonRole.AcceptRole)
    assert terms.accepted()
    qtbot.waitUntil(lambda: model.usable("nrqm"))
    assert not panel.terms.isVisible()


def test_what_can_not_be_written_down_is_told(qtbot, panel, tmp_path, monkeypatch) -> None:
    (tmp_path / "config").write_bytes(b"")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    session = panel.terms._session
    with qtbot.waitSignal(session.failed) as told:
        answer(panel, QDialogButtonBox.ButtonRole.AcceptRole)
    assert "can't be written" in told.args[1]
    assert panel.terms.isVisible()
