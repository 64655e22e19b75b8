"""Runs the window and works in it as an annotator does, with keys alone: `annotator.py PROJECT STAGE [PNG]`.

The stage `tag` tags 30 runs and outlines them, undoes and redoes, says what it left, and then waits to be
killed. The stage `resume` opens the project again, redoes the rest, and keeps what the first box encloses on
the screen as a PNG.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QRect, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from app import theme
from app.compare.outlines.frame import mapped
from app.window import MainWindow

if TYPE_CHECKING:
    from collections.abc import Callable

RUNS = 30
UNDONE, REDONE = 3, 1
CTRL, SHIFT = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.ShiftModifier


class Annotator:
    """One person at the keyboard of the window."""

    def __init__(self, application: QApplication, path: Path, name: str) -> None:
        self.application = application
        self.window = MainWindow(remember=False)
        self.window.resize(1400, 900)
        self.window.show()
        self.wait(lambda: self.window.maker.complete)
        self.session = self.window.session
        self.session.annotator = name
        self.compare = self.window.maker.panels["compare"]
        self.tagging = self.window.maker.panels["tag"]
        self.said: list[str] = []
        self.tagging.board.said.connect(self.said.append)
        self.window.open_project(path)
        self.wait(lambda: self.session.run is not None and self.window.is_settled())
        self.window.activateWindow()
        self.compare.panes.right.setFocus()
        self.wait(lambda: self.window.isActiveWindow() and self.compare.panes.right.hasFocus())

    def wait(self, condition: Callable[[], bool], seconds: float = 60) -> None:
        """Let the window work until something is so."""
        end = time.monotonic() + seconds
        while not condition():
            if time.monotonic() > end:
                raise TimeoutError("the window did not get there")
            self.application.processEvents()
            time.sleep(0.001)

    def press(self, key: Qt.Key, held: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier) -> None:
        """A key as it comes from the window system: to shortcuts first, then to what has the focus."""
        QTest.keyClick(self.window.windowHandle(), key, held)
        self.application.processEvents()

    def go_to(self, step: int) -> None:
        """Step through the run from its beginning."""
        self.press(Qt.Key.Key_Home)
        for _ in range(step):
            self.press(Qt.Key.Key_Right)
        assert self.session.step == step

    def tag_run(self, number: int) -> None:
        """Tag the run on screen and outline where the failure shows."""
        self.go_to(1 + number % 3)
        self.press(Qt.Key.Key_C if number % 3 == 2 else Qt.Key.Key_N)
        self.press(Qt.Key.Key_B, CTRL)
        self.press(Qt.Key.Key_Return)  # in the middle
        for _ in range(number % 4):
            self.press(Qt.Key.Key_Right)
        self.press(Qt.Key.Key_Down)
        if number % 6 == 1:
            self.press(Qt.Key.Key_P, CTRL)
            self.press(Qt.Key.Key_Return)
        self.press(Qt.Key.Key_Escape)

    def take_back(self, count: int) -> None:
        """Undo, one edit after another."""
        self._in_log(count, Qt.Key.Key_Z, CTRL, "Undone")

    def redo(self, count: int) -> None:
        """Redo, one edit after another."""
        self._in_log(count, Qt.Key.Key_Z, CTRL | SHIFT, "Redone")

    def settle(self) -> None:
        """Wait until every edit is in the project."""
        edits = self.compare.outlines.edits
        self.wait(lambda: edits.settled and self.tagging.is_settled())

    def keep_box(self, out: Path) -> None:
        """Keep the pixels on screen that the first outline encloses, at 1:1 and without the outline."""
        self.press(Qt.Key.Key_1, CTRL)
        self.press(Qt.Key.Key_H, CTRL)
        canvas = self.compare.panes.right
        frame = self.compare.panes.images[1].frame
        (part,) = self.compare.regions.parts(canvas)
        bounds = self.compare.outlines.at(frame).outlines[0].bounds
        left, top = mapped(part.to_pane, bounds.left(), bounds.top())
        right, bottom = mapped(part.to_pane, bounds.right(), bounds.bottom())
        area = QRect(round(left), round(top), round(right - left), round(bottom - top))
        canvas.grab(area).save(str(out))

    def _in_log(self, count: int, key: Qt.Key, held: Qt.KeyboardModifier, word: str) -> None:
        for _ in range(count):
            before = len(self.said)
            self.press(key, held)
            self.wait(lambda before=before: len(self.said) > before)
            assert self.said[-1].startswith(word), self.said[-1]
        self.settle()


def main(path: Path, stage: str, out: Path) -> None:
    """Work through a stage."""
    application = QApplication([])
    theme.apply(application, theme.Scheme.LIGHT)
    annotator = Annotator(application, path, "ana")
    if stage == "tag":
        for number in range(RUNS):
            annotator.tag_run(number)
            if number < RUNS - 1:
                here = annotator.session.run
                annotator.press(Qt.Key.Key_Down, CTRL)
                annotator.wait(lambda here=here: annotator.session.run is not here)
        annotator.take_back(UNDONE)
        annotator.redo(REDONE)
        print(json.dumps({"run": annotator.session.run.id, "said": annotator.said}), flush=True)
        application.exec()
        return
    annotator.redo(UNDONE - REDONE)
    annotator.go_to(1)
    annotator.wait(annotator.window.is_settled)
    annotator.keep_box(out)
    annotator.window.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], Path(sys.argv[-1]))
