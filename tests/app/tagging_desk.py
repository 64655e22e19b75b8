"""A window with the tag panel on a small study, for the tests of tagging."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QApplication,
    QComboBox,
    QLineEdit,
    QMainWindow,
    QPlainTextEdit,
    QVBoxLayout,
    QWidget,
)

from app.actions import ActionRegistry
from app.session import Session
from app.tagging.panel import TaggingPanel
from app.tagging.rows import Saved
from banana100_core.imaging.decode import inspect
from banana100_core.project import Project
from banana100_core.project.images import NewImage
from banana100_core.project.records import NewRun, NewStep, Outcome
from banana100_core.project.runs import add_run, add_steps
from banana100_core.project.tags import tags

STEPS = 20


def make_study(path, make_png, runs=2):
    """Make a project of runs of 20 steps, all of one picture; give its path."""
    with Project.create(path) as project:
        data = make_png()
        image = NewImage(inspect(data), data=data)
        for repeat in range(1, runs + 1):
            run_id = add_run(
                project, NewRun("coffee", "codec_loss", "jpeg-webp", "replicate", repeat, steps_planned=STEPS)
            )
            numbers = range(STEPS + 1)
            outcomes = [Outcome.DONE if number else Outcome.INITIAL for number in numbers]
            steps = [
                NewStep(run_id, number, outcome) for number, outcome in zip(numbers, outcomes, strict=True)
            ]
            add_steps(project, [(step, image) for step in steps])
    return path


class Desk:
    """A window with the panel and a few other widgets, on a project."""

    def __init__(self, qtbot, path, annotator="ana", *, read_only=False):
        self.qtbot = qtbot
        self.window = QMainWindow()
        qtbot.addWidget(self.window)
        self.registry = ActionRegistry(self.window)
        self.session = Session(self.window, annotator=annotator)
        self.panel = TaggingPanel(self.session, self.registry)
        self.elsewhere = QLineEdit()
        self.memo = QPlainTextEdit()
        self.box = QComboBox()
        self.box.addItems(["north", "south"])
        self.box.setCurrentIndex(1)
        centre = QWidget()
        column = QVBoxLayout(centre)
        for widget in (self.panel, self.elsewhere, self.memo, self.box):
            column.addWidget(widget)
        self.window.setCentralWidget(centre)
        self.window.resize(360, 900)
        self.window.show()
        qtbot.waitExposed(self.window)
        QApplication.setActiveWindow(self.window)
        self.session.adopt_project(Project.open(path, read_only=read_only))
        qtbot.waitUntil(lambda: bool(self.panel.board.names) and self.session.run is not None)
        self.panel.setFocus()
        self.window.setFocus()

    @property
    def project(self):
        return self.session.project

    def press(self, key, modifiers=Qt.KeyboardModifier.NoModifier):
        QTest.keyClick(QApplication.focusWidget() or self.window, key, modifiers)

    def at(self, step):
        self.session.choose_step(step)
        return self

    def saved(self):
        """Wait until every edit is in the project; give the tags of the run."""
        self.qtbot.waitUntil(lambda: all(row.state is Saved.YES for row in self.panel.board.rows))
        return tags(self.project, self.session.run.id)

    def close(self):
        self.session.close_project()

    def act(self, key):
        """Do what a menu entry does."""
        self.registry.qaction(key).trigger()
        return self
