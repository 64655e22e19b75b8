"""The look: neutral greys, one accent, a grid of 8; dark and light follow the system or the user's choice."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from importlib.resources import files
from pathlib import Path

from PySide6.QtCore import QObject, QPoint, QRect, QSize, Qt, Signal
from PySide6.QtGui import QColor, QFont, QGuiApplication, QIcon, QIconEngine, QPainter, QPalette, QPixmap
from PySide6.QtWidgets import QApplication

from banana100_core.catalog.failure_modes import Level

GRID = 8
"""Spacing unit in device-independent pixels; half of it inside rows."""

ACCENT = "#2f74d8"
"""The one accent: current step, focus, progress. 3:1 against the surfaces of both themes, 4.5:1 to white."""

CANVAS_GREY = "#808080"
"""Mid-grey around pictures, so that they are judged against a neutral surface."""

CURVE_COLOURS: tuple[str, ...] = (
    "#0072b2",
    "#e69f00",
    "#009e73",
    "#d55e00",
    "#56b4e9",
    "#cc79a7",
    "#f0e442",
    "#999999",
)
"""Colour-blind-safe palette of Okabe and Ito (2008); black gives way to grey, for dark surfaces."""

_CHECK, _CARET = (
    Path(str(files("resources") / "icons" / name)).as_posix() for name in ("check.svg", "caret-down.svg")
)
_READS = 4.5
"""Contrast that text needs with its ground (WCAG 2, AA)."""
ICON_FAMILY = "ph"  # Phosphor, the only family used


class Scheme(StrEnum):
    """Which theme the user chose."""

    SYSTEM = "system"
    DARK = "dark"
    LIGHT = "light"


@dataclass(frozen=True, slots=True)
class Colours:
    """The greys of a theme, all without hue; `accent` is the same in both, and `link` is it as text."""

    window: str
    panel: str
    field: str
    hover: str
    selected: str
    line: str
    text: str
    muted: str
    disabled: str
    warning: str
    error: str
    link: str
    accent: str = ACCENT
    on_accent: str = "#ffffff"


DARK = Colours(
    window="#1d1d1d",
    panel="#252525",
    field="#191919",
    hover="#303030",
    selected="#3a3a3a",
    line="#383838",
    text="#e4e4e4",
    muted="#a8a8a8",
    disabled="#6a6a6a",
    warning="#e0a040",
    error="#f6857e",
    link="#6ea6f0",
)
LIGHT = Colours(
    window="#ececec",
    panel="#f7f7f7",
    field="#ffffff",
    hover="#e8e8e8",
    selected="#dcdcdc",
    line="#d2d2d2",
    text="#1c1c1c",
    muted="#5e5e5e",
    disabled="#a2a2a2",
    warning="#865500",
    error="#b3261e",
    link="#1b5cba",
)


class Notifier(QObject):
    """Says when the theme has changed; widgets with colours of their own listen."""

    theme_changed = Signal()


@cache
def notifier() -> Notifier:
    """The one notifier of the program."""
    return Notifier()


def level_colour(level: Level) -> QColor:
    """The colour of a level of failure modes in the paper's Figure 3, from the colour-blind-safe palette."""
    return QColor(CURVE_COLOURS[{Level.SUB_OBJECT: 0, Level.OBJECT: 1, Level.IMAGE: 2}.get(level, 7)])


def ink_on(colour: QColor) -> QColor:
    """White or near-black, whichever reads better on a colour."""
    channels = (colour.redF(), colour.greenF(), colour.blueF())
    linear = [each / 12.92 if each <= 0.04045 else ((each + 0.055) / 1.055) ** 2.4 for each in channels]
    luminance = 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
    return QColor("#ffffff" if 1.05 / (luminance + 0.05) >= _READS else LIGHT.text)


_scheme = Scheme.SYSTEM
_shown: Colours | None = None


def scheme() -> Scheme:
    """What the user chose."""
    return _scheme


def is_dark() -> bool:
    """Whether dark surfaces are shown now."""
    if _scheme is Scheme.SYSTEM:
        return QGuiApplication.styleHints().colorScheme() == Qt.ColorScheme.Dark
    return _scheme is Scheme.DARK


def colours() -> Colours:
    """The colours in use now."""
    return DARK if is_dark() else LIGHT


def set_scheme(chosen: Scheme) -> None:
    """Switch to dark, light or whatever the system says."""
    global _scheme  # noqa: PLW0603 - one program, one look
    _scheme = chosen
    hints = QGuiApplication.styleHints()
    wanted = {Scheme.DARK: Qt.ColorScheme.Dark, Scheme.LIGHT: Qt.ColorScheme.Light}
    hints.setColorScheme(wanted.get(chosen, Qt.ColorScheme.Unknown))
    _show()


def apply(application: QApplication, chosen: Scheme = Scheme.SYSTEM) -> None:
    """Give the program its style; follows the system from then on."""
    application.setStyle("fusion")
    application.styleHints().colorSchemeChanged.connect(lambda _scheme: _show())
    set_scheme(chosen)


def icon(name: str) -> QIcon:
    """An icon of the family, in the colours of the theme at the time that it is painted.

    `name` is Phosphor's, without prefix: "play", "caret-right".
    """
    return QIcon(_ThemedIconEngine(name))


def program_icon() -> QIcon:
    """The program's own icon."""
    return QIcon(str(files("resources").joinpath("icons/banana100.png")))


@cache
def icon_pixmap(name: str, colour: str, side: int, ratio: float) -> QPixmap:
    """An icon drawn once, for painters that draw it in many rows."""
    return _drawn(name, colour).pixmap(QSize(side, side), ratio)


def base_font() -> QFont:
    """The system's font."""
    return QApplication.font()


def _show() -> None:
    global _shown  # noqa: PLW0603 - one program, one look
    application = QApplication.instance()
    shown = colours()
    if not isinstance(application, QApplication) or shown is _shown:
        return
    _shown = shown
    application.setPalette(_palette(shown))
    application.setStyleSheet(_style_sheet(shown))
    notifier().theme_changed.emit()


def _palette(shown: Colours) -> QPalette:
    palette = QPalette()
    role = QPalette.ColorRole
    for each, colour in {
        role.Window: shown.window,
        role.WindowText: shown.text,
        role.Base: shown.field,
        role.AlternateBase: shown.panel,
        role.Text: shown.text,
        role.PlaceholderText: shown.muted,
        role.Button: shown.panel,
        role.ButtonText: shown.text,
        role.BrightText: shown.error,
        role.Highlight: shown.accent,
        role.HighlightedText: shown.on_accent,
        role.Accent: shown.accent,
        role.Link: shown.link,
        role.LinkVisited: shown.link,
        role.ToolTipBase: shown.panel,
        role.ToolTipText: shown.text,
        role.Light: shown.hover,
        role.Midlight: shown.hover,
        role.Mid: shown.line,
        role.Dark: shown.line,
        role.Shadow: shown.window,
    }.items():
        palette.setColor(each, QColor(colour))
    for each in (role.WindowText, role.Text, role.ButtonText, role.HighlightedText):
        palette.setColor(QPalette.ColorGroup.Disabled, each, QColor(shown.disabled))
    palette.setColor(QPalette.ColorGroup.Disabled, role.Highlight, QColor(shown.selected))
    return palette


def _style_sheet(shown: Colours) -> str:
    half, quarter = GRID // 2, GRID // 4
    return f"""
    QMainWindow::separator {{ background: {shown.line}; width: 1px; height: 1px; }}
    QMainWindow::separator:hover {{ background: {shown.accent}; }}
    #dock_title {{ color: {shown.muted}; font-weight: 600; padding: {half}px {GRID + half}px; }}

    QMenuBar {{ background: {shown.window}; padding: {quarter}px {half}px; }}
    QMenuBar::item {{ padding: {half}px {GRID}px; border-radius: {half}px; background: transparent; }}
    QMenuBar::item:selected {{ background: {shown.hover}; }}
    QMenuBar QToolButton {{ color: {shown.muted}; padding: {quarter}px {GRID}px; }}
    QMenu {{ background: {shown.panel}; border: 1px solid {shown.line}; padding: {half}px; }}
    QMenu::item {{ padding: {half}px {3 * GRID}px {half}px {GRID}px; border-radius: {half}px; }}
    QMenu::item:selected {{ background: {shown.selected}; color: {shown.text}; }}
    QMenu::item:disabled {{ color: {shown.disabled}; }}
    QMenu::separator {{ height: 1px; background: {shown.line}; margin: {half}px {GRID}px; }}
    QMenu::icon {{ padding-left: {GRID}px; }}

    QTabBar::tab {{
        background: transparent; color: {shown.muted}; border: none; border-bottom: 2px solid transparent;
        padding: {half}px {GRID + half}px; margin: 0;
    }}
    QTabBar::tab:hover {{ color: {shown.text}; }}
    QTabBar::tab:selected {{ color: {shown.text}; border-bottom-color: {shown.accent}; }}

    QPushButton {{
        background: {shown.hover}; color: {shown.text}; border: 1px solid {shown.line};
        border-radius: {half}px; padding: {half}px {2 * GRID}px;
    }}
    QPushButton:hover {{ background: {shown.selected}; }}
    QPushButton:focus {{ border-color: {shown.accent}; }}
    QPushButton:disabled {{ color: {shown.disabled}; background: transparent; }}
    QDialogButtonBox {{ dialogbuttonbox-buttons-have-icons: 0; }}
    QPushButton:default {{
        background: {shown.accent}; color: {shown.on_accent}; border-color: {shown.accent};
    }}
    QLineEdit, QComboBox, QSpinBox, QDoubleSpinBox, QPlainTextEdit {{
        background: {shown.field}; color: {shown.text}; border: 1px solid {shown.line};
        border-radius: {half}px; padding: {half}px {half}px; selection-background-color: {shown.accent};
    }}
    QLineEdit:focus, QComboBox:focus, QSpinBox:focus, QDoubleSpinBox:focus, QPlainTextEdit:focus {{
        border-color: {shown.accent};
    }}
    QAbstractSpinBox QLineEdit, QComboBox QLineEdit {{
        background: transparent; border: none; padding: 0 {half}px;
    }}
    QCheckBox::indicator, QListView::indicator {{
        width: {GRID + half}px; height: {GRID + half}px; border: 1px solid {shown.muted};
        border-radius: {quarter}px; background: {shown.field};
    }}
    QCheckBox::indicator:checked, QListView::indicator:checked {{
        background: {shown.accent}; border-color: {shown.accent}; image: url("{_CHECK}");
    }}
    QCheckBox::indicator:disabled {{ border-color: {shown.disabled}; }}
    QRadioButton::indicator {{
        width: {GRID + half}px; height: {GRID + half}px; border: 1px solid {shown.muted};
        border-radius: {half + quarter + 1}px; background: {shown.field};
    }}
    QRadioButton::indicator:checked {{
        width: {half + quarter}px; height: {half + quarter}px; border: {half}px solid {shown.accent};
        background: {shown.on_accent};
    }}
    QComboBox::drop-down {{ border: none; width: {2 * GRID + half}px; }}
    QComboBox::down-arrow {{ image: url("{_CARET}"); width: {GRID + half}px; height: {GRID + half}px; }}
    QAbstractSpinBox::up-button, QAbstractSpinBox::down-button {{ width: 0; border: none; }}
    QToolButton {{ border: none; border-radius: {half}px; padding: {half}px; }}
    QToolButton:hover {{ background: {shown.hover}; }}
    QToolButton:checked {{ background: {shown.selected}; }}
    QToolButton[chip="true"] {{
        background: {shown.selected}; color: {shown.text}; border-radius: {GRID}px;
        padding: {quarter}px {half}px {quarter}px {GRID}px;
    }}
    QToolButton[chip="true"]:hover, QToolButton[chip="true"]:focus {{ background: {shown.line}; }}
    QToolButton[narrowed="true"] {{ background: {shown.selected}; }}
    QPushButton[primary="true"] {{
        background: {shown.accent}; color: {shown.on_accent}; border-color: {shown.accent};
    }}
    QPushButton[primary="true"]:disabled {{
        background: transparent; color: {shown.disabled}; border-color: {shown.line};
    }}
    QPushButton[link="true"] {{
        background: transparent; border: none; color: {shown.text}; text-align: left; padding: {half}px 0;
    }}
    QPushButton[link="true"]:hover, QPushButton[link="true"]:focus {{ color: {shown.link}; }}
    QProgressBar {{ background: {shown.line}; border: none; border-radius: {quarter}px; }}
    QProgressBar::chunk {{ background: {shown.accent}; border-radius: {quarter}px; }}

    QTreeView, QListView, QTableView {{ background: {shown.window}; border: none; outline: none; }}
    QTabWidget::pane {{ border: none; border-top: 1px solid {shown.line}; }}
    QHeaderView::section {{
        background: {shown.window}; color: {shown.muted}; border: none; border-bottom: 1px solid {shown.line};
        padding: {half}px {GRID}px;
    }}
    QTableCornerButton::section {{ background: {shown.window}; border: none; }}
    QSplitter::handle {{ background: {shown.line}; }}
    QSplitter::handle:horizontal {{ width: 1px; }}
    QSplitter::handle:vertical {{ height: 1px; }}
    QScrollArea, QScrollArea > QWidget > QWidget {{ background: transparent; border: none; }}
    QScrollBar {{ background: transparent; border: none; margin: 0; }}
    QScrollBar:vertical {{ width: {GRID + quarter}px; }}
    QScrollBar:horizontal {{ height: {GRID + quarter}px; }}
    QScrollBar::handle {{ background: {shown.line}; border-radius: {half - 1}px; margin: {quarter}px; }}
    QScrollBar::handle:vertical {{ min-height: {3 * GRID}px; }}
    QScrollBar::handle:horizontal {{ min-width: {3 * GRID}px; }}
    QScrollBar::handle:hover {{ background: {shown.disabled}; }}
    QScrollBar::add-line, QScrollBar::sub-line {{ width: 0; height: 0; }}
    QScrollBar::add-page, QScrollBar::sub-page {{ background: transparent; }}

    QStatusBar {{ background: {shown.window}; border-top: 1px solid {shown.line}; color: {shown.muted}; }}
    QStatusBar::item {{ border: none; }}
    QStatusBar QLabel {{ color: {shown.muted}; padding: {half}px {half}px; }}
    QToolTip {{
        background: {shown.panel}; color: {shown.text}; border: 1px solid {shown.line}; padding: {half}px;
    }}

    QLabel[muted="true"] {{ color: {shown.muted}; }}
    QLabel[strong="true"] {{ font-weight: 600; }}
    QLabel[error="true"] {{ color: {shown.error}; }}
    QLabel[heading="true"] {{ font-size: 16pt; font-weight: 600; }}
    QLabel[key="true"] {{
        color: {shown.text}; background: {shown.field}; border: 1px solid {shown.line};
        border-radius: {half}px; padding: {quarter}px {half + quarter}px;
    }}
    #message_bar {{
        background: {shown.panel}; border: none; border-left: {half}px solid {shown.error};
        border-bottom: 1px solid {shown.line};
    }}
    #trouble {{ background: {shown.panel}; border: none; border-left: {quarter}px solid {shown.error}; }}
    #metric_card {{ background: {shown.panel}; border: 1px solid {shown.line}; }}
    #palette {{ background: {shown.panel}; border: 1px solid {shown.line}; border-radius: {GRID}px; }}
    #palette QListView {{ background: {shown.panel}; }}
    """


class _ThemedIconEngine(QIconEngine):
    """Draws an icon of the font when asked, so that it follows the theme."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self._name = name

    def paint(self, painter: QPainter, rect: QRect, mode: QIcon.Mode, _state: QIcon.State) -> None:
        shown = colours()
        colour = shown.disabled if mode == QIcon.Mode.Disabled else shown.text
        _drawn(self._name, colour).paint(painter, rect)

    def pixmap(self, size: QSize, mode: QIcon.Mode, state: QIcon.State) -> QPixmap:
        pixmap = QPixmap(size)
        pixmap.fill(Qt.GlobalColor.transparent)
        painter = QPainter(pixmap)
        self.paint(painter, QRect(QPoint(0, 0), size), mode, state)
        painter.end()
        return pixmap

    def clone(self) -> QIconEngine:
        return _ThemedIconEngine(self._name)


@cache
def _drawn(name: str, colour: str) -> QIcon:
    import qtawesome  # not at the top: loading its fonts takes longer than the first window may

    drawn: QIcon = qtawesome.icon(f"{ICON_FAMILY}.{name}", color=colour)
    return drawn
