"""Runs the window and works in it as an annotator does: `annotator.py tag PROJECT`, then `annotator.py finish
PROJECT COPY OUT PNG`.

`tag` goes through the queue of runs, tags each from the keyboard and outlines it with the mouse, undoes and
redoes, says what it did, and then waits to be killed. `finish` opens the project again, redoes the rest,
keeps what the first box encloses on the screen as a PNG, merges the copy, reads the agreement, exports COCO
to OUT, all in the dialogs of the window, and says what these showed.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QPoint, QRect, Qt, QTimer
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QFileDialog, QLineEdit

from app import theme
from app.agreement.dialog import AgreementDialog
from app.compare.outlines.frame import mapped
from app.merging.dialog import MergeDialog
from app.tag_files.export_dialog import ExportDialog
from app.window import MainWindow
from banana100_core.project.regions import regions

if TYPE_CHECKING:
    from collections.abc import Callable

    from PySide6.QtWidgets import QDialog, QWidget

    from app.agreement.tables import TextTable

RUNS = 30
UNDONE, REDONE = 3, 1
BOX = (20, 16), (84, 64)
TRIANGLE = (100, 20), (130, 30), (110, 70)
PLAIN = Qt.KeyboardModifier.NoModifier
CTRL, SHIFT = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.ShiftModifier
LEFT = Qt.MouseButton.LeftButton


class Annotator:
    """One person at the keyboard and the mouse of the window."""

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
        self.canvas.setFocus()
        self.wait(lambda: self.window.isActiveWindow() and self.canvas.hasFocus())

    @property
    def canvas(self):
        """The pane of the current step."""
        return self.compare.panes.right

    def wait(self, condition: Callable[[], bool], seconds: float = 60) -> None:
        """Let the window work until something is so."""
        end = time.monotonic() + seconds
        while not condition():
            if time.monotonic() > end:
                raise TimeoutError("the window did not get there")
            self.application.processEvents()
            time.sleep(0.001)

    def press(self, key: Qt.Key, held: Qt.KeyboardModifier = PLAIN) -> None:
        """A key as it comes from the window system: to shortcuts first, then to what has the focus."""
        QTest.keyClick(self.window.windowHandle(), key, held)
        self.application.processEvents()

    def settle(self) -> None:
        """Wait until every edit is in the project, and the pictures are on screen."""
        edits = self.compare.outlines.edits
        self.wait(lambda: edits.settled and self.tagging.is_settled() and self.compare.is_settled())

    # Tagging

    def go_to(self, step: int) -> None:
        """Step through the run from its beginning."""
        self.press(Qt.Key.Key_Home)
        for _ in range(step):
            self.press(Qt.Key.Key_Right)
        assert self.session.step == step
        self.wait(self.compare.is_settled)
        self.press(Qt.Key.Key_1, CTRL)  # each pixel of the picture is one of the screen

    def tag_run(self, number: int) -> None:
        """Tag the run on screen and outline where the failure shows, in some runs at its first step alone."""
        onset = 1 + number % 3
        self.go_to(onset)
        self.press(Qt.Key.Key_C if onset == 3 else Qt.Key.Key_N)
        self.settle()  # the bar of the first tag takes its room below the picture
        self.press(Qt.Key.Key_B, CTRL)
        self._drag(*BOX)
        for _ in range(number % 4):
            self.press(Qt.Key.Key_Right)
        self.press(Qt.Key.Key_Down)
        if number % 6 == 1:
            self.press(Qt.Key.Key_P, CTRL)
            for corner in TRIANGLE:
                QTest.mouseClick(self.window.windowHandle(), LEFT, PLAIN, self._place(*corner))
            self.press(Qt.Key.Key_Return)
        self.press(Qt.Key.Key_Escape)
        if number % 6 == 0:
            self.press(Qt.Key.Key_Right)
            self.wait(self.compare.is_settled)
            self.press(Qt.Key.Key_Tab)
            self.press(Qt.Key.Key_Delete)

    def go_on(self) -> None:
        """Say that this run is done, and go to the next one."""
        here = self.session.run.id
        self.settle()
        self.press(Qt.Key.Key_F12)
        self.wait(lambda: self.session.run.id != here)

    def take_back(self, count: int) -> None:
        """Undo, one edit after another."""
        self._in_log(count, Qt.Key.Key_Z, CTRL, "Undone")

    def redo(self, count: int) -> None:
        """Redo, one edit after another."""
        self._in_log(count, Qt.Key.Key_Z, CTRL | SHIFT, "Redone")

    def keep_box(self, out: Path) -> None:
        """Keep the pixels on screen that the first outline encloses, without the outline."""
        self.press(Qt.Key.Key_H, CTRL)
        frame = self.compare.panes.images[1].frame
        bounds = self.compare.outlines.at(frame).outlines[0].bounds
        corner, other = (
            self._in_pane(each.x(), each.y()) for each in (bounds.topLeft(), bounds.bottomRight())
        )
        self.canvas.grab(QRect(corner, other - QPoint(1, 1))).save(str(out))
        self.press(Qt.Key.Key_H, CTRL)

    def _in_log(self, count: int, key: Qt.Key, held: Qt.KeyboardModifier, word: str) -> None:
        for _ in range(count):
            before = len(self.said)
            self.press(key, held)
            self.wait(lambda before=before: len(self.said) > before)
            assert self.said[-1].startswith(word), self.said[-1]
        run = self.session.run.id
        there = {region.uuid: region for region in regions(self.session.project, run)}
        self.wait(lambda: self.compare.outlines.edits.regions == there)
        self.settle()

    def _in_pane(self, x: float, y: float) -> QPoint:
        (part,) = self.compare.regions.parts(self.canvas)
        return QPoint(*map(round, mapped(part.to_pane, x, y)))

    def _place(self, x: float, y: float) -> QPoint:
        return self.canvas.mapTo(self.window, self._in_pane(x, y))

    def _drag(self, start: tuple[int, int], end: tuple[int, int]) -> None:
        handle, (first, last) = self.window.windowHandle(), (self._place(*start), self._place(*end))
        QTest.mousePress(handle, LEFT, PLAIN, first)
        for place in ((first + last) / 2, last):
            QTest.mouseMove(handle, place)
        QTest.mouseRelease(handle, LEFT, PLAIN, last)
        self.application.processEvents()

    # Copies and files

    def merge(self, copy: Path) -> list[str]:
        """Merge a copy; what the dialog said before and after."""
        self._with_next_file_dialog(copy)
        dialog = self._ask_for("merge copies", MergeDialog)
        self.wait(lambda: not dialog.working and dialog.action.isEnabled())
        told = [dialog.heading.text()]
        self._click(dialog.action)
        self.wait(lambda: not dialog.working and not dialog.action.isVisible())
        told.append(dialog.heading.text())
        self._leave(dialog)
        return told

    def read_agreement(self) -> dict[str, list[list[str]]]:
        """What the tables of the agreement show."""
        dialog = self._ask_for("agreement of annotators", AgreementDialog)
        self.wait(lambda: dialog.settled)
        shown = {"figures": _rows(dialog.figures), "confusion": _rows(dialog.confusion)}
        dialog.tabs.setCurrentIndex(2)
        self.application.processEvents()
        table = dialog.run_table
        place = table.visualRect(dialog.runs.index(0, 0)).center()
        QTest.mouseClick(table.viewport(), LEFT, PLAIN, place)  # which goes to that run
        self._leave(dialog)
        return shown | {"runs": _rows(dialog.runs)}

    def export_coco(self, out: Path) -> str:
        """Export everything to a folder; what the dialog said."""
        dialog = self._ask_for("export tags", ExportDialog)
        dialog.place.selectAll()
        QTest.keyClicks(dialog.place, str(out))
        self.wait(dialog.action.isEnabled)
        self._click(dialog.action)
        self.wait(lambda: not dialog.working and not dialog.action.isVisible())
        told = dialog.heading.text()
        self._leave(dialog)
        return told

    def _ask_for(self, words: str, kind: type[QDialog]):
        """Find an action in the palette; gives the dialog that it opens."""
        self.press(Qt.Key.Key_P, CTRL | SHIFT)
        for letter in words:
            QTest.keyClick(self.window.windowHandle(), letter)
        self.press(Qt.Key.Key_Return)
        self.wait(lambda: self.window.findChild(kind) is not None)
        return self.window.findChild(kind)

    def _with_next_file_dialog(self, file: Path) -> None:
        """Name a file in the dialog for files that comes next, which holds everything up until it is left."""

        def answer() -> None:
            dialog = QApplication.activeModalWidget()
            if not isinstance(dialog, QFileDialog):
                QTimer.singleShot(20, answer)
                return
            field = dialog.findChild(QLineEdit, "fileNameEdit")
            field.setText(str(file))
            QTest.keyClick(field, Qt.Key.Key_Return)

        QTimer.singleShot(0, answer)

    def _click(self, button: QWidget) -> None:
        QTest.mouseClick(button, LEFT)

    def _leave(self, dialog: QDialog) -> None:
        QTest.keyClick(dialog, Qt.Key.Key_Escape)
        self.wait(lambda: not dialog.isVisible())
        self.window.activateWindow()
        self.wait(self.window.isActiveWindow)


def _rows(table: TextTable) -> list[list[str]]:
    side = list(table.side) or [""] * len(table.rows)
    return [[name, *row] if name else list(row) for name, row in zip(side, table.rows, strict=True)]


def tag(annotator: Annotator) -> None:
    """Tag every run of the queue, and the last one only half."""
    visited = []
    for number in range(RUNS):
        visited.append(annotator.session.run.id)
        annotator.tag_run(number)
        if number < RUNS - 1:
            annotator.go_on()
    annotator.settle()
    annotator.take_back(UNDONE)
    annotator.redo(REDONE)
    print(json.dumps({"runs": visited, "said": annotator.said}), flush=True)


def finish(annotator: Annotator, copy: Path, out: Path, png: Path) -> None:
    """Do the rest, and bring together and out what two annotators made."""
    first = annotator.session.run.id
    annotator.wait(lambda: annotator.tagging.work.settled)
    annotator.press(Qt.Key.Key_F10)  # the next one that is not done
    annotator.wait(lambda: annotator.session.run.id != first)
    annotator.redo(UNDONE - REDONE)
    annotator.go_to(1 + (RUNS - 1) % 3)
    annotator.settle()
    annotator.keep_box(png)
    annotator.press(Qt.Key.Key_F12)
    annotator.wait(lambda: annotator.tagging.work.settled)
    told = {"last": annotator.session.run.id, "done": annotator.tagging.work.counts}
    told |= {"merge": annotator.merge(copy), "agreement": annotator.read_agreement()}
    told |= {"disputed": annotator.session.run.id, "export": annotator.export_coco(out)}
    annotator.window.close()
    print(json.dumps(told), flush=True)


def main(stage: str, path: Path, *more: Path) -> None:
    """Work through a stage."""
    application = QApplication([])
    application.setAttribute(Qt.ApplicationAttribute.AA_DontUseNativeDialogs)
    theme.apply(application, theme.Scheme.LIGHT)
    annotator = Annotator(application, path, "ana")
    if stage == "tag":
        tag(annotator)
        application.exec()
    else:
        finish(annotator, *more)


if __name__ == "__main__":
    main(sys.argv[1], *map(Path, sys.argv[2:]))
