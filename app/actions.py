"""All actions of the window in one table: menus, shortcuts, the palette and the keys sheet come from it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QAction, QActionGroup, QKeyEvent, QKeySequence
from PySide6.QtWidgets import (
    QAbstractSpinBox,
    QApplication,
    QComboBox,
    QLineEdit,
    QPlainTextEdit,
    QTextEdit,
    QWidget,
)

from app import theme

Slot = Callable[..., object]


class Context(StrEnum):
    """Where the key of an action is heard."""

    WINDOW = "anywhere"
    RUNS = "in the list of runs"
    TAG = "in the tags of a run"
    COMPARE = "in the comparison"


@dataclass(frozen=True, slots=True)
class Action:
    """One thing that can be asked of the window.

    `text` carries the menu's access key (&); `menu` is a path such as "View/Canvas", and `section` begins a
    new section of it; `shortcut` is one key sequence in Qt's portable text, or several separated by "; ".
    Actions of one `group` exclude each other. Plain letters are left free: they belong to the failure modes
    of the taxonomy, and the tagging panel hears them.
    """

    key: str
    text: str
    menu: str
    shortcut: str = ""
    tip: str = ""
    context: Context = Context.WINDOW
    icon: str = ""
    checkable: bool = False
    group: str = ""
    section: bool = False

    @property
    def title(self) -> str:
        """The text without access keys and dots, as palette and keys sheet show it."""
        return self.text.replace("&&", "\0").replace("&", "").replace("\0", "&").rstrip("…")

    @property
    def sequences(self) -> list[QKeySequence]:
        """The keys that trigger it, the first one shown."""
        return [QKeySequence(part) for part in self.shortcut.split("; ") if part]

    @property
    def keys_shown(self) -> str:
        """Its first key as the system writes it, or nothing."""
        return self.sequences[0].toString(QKeySequence.SequenceFormat.NativeText) if self.shortcut else ""


ACTIONS: tuple[Action, ...] = (
    # File
    Action("file.new", "&New project…", "File", "Ctrl+N", "Make an empty project file", icon="file-plus"),
    Action("file.open", "&Open project…", "File", "Ctrl+O", "Open a project file", icon="folder-open"),
    Action(
        "file.recent",
        "Open &recent project…",
        "File",
        "Ctrl+Shift+O",
        "Choose one of the projects opened last",
    ),
    Action(
        "file.demo", "Open the &demo study", "File", "", "Runs made and scored on this computer, with no key"
    ),
    Action(
        "file.import",
        "&Import a folder…",
        "File",
        "Ctrl+I",
        "Add runs from a folder of pictures",
        icon="tray",
        section=True,
    ),
    Action(
        "file.export_view",
        "Export this &view…",
        "File",
        "Ctrl+Shift+S",
        "Save what the panes show as a PNG",
        section=True,
    ),
    Action(
        "file.export_animation",
        "Export the run as an &animation…",
        "File",
        "Ctrl+Shift+A",
        "Its steps one after another, as WebP or GIF",
    ),
    Action(
        "file.export_sheet",
        "Export the run as a contact &sheet…",
        "File",
        "",
        "Its steps side by side with their numbers, as PNG, JPEG or PDF",
    ),
    Action(
        "file.close",
        "&Close project",
        "File",
        "Ctrl+W",
        "Close the project and keep the window",
        section=True,
    ),
    Action("file.quit", "&Quit", "File", "Ctrl+Q", "End the program; finished work is kept", section=True),
    # Edit
    Action(
        "tag.undo",
        "&Undo tag edit",
        "Edit",
        "Ctrl+Z",
        "Take back the last edit to tags",
        icon="arrow-u-up-left",
    ),
    Action(
        "tag.redo", "&Redo tag edit", "Edit", "Ctrl+Shift+Z; Ctrl+Y", "Make it again", icon="arrow-u-up-right"
    ),
    Action(
        "edit.filter",
        "&Filter the runs",
        "Edit",
        "Ctrl+F",
        "Write in the filter box of the list of runs",
        section=True,
    ),
    Action(
        "edit.copy_view",
        "&Copy this view",
        "Edit",
        "Ctrl+Shift+C",
        "Copy what the panes show as a picture",
        icon="copy",
    ),
    Action(
        "edit.settings",
        "&Settings…",
        "Edit",
        "Ctrl+,",
        "Annotator, scoring and look",
        icon="sliders-horizontal",
        section=True,
    ),
    # View
    Action("view.fit", "&Fit", "View", "Ctrl+0", "Show the whole picture", icon="corners-out"),
    Action(
        "view.actual_size",
        "&Actual size (1:1)",
        "View",
        "Ctrl+1",
        "One pixel of the picture a pixel of the screen",
    ),
    Action("view.fill", "Fill", "View", "Ctrl+9", "Leave nothing of the pane uncovered"),
    Action(
        "view.zoom_region",
        "Zoom to the &rectangle",
        "View",
        "Ctrl+8",
        "Show the measured rectangle as large as fits",
    ),
    Action("view.zoom_in", "Zoom &in", "View", "Ctrl++; Ctrl+=", "Larger", icon="magnifying-glass-plus"),
    Action("view.zoom_out", "Zoom &out", "View", "Ctrl+-", "Smaller", icon="magnifying-glass-minus"),
    Action("view.pan_left", "&Left", "View/Move", "Alt+Left", "Look further left"),
    Action("view.pan_right", "&Right", "View/Move", "Alt+Right", "Look further right"),
    Action("view.pan_up", "&Up", "View/Move", "Alt+Up", "Look further up"),
    Action("view.pan_down", "&Down", "View/Move", "Alt+Down", "Look further down"),
    Action(
        "view.shift_left",
        "This pane l&eft",
        "View/Move",
        "Alt+Shift+Left",
        "Move it against the others",
        section=True,
    ),
    Action(
        "view.shift_right", "This pane r&ight", "View/Move", "Alt+Shift+Right", "Move it against the others"
    ),
    Action("view.shift_up", "This pane u&p", "View/Move", "Alt+Shift+Up", "Move it against the others"),
    Action("view.shift_down", "This pane d&own", "View/Move", "Alt+Shift+Down", "Move it against the others"),
    Action(
        "view.align_panes", "&Align panes", "View/Move", "Ctrl+Shift+L", "Show the same place in all again"
    ),
    Action(
        "view.one_pane", "&One", "View/Panes", "", "The current step alone", checkable=True, group="count"
    ),
    Action("view.two_panes", "&Two", "View/Panes", "", "With a reference", checkable=True, group="count"),
    Action("view.four_panes", "&Four", "View/Panes", "", "Two rows of two", checkable=True, group="count"),
    Action(
        "view.more_panes",
        "More panes",
        "View/Panes",
        "Shift+F2",
        "One, two, four and one again",
        section=True,
    ),
    Action(
        "view.pane_step", "&Choose its step…", "View/Panes", "Ctrl+T", "Choose what the pane in use shows"
    ),
    Action("view.mirror", "&Mirror", "View/Panes", "Ctrl+M", "Mirror the pane in use", section=True),
    Action(
        "view.turn_right",
        "Turn &right",
        "View/Panes",
        "Ctrl+Shift+Right",
        "Turn the pane in use by a quarter",
    ),
    Action(
        "view.turn_left", "Turn &left", "View/Panes", "Ctrl+Shift+Left", "Turn the pane in use by a quarter"
    ),
    Action(
        "view.turn_back",
        "Turn &back",
        "View/Panes",
        "Ctrl+Shift+B",
        "Undo the turns that a protocol of mirroring or rotating asks for, step by step",
        checkable=True,
    ),
    Action("view.swap_panes", "S&wap panes", "View", "Ctrl+E", "Exchange left and right", icon="swap"),
    Action(
        "view.link_panes",
        "&Link zoom and pan",
        "View",
        "Ctrl+L",
        "Both panes show the same place",
        checkable=True,
    ),
    Action(
        "view.side_by_side",
        "&Side by side",
        "View/Compare",
        "F2",
        "Reference left, current step right",
        icon="columns",
        checkable=True,
        group="compare",
    ),
    Action(
        "view.wipe",
        "&Wipe",
        "View/Compare",
        "F3",
        "One over the other, with a divider to drag",
        icon="square-half",
        checkable=True,
        group="compare",
    ),
    Action(
        "view.blink",
        "&Blink",
        "View/Compare",
        "F5",
        "Reference and current step in turn, in one place",
        icon="lightning",
        checkable=True,
        group="compare",
    ),
    Action(
        "view.difference",
        "&Difference",
        "View/Compare",
        "F4",
        "What changed from the reference to the current step",
        icon="plus-minus",
        checkable=True,
        group="compare",
    ),
    Action(
        "view.flip",
        "&Flip to the reference",
        "View/Compare",
        "Space",
        "Show the reference in place of the current step for as long as it is held",
        Context.COMPARE,
        icon="arrows-left-right",
        section=True,
    ),
    Action(
        "view.signed_difference",
        "Around &mid-grey",
        "View/Difference",
        "",
        "Grey where nothing changed; brighter is brighter. Amplified, it is the paper's residual",
        checkable=True,
        group="difference",
    ),
    Action(
        "view.absolute_difference",
        "&Absolute",
        "View/Difference",
        "",
        "Black where nothing changed",
        checkable=True,
        group="difference",
    ),
    Action(
        "view.relative_difference",
        "&Relative",
        "View/Difference",
        "",
        "The change as a part of the reference",
        checkable=True,
        group="difference",
    ),
    Action(
        "view.flip_difference",
        "&FLIP",
        "View/Difference",
        "",
        "What the eye notices when the two alternate",
        checkable=True,
        group="difference",
    ),
    Action("view.next_difference", "&Next kind", "View/Difference", "Shift+F4", "Another kind of difference"),
    Action(
        "view.shades_channels",
        "In &colours",
        "View/Difference",
        "",
        "Each channel by itself",
        checkable=True,
        group="shades",
        section=True,
    ),
    Action(
        "view.shades_grey",
        "In &grey",
        "View/Difference",
        "",
        "The channel that changed most",
        checkable=True,
        group="shades",
    ),
    Action(
        "view.shades_false_colour",
        "In fa&lse colour",
        "View/Difference",
        "",
        "The channel that changed most, by a map for all eyes",
        checkable=True,
        group="shades",
    ),
    Action("view.next_shades", "Ne&xt colouring", "View/Difference", "Ctrl+D", "Colours, grey, false colour"),
    Action(
        "view.more_gain", "M&ore gain", "View/Difference", "Ctrl+]", "Amplify the difference", section=True
    ),
    Action("view.less_gain", "L&ess gain", "View/Difference", "Ctrl+[", "Amplify the difference less"),
    Action(
        "view.divider_left",
        "Divider to the l&eft",
        "View/Compare",
        "Ctrl+Left",
        "Show more of the current step",
    ),
    Action(
        "view.divider_right",
        "Divider to the &right",
        "View/Compare",
        "Ctrl+Right",
        "Show more of the reference",
    ),
    Action(
        "view.blink_faster", "Blink faster", "View/Compare", "Ctrl+F5", "More changes a second", section=True
    ),
    Action("view.blink_slower", "Blink slower", "View/Compare", "Shift+F5", "Fewer changes a second"),
    Action(
        "view.loupe", "Lou&pe", "View", "F8", "Enlarge what is under the cursor in all panes", checkable=True
    ),
    Action(
        "view.measure",
        "&Measure",
        "View",
        "Ctrl+Shift+M",
        "Statistics of what is on screen, or of a rectangle drawn with the right button",
        icon="chart-bar",
        checkable=True,
    ),
    Action("view.channel_colour", "&Colour", "View/Look", checkable=True, group="channel"),
    Action("view.channel_red", "&Red", "View/Look", checkable=True, group="channel"),
    Action("view.channel_green", "&Green", "View/Look", checkable=True, group="channel"),
    Action("view.channel_blue", "&Blue", "View/Look", checkable=True, group="channel"),
    Action("view.channel_luminance", "&Luminance (L*)", "View/Look", checkable=True, group="channel"),
    Action("view.channel_a", "&a* (green to red)", "View/Look", checkable=True, group="channel"),
    Action("view.channel_b", "b* (blue to &yellow)", "View/Look", checkable=True, group="channel"),
    Action("view.channel_chroma", "C&hroma (C*)", "View/Look", checkable=True, group="channel"),
    Action("view.next_channel", "&Next channel", "View/Look", "F7", "Show another channel", section=True),
    Action("view.previous_channel", "&Previous channel", "View/Look", "Shift+F7", "Show another channel"),
    Action("view.brighter", "Br&ighter", "View/Look", "Ctrl+PgUp", "For looking only", section=True),
    Action("view.darker", "&Darker", "View/Look", "Ctrl+PgDown", "For looking only"),
    Action("view.more_gamma", "More ga&mma", "View/Look", "Alt+PgUp", "Lighten the dark, for looking only"),
    Action("view.less_gamma", "Less gamma", "View/Look", "Alt+PgDown", "Darken the dark, for looking only"),
    Action(
        "view.more_contrast",
        "More gain",
        "View/Look",
        "Ctrl+Shift+PgUp",
        "All values larger, for looking only",
    ),
    Action(
        "view.less_contrast",
        "Less gain",
        "View/Look",
        "Ctrl+Shift+PgDown",
        "All values smaller, for looking only",
    ),
    Action(
        "view.reset_look",
        "Show as it is",
        "View/Look",
        "Ctrl+Backspace",
        "Neither channel nor curve",
        section=True,
    ),
    Action(
        "view.reference_first",
        "Step &1",
        "View/Left pane",
        "",
        "The first edit, which the paper compares with",
        checkable=True,
        group="reference",
    ),
    Action(
        "view.reference_initial",
        "Step &0, the initial image",
        "View/Left pane",
        "",
        "What the run started from",
        checkable=True,
        group="reference",
    ),
    Action(
        "view.reference_previous",
        "The step &before the current one",
        "View/Left pane",
        "",
        "What this one edit changed",
        checkable=True,
        group="reference",
    ),
    Action(
        "view.reference_pinned",
        "&Pinned",
        "View/Left pane",
        "",
        "Keep the left pane at the step that it shows now",
        checkable=True,
        group="reference",
    ),
    Action("view.canvas_grey", "Mid-&grey", "View/Canvas", checkable=True, group="canvas"),
    Action("view.canvas_black", "&Black", "View/Canvas", checkable=True, group="canvas"),
    Action("view.canvas_white", "&White", "View/Canvas", checkable=True, group="canvas"),
    Action("view.canvas_checker", "&Checker", "View/Canvas", checkable=True, group="canvas"),
    Action("view.theme_system", "As the &system", "View/Theme", checkable=True, group="theme"),
    Action("view.theme_dark", "&Dark", "View/Theme", checkable=True, group="theme"),
    Action("view.theme_light", "&Light", "View/Theme", checkable=True, group="theme"),
    Action(
        "view.panel_runs", "&Runs", "View/Panels", "Alt+1", "Show or hide the list of runs", checkable=True
    ),
    Action(
        "view.panel_tag", "&Tag", "View/Panels", "Alt+2", "Show or hide the failure modes", checkable=True
    ),
    Action("view.panel_scores", "&Scores", "View/Panels", "Alt+3", "Show or hide the curves", checkable=True),
    Action("view.panel_generation", "&Generation", "View/Panels", "Alt+4", "Show or hide it", checkable=True),
    Action(
        "view.filmstrip",
        "&Filmstrip",
        "View/Panels",
        "Alt+6",
        "Show or hide the thumbnails of the steps",
        checkable=True,
    ),
    Action(
        "view.step_details",
        "Step &details",
        "View/Panels",
        "Alt+5",
        "Prompt, settings, reasoning summary and cost of the step",
        icon="info",
        checkable=True,
    ),
    Action(
        "view.next_panel",
        "&Next panel",
        "View/Panels",
        "F6",
        "Move the keyboard to the next panel",
        section=True,
    ),
    Action(
        "view.reset_layout", "Reset the la&yout", "View/Panels", "", "Put all panels back where they began"
    ),
    Action(
        "view.full_screen",
        "F&ull screen",
        "View",
        "F11",
        "Use the whole screen",
        checkable=True,
        section=True,
    ),
    # Run
    Action("run.next_step", "&Next step", "Run", "Right", "Look at the next step", icon="caret-right"),
    Action(
        "run.previous_step", "&Previous step", "Run", "Left", "Look at the step before", icon="caret-left"
    ),
    Action(
        "run.first_step", "&First step", "Run", "Home", "Look at the first step", icon="caret-double-left"
    ),
    Action("run.last_step", "&Last step", "Run", "End", "Look at the last step", icon="caret-double-right"),
    Action(
        "run.play",
        "Pla&y",
        "Run",
        "Ctrl+Space",
        "Step after step to the end",
        icon="play",
        checkable=True,
        section=True,
    ),
    Action("run.play_faster", "Play faster", "Run", "Ctrl+Shift+Up", "More steps a second"),
    Action("run.play_slower", "Play slower", "Run", "Ctrl+Shift+Down", "Fewer steps a second"),
    Action(
        "run.set_reference",
        "&Compare against this step",
        "Run",
        "Ctrl+R",
        "Put this step in the left pane",
        section=True,
    ),
    Action("run.next_reference", "Ne&xt reference step", "Run", "Shift+Right", "Left pane one step on"),
    Action(
        "run.previous_reference", "Pre&vious reference step", "Run", "Shift+Left", "Left pane one step back"
    ),
    Action(
        "run.go_to_reference",
        "Go to the refe&rence step",
        "Run",
        "Ctrl+Shift+R",
        "Look at the reference step",
    ),
    Action("run.next_run", "Next r&un", "Run", "Ctrl+Down", "Look at the next run of the list", section=True),
    Action("run.previous_run", "Previous run", "Run", "Ctrl+Up", "Look at the run before"),
    # Generation
    Action(
        "generate.start", "&Generate…", "Run", "Ctrl+G", "Plan runs and start them", icon="play", section=True
    ),
    Action("generate.pause", "Pause generation", "Run", "", "Wait after the step in work", icon="pause"),
    Action("generate.resume", "Resume generation", "Run", "", "Go on with the next step", icon="play"),
    Action("generate.cancel", "Cancel generation", "Run", "", "Stop; finished steps are kept", icon="stop"),
    # Tag
    Action(
        "tag.end_here", "&End tag at this step", "Tag", "Ctrl+Return", "The failure is last seen in this step"
    ),
    Action("tag.delete", "&Delete tag", "Tag", "Del", "Remove the chosen tag", Context.TAG, icon="trash"),
    # Score
    Action("score.missing", "&Score what is missing", "Score", "F9", "Score every picture without a score"),
    Action("score.pause", "&Pause scoring", "Score", "", "Wait after the picture in work", icon="pause"),
    Action("score.resume", "&Resume scoring", "Score", "", "Go on with the next picture", icon="play"),
    Action("score.cancel", "&Cancel scoring", "Score", "", "Stop; scores made are kept", icon="stop"),
    Action(
        "score.retry_failed",
        "Re&try failed scores",
        "Score",
        "",
        "Forget failures and score them again",
        section=True,
    ),
    Action(
        "score.save_gaps",
        "Save &gaps…",
        "Score",
        "",
        "Write the heat map of score gaps as SVG, PNG or CSV",
        icon="export",
        section=True,
    ),
    # Help
    Action(
        "help.palette", "&Find an action…", "Help", "Ctrl+Shift+P", "Every action, by name", icon="command"
    ),
    Action("help.keys", "&Keys", "Help", "?; F1", "Show what each key does", icon="keyboard"),
    Action("help.about", "&About", "Help", "", "Versions and licences, to copy", section=True),
)

_TEXT_INPUTS = (QLineEdit, QTextEdit, QPlainTextEdit, QAbstractSpinBox)
_CHORD = (
    Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.AltModifier | Qt.KeyboardModifier.MetaModifier
)


def takes_text(widget: QWidget | None) -> bool:
    """Whether keys typed now are meant as text."""
    if isinstance(widget, QComboBox):
        return widget.isEditable()
    return isinstance(widget, _TEXT_INPUTS) and not widget.isReadOnly()


class _TextGuard(QObject):
    """Keeps plain keys for the text field that has the focus."""

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.ShortcutOverride and isinstance(event, QKeyEvent):
            plain = not event.modifiers() & _CHORD
            function_key = Qt.Key.Key_F1 <= event.key() <= Qt.Key.Key_F35
            if plain and not function_key and event.key() != Qt.Key.Key_Escape:
                event.accept()
                return True
        return super().eventFilter(watched, event)


class ActionRegistry(QObject):
    """The table as QActions: an action is disabled until somebody connects a slot to it."""

    def __init__(self, window: QWidget) -> None:
        super().__init__(window)
        self._window = window
        self._slots: dict[str, list[Slot]] = {}
        self._actions: dict[str, QAction] = {}
        self._groups: dict[str, QActionGroup] = {}
        for action in ACTIONS:
            self._actions[action.key] = self._make(action)
        self._guard = _TextGuard(self)
        application = QApplication.instance()
        if isinstance(application, QApplication):
            application.focusChanged.connect(self._guard_text)

    def qaction(self, key: str) -> QAction:
        """The QAction of a key of the table; KeyError for any other key."""
        return self._actions[key]

    def connect(self, key: str, slot: Slot) -> None:  # type: ignore[override]
        """Have `slot` called when the action is triggered; with its checked state if it is checkable."""
        self._slots[key].append(slot)
        self._actions[key].setEnabled(True)

    def connected(self, key: str) -> bool:
        """Whether the action does something."""
        return bool(self._slots[key])

    def set_enabled(self, key: str, enabled: bool) -> None:
        """Enable an action, or disable it while it makes no sense."""
        self._actions[key].setEnabled(enabled and self.connected(key))

    def attach(self, context: Context, widget: QWidget) -> None:
        """Have the keys of a panel's own context heard in that panel."""
        for action in ACTIONS:
            if action.context is context:
                widget.addAction(self._actions[action.key])

    def show_icons(self) -> None:
        """Give the actions their icons; apart, because the icon font takes long to load."""
        for action in ACTIONS:
            if action.icon:
                self._actions[action.key].setIcon(theme.icon(action.icon))

    def _make(self, action: Action) -> QAction:
        qaction = QAction(action.text, self)
        qaction.setObjectName(action.key)
        qaction.setShortcuts(action.sequences)
        qaction.setStatusTip(action.tip)
        qaction.setToolTip(action.tip or action.title)
        qaction.setCheckable(action.checkable)
        qaction.setEnabled(False)
        if action.group:
            group = self._groups.setdefault(action.group, QActionGroup(self))
            group.addAction(qaction)
        if action.context is Context.WINDOW:
            self._window.addAction(qaction)
        else:
            qaction.setShortcutContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
        self._slots[action.key] = []
        qaction.triggered.connect(lambda checked=False: self._run(action, checked))
        return qaction

    def _run(self, action: Action, checked: bool) -> None:
        for slot in list(self._slots[action.key]):
            if action.checkable:
                slot(checked)
            else:
                slot()

    def _guard_text(self, old: QWidget | None, new: QWidget | None) -> None:
        if old is not None:
            old.removeEventFilter(self._guard)
        if new is not None and takes_text(new):
            new.installEventFilter(self._guard)
