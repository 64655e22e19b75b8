"""The panels around the pictures: docks with a quiet heading, which goes where a tab says the same."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QByteArray, QSize, Qt
from PySide6.QtWidgets import QDockWidget, QMainWindow, QTabWidget, QVBoxLayout, QWidget

from app import theme
from app.notifications import plain_label


@dataclass(frozen=True, slots=True)
class Place:
    """A panel's dock: its action, title, first place and first size across."""

    key: str
    title: str
    area: Qt.DockWidgetArea
    size: int
    heading: bool = True


PLACES: tuple[Place, ...] = (
    Place("runs", "Runs", Qt.DockWidgetArea.LeftDockWidgetArea, 38 * theme.GRID),
    Place("tag", "Tag", Qt.DockWidgetArea.RightDockWidgetArea, 36 * theme.GRID),
    Place("generation", "Generation", Qt.DockWidgetArea.RightDockWidgetArea, 36 * theme.GRID),
    # Its own tabs head it.
    Place("scores", "Scores", Qt.DockWidgetArea.BottomDockWidgetArea, 32 * theme.GRID, heading=False),
)


class PanelDock(QDockWidget):
    """A dock that keeps room for its panel until the panel is made."""

    def __init__(self, place: Place, parent: QMainWindow) -> None:
        super().__init__(place.title, parent)
        self.place = place
        self.setObjectName(f"dock_{place.key}")
        self.setWidget(_Room(place))
        self._label = _Heading(place.title)
        self._handle = _Handle()
        self.show_heading(shown=place.heading)

    def show_heading(self, *, shown: bool) -> None:
        """Show the title, or only a strip to drag the panel by."""
        self.setTitleBarWidget(self._label if shown and self.place.heading else self._handle)
        self._label.setVisible(shown and self.place.heading)
        self._handle.setVisible(not (shown and self.place.heading))

    def set_panel(self, panel: QWidget) -> None:
        """Put the panel in."""
        room = self.widget()
        self.setWidget(panel)
        room.deleteLater()


class Docks:
    """The docks of a window and their arrangement."""

    def __init__(self, window: QMainWindow) -> None:
        self._window = window
        self._away: QByteArray | None = None
        window.setDockOptions(
            QMainWindow.DockOption.AllowNestedDocks
            | QMainWindow.DockOption.AllowTabbedDocks
            | QMainWindow.DockOption.GroupedDragging
        )
        window.setTabPosition(Qt.DockWidgetArea.AllDockWidgetAreas, QTabWidget.TabPosition.North)
        for corner in (Qt.Corner.BottomLeftCorner, Qt.Corner.BottomRightCorner):
            window.setCorner(corner, Qt.DockWidgetArea.BottomDockWidgetArea)
        self.docks = {place.key: PanelDock(place, window) for place in PLACES}
        for dock in self.docks.values():
            dock.dockLocationChanged.connect(self.show_headings)
        self.arrange()

    def arrange(self) -> None:
        """Put all docks where they belong at first."""
        self._away = None
        for dock in self.docks.values():
            dock.setFloating(False)
            self._window.addDockWidget(dock.place.area, dock)
            dock.show()
        self._window.tabifyDockWidget(self.docks["tag"], self.docks["generation"])
        self.docks["tag"].raise_()
        sideways = [self.docks[key] for key in ("runs", "tag")]
        self._window.resizeDocks(sideways, [dock.place.size for dock in sideways], Qt.Orientation.Horizontal)
        bottom = self.docks["scores"]
        self._window.resizeDocks([bottom], [bottom.place.size], Qt.Orientation.Vertical)
        self.show_headings()

    def put_away(self) -> None:
        """Hide all docks until `bring_back`: without a project they have nothing to show."""
        if self._away is None:
            self._away = self._window.saveState()
            for dock in self.docks.values():
                dock.hide()

    def bring_back(self) -> None:
        """Show the docks that were shown before `put_away`, where they were."""
        if self._away is not None:
            state, self._away = self._away, None
            self._window.restoreState(state)
            self.show_headings()

    def state(self) -> QByteArray:
        """The arrangement, to be restored at the next start."""
        return self._window.saveState() if self._away is None else self._away

    def restore(self, state: QByteArray) -> None:
        """Put the docks where they were left."""
        if self._away is None:
            self._window.restoreState(state)
            self.show_headings()
        else:
            self._away = state

    def show(self, dock: PanelDock, *, shown: bool) -> None:
        """Show a dock, before its neighbours among tabs, or hide it."""
        dock.setVisible(shown)
        if shown:
            dock.raise_()

    def show_headings(self) -> None:
        """A dock among tabs has its title there already."""
        for dock in self.docks.values():
            dock.show_heading(shown=not self._window.tabifiedDockWidgets(dock))


class _Room(QWidget):
    """Holds a panel's place before the panel is there, so that nothing jumps when it comes."""

    def __init__(self, place: Place) -> None:
        super().__init__()
        self._size = place.size

    def sizeHint(self) -> QSize:
        return QSize(self._size, self._size)


class _Heading(QWidget):
    def __init__(self, title: str) -> None:
        super().__init__()
        label = plain_label(title)
        label.setObjectName("dock_title")
        column = QVBoxLayout(self)
        column.setContentsMargins(0, theme.GRID // 2, 0, 0)
        column.addWidget(label)


class _Handle(QWidget):
    def sizeHint(self) -> QSize:
        return QSize(theme.GRID, theme.GRID // 2)

    def minimumSizeHint(self) -> QSize:
        return self.sizeHint()
