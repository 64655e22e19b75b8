"""The window: menu, docks, messages, and the panels, which are made after its first paint."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QAction, QCloseEvent, QDragEnterEvent, QDropEvent, QGuiApplication, QPaintEvent
from PySide6.QtWidgets import (
    QDialog,
    QFileDialog,
    QMainWindow,
    QStackedWidget,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from app import theme
from app.actions import ActionRegistry, Slot
from app.curtain import curtained
from app.docks import Docks, PanelDock
from app.focus import focus_next
from app.help import show_about, show_keys
from app.memory import Memory
from app.menus import fill_menus
from app.needs import Needs
from app.notifications import MessageBar
from app.opening import SUFFIX, Failure, Opener, demo_file
from app.palette import Choice, Palette, action_choices
from app.panels import MIDDLE, REASONING, PanelMaker
from app.session import Session
from app.settings import Settings, SettingsDialog
from app.status import StatusBar
from app.tag_dialogs import TagDialogs
from app.welcome import Welcome

if TYPE_CHECKING:
    from collections.abc import Callable

    from banana100_core.project import Project

FILE_FILTER = f"Banana100 projects (*{SUFFIX})"


class MainWindow(QMainWindow):
    """Ties session, actions and panels together; decides nothing about a study itself."""

    first_painted = Signal()

    def __init__(self, settings: Settings | None = None, *, remember: bool = True) -> None:
        """With `remember` off, neither layout nor recent projects are read or kept."""
        super().__init__()
        self.settings = settings or Settings(self)
        self._remember = remember
        self.session = Session(self, annotator=self.settings.text("annotator"))
        Memory(self.session, kept=remember)
        self.registry = ActionRegistry(self)
        self.maker = PanelMaker(self.session, self.registry, self)
        self.maker.made.connect(self._place_panel)
        self.maker.finished.connect(self._finish_panels)
        self._opener = Opener(self)
        self._opener.opened.connect(self._take_project)
        self._opener.failed.connect(self._show_failure)
        self._when_made: list[Callable[[], object]] = []
        self._goes_on = False

        self.messages = MessageBar()
        self.welcome = Welcome(self.registry, self.open_project)
        self.middle = QStackedWidget()
        self.middle.addWidget(self.welcome)
        centre = _Centre(self.first_painted.emit)
        column = QVBoxLayout(centre)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.messages)
        column.addWidget(self.middle, 1)
        self.setCentralWidget(centre)
        self.setStatusBar(StatusBar(self.session))
        self.setDocumentMode(True)
        self.docks = Docks(self)
        fill_menus(self.menuBar(), self.registry)
        self.palette_box = Palette(self)
        self._connect_actions()
        self.needs = Needs(self.session, self.registry, self)
        self.tag_dialogs = TagDialogs(self.session, self.registry, self)

        self.session.failed.connect(self.messages.show_error)
        self.session.project_opened.connect(self._show_project)
        self.session.project_closed.connect(self._show_project)
        for changed in (self.session.runs_updated, self.session.run_changed):
            changed.connect(self._show_middle)
        self.settings.changed.connect(self._take_setting)
        self.first_painted.connect(self.maker.start, Qt.ConnectionType.QueuedConnection)
        self.setAcceptDrops(True)
        self._restore_layout()
        self._show_project()

    # Opening

    def open_project(self, path: Path, *, read_only: bool = False) -> None:
        """Open a project file in the background; a message says why when it can't be."""
        self._say_opening(path)
        self._opener.open(path, read_only=read_only)

    def open_demo(self, path: Path | None = None) -> None:
        """Open the demo study, made if it isn't there; its runs go on and are scored as they arrive."""
        path = path or demo_file()
        self._goes_on = True
        self._say_opening(path)
        self._opener.open_demo(path)

    def import_folder(self, folder: Path) -> None:
        """Show what a folder of pictures holds, and import it if the user wants it."""
        from app.importing import ImportDialog

        if self.session.project is None:
            self.messages.show_error(
                f"{folder.name} needs a project to go into", "Open one or make a new one, then import again."
            )
            return
        dialog = ImportDialog(self.session, folder, self)
        dialog.imported.connect(lambda text: self.statusBar().showMessage(text, 10_000))
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()

    def is_settled(self) -> bool:
        """Whether the panels are made, and their pictures, thumbnails and curves have arrived."""
        return self.maker.settled()

    def _say_opening(self, path: Path) -> None:
        self.messages.hide()
        if self.session.project is None:
            self.welcome.show_opening(path.name)
            self.docks.bring_back()

    def _take_project(self, project: Project) -> None:
        goes_on, self._goes_on = self._goes_on, False
        if self._remember:
            self.settings.remember_project(project.path)
        self._once_made(lambda: self._adopt(project, goes_on=goes_on))

    def _adopt(self, project: Project, *, goes_on: bool) -> None:
        self.session.adopt_project(project)
        executor = self.session.executor
        if goes_on and executor is not None:
            self.session.in_background(lambda: executor.start(_demo_runs(project)))
        if goes_on or self.settings.flag("score_on_opening"):
            self.session.score_missing()

    def _show_failure(self, failure: Failure) -> None:
        self._goes_on = False
        self._show_project()
        self.messages.show_error(f"{failure.path.name} can't be opened", failure.reason)
        if failure.readable:
            self.messages.offer("Open read-only", lambda: self.open_project(failure.path, read_only=True))

    # What is shown

    def _show_project(self) -> None:
        project = self.session.project
        self.setWindowTitle(
            f"{project.path.name} — Banana100 Inspector" if project else "Banana100 Inspector"
        )
        if project is None:
            self.docks.put_away()
        else:
            self.docks.bring_back()
        self._show_middle()

    def _show_middle(self) -> None:
        run = self.session.run
        if run is not None and MIDDLE in self.maker.panels:
            if self.middle.currentWidget() is self.welcome:
                self.middle.setCurrentWidget(self.maker.panels[MIDDLE])
                # Else Qt moves the focus on to a text field, which would take the letters of failure modes.
                self.maker.panels[MIDDLE].setFocus()
            return
        if self.session.project is None:
            self.welcome.show_start(self.settings.recent_projects() if self._remember else [])
        elif run is None:
            self.welcome.show_no_runs()
        self.middle.setCurrentWidget(self.welcome)

    def _take_setting(self, key: str) -> None:
        if key == "annotator":
            self.session.annotator = self.settings.text("annotator")
        elif key == "theme":
            self._show_scheme()
        elif key == "picture_memory" and MIDDLE in self.maker.panels:
            self._bound_pictures(self.maker.panels[MIDDLE])

    def _show_scheme(self) -> None:
        chosen = theme.Scheme(self.settings.text("theme"))
        self.registry.qaction(f"view.theme_{chosen}").setChecked(True)
        theme.set_scheme(chosen)

    def _place_panel(self, place: str, panel: QWidget) -> None:
        if place == MIDDLE:
            self._bound_pictures(panel)
            self.middle.addWidget(panel)
        elif place == REASONING:
            self.maker.panels["scores"].add_tab(panel, "Reasoning")  # type: ignore[attr-defined]
        else:
            self.docks.docks[place].set_panel(curtained(self.session, place, panel))

    def _bound_pictures(self, panel: QWidget) -> None:
        megabytes = self.settings.text("picture_memory")
        panel.pictures.loader.bound(int(megabytes) * 2**20 if megabytes else None)  # type: ignore[attr-defined]

    def _finish_panels(self) -> None:
        self._show_middle()
        self.needs.show()
        calls, self._when_made = self._when_made, []
        for call in calls:
            call()

    def _once_made(self, call: Callable[[], object]) -> None:
        if self.maker.complete:
            call()
        else:
            self._when_made.append(call)

    # Actions

    def _connect_actions(self) -> None:
        registry, session = self.registry, self.session
        slots: dict[str, Slot] = {
            "file.new": self._ask_new,
            "file.open": self._ask_open,
            "file.recent": self._ask_recent,
            "file.demo": self.open_demo,
            "file.import": self._ask_import,
            "file.close": session.close_project,
            "file.quit": self.close,
            "edit.settings": self._ask_settings,
            "view.next_panel": lambda: focus_next(self.maker.panels.values()),
            "view.reset_layout": self.docks.arrange,
            "view.full_screen": self._show_full_screen,
            "run.next_step": session.next_step,
            "run.previous_step": session.previous_step,
            "run.first_step": session.first_step,
            "run.last_step": session.last_step,
            "run.set_reference": lambda: session.choose_reference(session.step),
            "run.next_reference": session.next_reference,
            "run.previous_reference": session.previous_reference,
            "run.go_to_reference": lambda: session.choose_step(session.reference_step),
            "score.missing": session.score_missing,
            "score.pause": session.pause_scoring,
            "score.resume": session.resume_scoring,
            "score.cancel": session.cancel_scoring,
            "score.retry_failed": session.retry_failed,
            "help.palette": self._ask_action,
            "help.keys": lambda: show_keys(self, session.project),
            "help.about": lambda: show_about(self),
        }
        for key, slot in slots.items():
            registry.connect(key, slot)
        for scheme in theme.Scheme:
            registry.connect(f"view.theme_{scheme}", partial(self._choose_scheme, scheme))
        for key, dock in self.docks.docks.items():
            action = registry.qaction(f"view.panel_{key}")
            registry.connect(f"view.panel_{key}", partial(self._show_dock, dock))
            dock.visibilityChanged.connect(partial(_show_whether, action, dock))
        corner = QToolButton(self.menuBar())
        corner.setDefaultAction(registry.qaction("help.palette"))
        corner.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        corner.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.menuBar().setCornerWidget(corner)
        self._show_scheme()

    def _choose_scheme(self, scheme: theme.Scheme, _checked: bool) -> None:
        self.settings.change({"theme": scheme.value})

    def _show_dock(self, dock: PanelDock, checked: bool) -> None:
        self.docks.show(dock, shown=checked)

    def _ask_new(self) -> None:
        name, _filter = QFileDialog.getSaveFileName(self, "New project", f"study{SUFFIX}", FILE_FILTER)
        if name:
            path = Path(name) if name.endswith(SUFFIX) else Path(f"{name}{SUFFIX}")
            self._say_opening(path)
            self._opener.create(path)

    def _ask_open(self) -> None:
        name, _filter = QFileDialog.getOpenFileName(self, "Open project", "", FILE_FILTER)
        if name:
            self.open_project(Path(name))

    def _ask_recent(self) -> None:
        choices = [
            Choice(path.name, str(path.parent), "", partial(self.open_project, path))
            for path in self.settings.recent_projects()
        ]
        self.palette_box.ask(choices, "Recent projects")

    def _ask_import(self) -> None:
        name = QFileDialog.getExistingDirectory(self, "Import a folder of pictures")
        if name:
            self.import_folder(Path(name))

    def _ask_settings(self) -> None:
        dialog = SettingsDialog(self.settings, self)
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()

    def _ask_action(self) -> None:
        self.palette_box.ask(action_choices(self.registry), "Find an action")

    def _show_full_screen(self, checked: bool) -> None:
        if checked:
            self.showFullScreen()
        else:
            self.showNormal()

    # Layout and leaving

    def _restore_layout(self) -> None:
        stored = self.settings.layout() if self._remember else None
        if stored is None:
            self.resize(_first_size())
            return
        geometry, state = stored
        self.restoreGeometry(geometry)
        self.docks.restore(state)

    def closeEvent(self, event: QCloseEvent) -> None:
        """End everything that runs, wait for it, keep the layout."""
        if self._remember:
            self.settings.remember_layout(self.saveGeometry(), self.docks.state())
        for dialog in self.findChildren(QDialog):
            dialog.reject()
        self.hide()
        self._opener.close()
        self.session.close_project()
        super().closeEvent(event)

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        """Take a project file or a folder."""
        if _dropped(event) is not None:
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:
        """Open the project, or show what the folder holds."""
        path = _dropped(event)
        if path is None:
            return
        event.acceptProposedAction()
        if path.is_dir():
            self.import_folder(path)
        else:
            self.open_project(path)


class _Centre(QWidget):
    """Tells when the window has been painted for the first time."""

    def __init__(self, painted: Callable[[], object]) -> None:
        super().__init__()
        self._painted: Callable[[], object] | None = painted

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        if self._painted is not None:
            painted, self._painted = self._painted, None
            painted()


def _show_whether(action: QAction, dock: PanelDock, _visible: bool) -> None:
    # A dock behind another tab is not visible, but not hidden either.
    action.setChecked(not dock.isHidden())


def _first_size() -> QSize:
    wanted = QSize(200 * theme.GRID, 125 * theme.GRID)
    if QGuiApplication.platformName() == "offscreen":
        return wanted
    return wanted.boundedTo(QGuiApplication.primaryScreen().availableSize() * 0.9)


def _dropped(event: QDropEvent) -> Path | None:
    urls = event.mimeData().urls()
    path = Path(urls[0].toLocalFile()) if len(urls) == 1 and urls[0].isLocalFile() else None
    return path if path is not None and (path.suffix == SUFFIX or path.is_dir()) else None


def _demo_runs(project: Project) -> list[int]:
    from banana100_core.demo import planned_runs  # not needed to show a window

    return planned_runs(project)
