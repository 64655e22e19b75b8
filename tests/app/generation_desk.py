"""The panel of generation in a window of its own, for tests of it."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QDockWidget, QMainWindow

from app.actions import ActionRegistry
from app.generation.panel import GenerationPanel
from app.session import Session
from banana100_core.project import Project
from banana100_core.project.records import RunState

A_MINUTE = 60_000


class Desk:
    """A window with the panel in a dock, on an empty project."""

    def __init__(self, qtbot, path, *, read_only=False):
        self.qtbot = qtbot
        self.window = QMainWindow()
        qtbot.addWidget(self.window)
        self.registry = ActionRegistry(self.window)
        self.session = Session(self.window)
        self.panel = GenerationPanel(self.session, self.registry)
        self.form = self.panel.form
        self.dock = QDockWidget("Generation")
        self.dock.setWidget(self.panel)
        self.window.addDockWidget(Qt.DockWidgetArea.RightDockWidgetArea, self.dock)
        self.window.resize(400, 900)
        self.window.show()
        qtbot.waitExposed(self.window)
        self.told = []
        self.session.failed.connect(lambda title, details: self.told.append((title, details)))
        self.session.adopt_project(
            Project.open(path, read_only=read_only) if path.exists() else Project.create(path)
        )
        qtbot.waitUntil(self.panel.is_settled)

    @property
    def project(self):
        return self.session.project

    def add(self, *files):
        self.panel.add_files(list(files))
        self.until(lambda: len(self.form.wishes().images) == len(files))

    def choose_editor(self, provider):
        self.until(lambda: self.form.editors.box.count() > 0)
        self.form.editors.choose(provider)

    def plan(self, *, provider="codec_loss", numbers=3, repeats=1):
        self.choose_editor(provider)
        self.form.steps.setValue(numbers)
        self.form.repeats.setValue(repeats)

    def settled_figures(self):
        self.until(self.panel.is_settled)
        return self.panel.summary.figures

    def until(self, condition):
        self.qtbot.waitUntil(condition, timeout=A_MINUTE)

    def until_done(self, count):
        self.until(lambda: [run.state for run in self.session.runs] == [RunState.DONE] * count)
