"""What the program remembers between starts: the table of settings, their store, and their dialog."""

from __future__ import annotations

import getpass
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QByteArray, QObject, QSettings, Signal
from PySide6.QtWidgets import (
    QCheckBox,
    QDialog,
    QDialogButtonBox,
    QFormLayout,
    QLabel,
    QLineEdit,
    QVBoxLayout,
    QWidget,
)

from app import theme
from app.parts import Choices

if TYPE_CHECKING:
    from collections.abc import Mapping

ORGANIZATION = "Banana100"
APPLICATION = "Inspector"
RECENT_COUNT = 12

Value = str | bool


@dataclass(frozen=True, slots=True)
class Setting:
    """One thing the user decides once; `choices` are pairs of stored value and text."""

    key: str
    label: str
    tip: str
    default: Value
    choices: tuple[tuple[str, str], ...] = ()


SETTINGS: tuple[Setting, ...] = (
    Setting("annotator", "Annotator", "The name that each of your tags carries.", getpass.getuser()),
    Setting(
        "theme",
        "Theme",
        "Dark and light; the system's choice by default.",
        theme.Scheme.SYSTEM.value,
        (("system", "As the system"), ("dark", "Dark"), ("light", "Light")),
    ),
    Setting(
        "picture_memory",
        "Memory for pictures",
        "What decoded pictures may take while a project is open; with more, more steps are there at once.",
        "",
        (
            ("", "A quarter of this machine's, 2 GB at most"),
            *((str(2**place), f"{2**place} MB") for place in range(9, 14)),
        ),
    ),
    Setting(
        "score_on_opening",
        "Score when a project opens",
        "Begin at once with every picture that has no score, instead of when asked.",
        default=False,
    ),
)


class Settings(QObject):
    """The store of settings, recent projects and the layout; its file is replaced as a whole."""

    changed = Signal(str)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._store = QSettings(
            QSettings.Format.IniFormat, QSettings.Scope.UserScope, ORGANIZATION, APPLICATION
        )

    def text(self, key: str) -> str:
        """The value of a setting that is a text or a choice."""
        setting = _setting(key)
        stored = str(self._store.value(f"settings/{key}", setting.default))
        allowed = [value for value, _text in setting.choices]
        return str(setting.default) if allowed and stored not in allowed else stored

    def flag(self, key: str) -> bool:
        """The value of a setting that is on or off."""
        return str(self._store.value(f"settings/{key}", _setting(key).default)).lower() == "true"

    def change(self, values: Mapping[str, Value]) -> None:
        """Keep new values, and tell which differ."""
        before = {key: self._store.value(f"settings/{key}", _setting(key).default) for key in values}
        for key, value in values.items():
            self._store.setValue(f"settings/{key}", value)
        self._store.sync()
        for key, value in values.items():
            if str(before[key]).lower() != str(value).lower():
                self.changed.emit(key)

    def recent_projects(self) -> list[Path]:
        """Projects opened last that are still there, the latest first."""
        stored = self._store.value("recent", [])
        names = stored if isinstance(stored, list) else [stored]
        return [path for path in map(Path, map(str, names)) if path.is_file()]

    def remember_project(self, path: Path) -> None:
        """Put a project at the head of the recent ones."""
        path = path.absolute()
        recent = [path, *(each for each in self.recent_projects() if each != path)]
        self._store.setValue("recent", [str(each) for each in recent[:RECENT_COUNT]])

    def layout(self) -> tuple[QByteArray, QByteArray] | None:
        """Geometry and dock state of the window when it was last closed."""
        geometry, state = self._store.value("window/geometry"), self._store.value("window/state")
        if isinstance(geometry, QByteArray) and isinstance(state, QByteArray):
            return geometry, state
        return None

    def remember_layout(self, geometry: QByteArray, state: QByteArray) -> None:
        """Keep geometry and dock state for the next start."""
        self._store.setValue("window/geometry", geometry)
        self._store.setValue("window/state", state)
        self._store.sync()


class SettingsDialog(QDialog):
    """Asks for all settings of the table; keeps them only when it is accepted."""

    def __init__(self, settings: Settings, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._settings = settings
        self.setWindowTitle("Settings")
        self.setMinimumWidth(52 * theme.GRID)
        self._fields: dict[str, QWidget] = {}
        form = QFormLayout(self)
        form.setContentsMargins(3 * theme.GRID, 3 * theme.GRID, 3 * theme.GRID, 2 * theme.GRID)
        form.setHorizontalSpacing(2 * theme.GRID)
        form.setVerticalSpacing(2 * theme.GRID)
        for setting in SETTINGS:
            field = self._field(setting)
            self._fields[setting.key] = field
            tip = QLabel(setting.tip)
            tip.setProperty("muted", True)  # noqa: FBT003 - Qt takes the value by place
            tip.setWordWrap(True)
            column = QVBoxLayout()
            column.setSpacing(theme.GRID // 2)
            column.addWidget(field)
            column.addWidget(tip)
            name = QLabel(setting.label)
            name.setBuddy(field)
            form.addRow(name, column)
        buttons = QDialogButtonBox(
            QDialogButtonBox.StandardButton.Ok | QDialogButtonBox.StandardButton.Cancel
        )
        buttons.accepted.connect(self.accept)
        buttons.rejected.connect(self.reject)
        form.addRow(buttons)

    def accept(self) -> None:
        """Keep what was chosen."""
        self._settings.change({key: _value(field) for key, field in self._fields.items()})
        super().accept()

    def _field(self, setting: Setting) -> QWidget:
        if setting.choices:
            box = Choices()
            for value, text in setting.choices:
                box.addItem(text, value)
            box.setCurrentIndex(box.findData(self._settings.text(setting.key)))
            return box
        if isinstance(setting.default, bool):
            check = QCheckBox()
            check.setChecked(self._settings.flag(setting.key))
            return check
        return QLineEdit(self._settings.text(setting.key))


def _setting(key: str) -> Setting:
    return next(setting for setting in SETTINGS if setting.key == key)


def _value(field: QWidget) -> Value:
    if isinstance(field, Choices):
        return str(field.currentData())
    if isinstance(field, QCheckBox):
        return field.isChecked()
    if isinstance(field, QLineEdit):
        return field.text().strip() or getpass.getuser()
    raise TypeError(type(field))
