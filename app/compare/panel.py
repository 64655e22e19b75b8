"""The comparison: panes, step slider, filmstrip and details, kept in step with the session."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication, QEvent, QObject, QSignalBlocker, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import (
    QHBoxLayout,
    QPushButton,
    QSplitter,
    QStackedLayout,
    QVBoxLayout,
    QWidget,
)

from app import theme
from app.actions import Context
from app.compare.canvas import Backdrop
from app.compare.details import StepDetails
from app.compare.filmstrip import Filmstrip
from app.compare.header import PaneHeader
from app.compare.panes import Comparison, Mode, Panes
from app.compare.pictures import StepPictures
from app.compare.readout import Readout, read_pixel
from app.compare.slider import StepSlider
from app.compare.steps import ReferenceRule, reference_number, resize_note
from app.compare.toolbar import CompareToolbar
from app.compare.viewport import zoom_text
from app.notifications import plain_label
from app.thumbnails import Thumbnails
from banana100_core.imaging.comparison import DifferenceMode
from banana100_core.project.failure_modes import failure_modes
from banana100_core.project.tags import tags

if TYPE_CHECKING:
    from app.actions import ActionRegistry
    from app.session import Session
    from banana100_core.catalog.failure_modes import FailureMode
    from banana100_core.project.records import Image, Step, Tag

_DETAILS_WIDTH = 40 * theme.GRID
_RULES = {
    ReferenceRule.FIRST: "view.reference_first",
    ReferenceRule.INITIAL: "view.reference_initial",
    ReferenceRule.PREVIOUS: "view.reference_previous",
    ReferenceRule.PINNED: "view.reference_pinned",
}
_ROLES = {
    ReferenceRule.FIRST: "reference",
    ReferenceRule.INITIAL: "reference",
    ReferenceRule.PREVIOUS: "the step before",
    ReferenceRule.PINNED: "pinned",
}
_MODES = {
    Mode.SIDE_BY_SIDE: "view.side_by_side",
    Mode.WIPE: "view.wipe",
    Mode.DIFFERENCE: "view.difference",
}
_MOVES = {
    "view.pan_left": (-0.25, 0.0),
    "view.pan_right": (0.25, 0.0),
    "view.pan_up": (0.0, -0.25),
    "view.pan_down": (0.0, 0.25),
}
_ON_AT_FIRST = (
    "view.side_by_side",
    "view.link_panes",
    "view.signed_difference",
    "view.filmstrip",
    "view.canvas_grey",
)
_DIVIDER_STEP = 1 / 32


class ComparePanel(QWidget):
    """Shows the reference step left and the current step right, and lets both be chosen."""

    def __init__(self, session: Session, registry: ActionRegistry) -> None:
        super().__init__()
        self._session = session
        self._registry = registry
        self._rule = ReferenceRule.FIRST
        self._place: tuple[float, float] | None = None
        self._filter = _FlipEnd(self)

        self.pictures = StepPictures(session, self)
        self._thumbnails = Thumbnails.of(session)
        self.toolbar = CompareToolbar(registry)
        self.left_header = PaneHeader([registry.qaction(key) for key in _RULES.values()])
        self.right_header = PaneHeader()
        self.panes = Panes(self.left_header, self.right_header)
        self.readout = Readout()
        self.filmstrip = Filmstrip(self._thumbnails)
        self.slider = StepSlider()
        self.details = StepDetails()
        self._lay_out()
        self._connect()
        self._connect_actions()
        self.toolbar.show_comparison(self.panes.comparison)
        self._take_run()

    def is_settled(self) -> bool:
        """Whether the pictures on screen and their thumbnails have arrived."""
        on_screen = [step for step in self._on_screen() if step.image]
        return (
            all(
                self.pictures.loader.pyramid(step.image.sha256) is not None
                or self.pictures.loader.error(step.image.sha256) is not None
                for step in on_screen
                if step.image
            )
            and self.filmstrip.is_settled()
        )

    # Making it

    def _lay_out(self) -> None:
        comparison = QWidget()
        column = QVBoxLayout(comparison)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.toolbar)
        column.addWidget(self.panes, 1)
        column.addWidget(self.readout)
        column.addWidget(self.filmstrip)
        column.addWidget(self.slider)
        self._splitter = QSplitter()
        self._splitter.setHandleWidth(1)
        self._splitter.setChildrenCollapsible(False)
        self._splitter.addWidget(comparison)
        self._splitter.addWidget(self.details)
        self._splitter.setStretchFactor(0, 1)
        self._splitter.setStretchFactor(1, 0)
        self.details.setMinimumWidth(24 * theme.GRID)
        self.details.hide()
        self._stack = QStackedLayout(self)
        self._stack.addWidget(self._splitter)
        self._stack.addWidget(_Empty(self._registry))

    def _connect(self) -> None:
        session = self._session
        session.run_changed.connect(self._take_run)
        session.steps_updated.connect(self._take_steps)
        session.project_closed.connect(self._take_run)
        session.step_changed.connect(self._take_step)
        session.reference_changed.connect(self._take_reference)
        session.tags_updated.connect(self._read_tags)
        self.pictures.updated.connect(self._show_pictures)
        self.panes.hovered.connect(self._read_pixels)
        self.panes.view_changed.connect(self._show_zoom)
        self.panes.comparison_changed.connect(self._show_comparison)
        self.slider.valueChanged.connect(lambda place: session.choose_step(session.steps[place].number))
        self.filmstrip.step_chosen.connect(session.choose_step)
        self.filmstrip.steps_turned.connect(lambda steps: self.slider.setValue(self.slider.value() + steps))
        self.toolbar.gain_chosen.connect(lambda gain: self._compare(gain=gain))
        self.toolbar.flip_pressed.connect(lambda: self._flip(on=True))
        self.toolbar.flip_released.connect(self.end_flip)

    def _connect_actions(self) -> None:
        registry, panes = self._registry, self.panes
        registry.connect("view.fit", panes.fit)
        registry.connect("view.actual_size", panes.actual_size)
        registry.connect("view.zoom_in", panes.zoom_in)
        registry.connect("view.zoom_out", panes.zoom_out)
        for key, (right, down) in _MOVES.items():
            registry.connect(key, lambda right=right, down=down: panes.pan(right, down))
        registry.connect("view.divider_left", lambda: panes.move_divider(-_DIVIDER_STEP))
        registry.connect("view.divider_right", lambda: panes.move_divider(_DIVIDER_STEP))
        registry.connect("view.swap_panes", self._swap)
        registry.connect("view.link_panes", lambda checked: panes.link(on=checked))
        registry.connect("view.flip", self._hold_flip)
        registry.connect("view.signed_difference", self._set_signed)
        registry.connect("view.more_gain", lambda: panes.compare(panes.comparison.with_gain(1)))
        registry.connect("view.less_gain", lambda: panes.compare(panes.comparison.with_gain(-1)))
        registry.connect("view.step_details", self._show_details)
        registry.connect("view.filmstrip", self.filmstrip.setVisible)
        for mode, key in _MODES.items():
            registry.connect(key, lambda _checked, mode=mode: self._compare(mode=mode))
        for rule, key in _RULES.items():
            registry.connect(key, lambda _checked, rule=rule: self._set_rule(rule))
        for backdrop in Backdrop:
            registry.connect(
                f"view.canvas_{backdrop}", lambda _checked, backdrop=backdrop: panes.set_backdrop(backdrop)
            )
        for key in _ON_AT_FIRST:
            registry.qaction(key).setChecked(True)
        registry.qaction(_RULES[self._rule]).setChecked(True)
        registry.qaction("view.flip").setAutoRepeat(False)
        registry.attach(Context.COMPARE, self)

    # What the session says

    def _take_run(self) -> None:
        self._take_steps()
        self._read_tags()

    def _take_steps(self) -> None:
        steps = self._session.steps
        with QSignalBlocker(self.slider):
            self.slider.show_steps(steps)
        self.filmstrip.show_steps(steps)
        self._apply_rule()
        self._show_steps()
        self._stack.setCurrentIndex(0 if steps else 1)

    def _take_step(self, _number: int) -> None:
        self._apply_rule()
        self._show_steps()

    def _take_reference(self, number: int) -> None:
        if self._session.steps and number != self._ruled():
            self._rule = ReferenceRule.PINNED
            self._registry.qaction(_RULES[self._rule]).setChecked(True)
        self._show_steps()

    def _ruled(self) -> int:
        session = self._session
        return reference_number(self._rule, session.steps, session.step, session.reference_step)

    def _apply_rule(self) -> None:
        self._session.choose_reference(self._ruled())

    def _read_tags(self) -> None:
        project, run = self._session.project, self._session.run
        if project is None or run is None:
            self.slider.show_tags([], {})
            return

        def read() -> tuple[int, list[Tag], dict[str, FailureMode]]:
            return run.id, tags(project, run.id), {mode.key: mode for mode in failure_modes(project)}

        self._session.in_background(read, self._take_tags)

    def _take_tags(self, read: tuple[int, list[Tag], dict[str, FailureMode]]) -> None:
        run_id, of_run, modes = read
        if self._session.run is not None and self._session.run.id == run_id:
            self.slider.show_tags(of_run, modes)

    # Showing it

    def _step(self, number: int) -> Step | None:
        return self._session.step_numbered(number)

    def _on_screen(self) -> list[Step]:
        """The current step, then the reference."""
        pair = self._step(self._session.step), self._step(self._session.reference_step)
        return [step for step in pair if step is not None]

    @property
    def _initial(self) -> Image | None:
        first = self._session.steps[0] if self._session.steps else None
        return first.image if first is not None and first.number == 0 else None

    def _show_steps(self) -> None:
        session = self._session
        self.pictures.look_at(self._on_screen(), session.steps)
        places = {step.number: place for place, step in enumerate(session.steps)}
        with QSignalBlocker(self.slider):
            self.slider.setValue(places.get(session.step, 0))
        self.slider.set_reference(places.get(session.reference_step))
        self.filmstrip.set_current(session.step, session.reference_step)
        self.details.show_step(self._step(session.step), self._initial)
        self._show_pictures()

    def _show_pictures(self) -> None:
        reference, current = self._step(self._session.reference_step), self._step(self._session.step)
        self.panes.show_images(self.pictures.of(reference), self.pictures.of(current))
        self._show_headers()
        self._read_pixels(self._place)

    def _show_headers(self) -> None:
        reference, current = self._step(self._session.reference_step), self._step(self._session.step)
        images = self.panes.images
        role = _ROLES[self._rule]
        self.left_header.show_step(reference, self._initial, role=role, busy=images[0].busy)
        if self.panes.flipped:
            self.right_header.show_step(reference, self._initial, role="flipped", busy=images[0].busy)
        else:
            self.right_header.show_step(current, self._initial, busy=images[1].busy)
        laid_over = self.panes.comparison.mode is not Mode.SIDE_BY_SIDE
        note = resize_note(reference, current) if laid_over and reference and current else ""
        self.readout.show_note(note)

    def _read_pixels(self, place: tuple[float, float] | None) -> None:
        self._place = place
        names = (f"step {self._session.reference_step}", f"step {self._session.step}")
        readings = [
            read_pixel(image, name, place) for image, name in zip(self.panes.images, names, strict=True)
        ]
        self.readout.show_readings([reading for reading in readings if reading is not None])

    def _show_zoom(self) -> None:
        scale = self.panes.scale
        text = "" if scale is None else zoom_text(scale)
        self.toolbar.show_zoom(f"fit · {text}" if text and self.panes.fitted else text)

    def _show_comparison(self) -> None:
        comparison = self.panes.comparison
        self.toolbar.show_comparison(comparison)
        self._registry.qaction(_MODES[comparison.mode]).setChecked(True)
        signed = comparison.difference is DifferenceMode.SIGNED
        self._registry.qaction("view.signed_difference").setChecked(signed)
        self._show_headers()

    # What the user asks

    def _compare(self, *, mode: Mode | None = None, gain: int | None = None) -> None:
        before: Comparison = self.panes.comparison
        self.panes.compare(replace(before, mode=mode or before.mode, gain=gain or before.gain))

    def _set_signed(self, signed: bool) -> None:
        kind = DifferenceMode.SIGNED if signed else DifferenceMode.ABSOLUTE
        self.panes.compare(replace(self.panes.comparison, difference=kind, mode=Mode.DIFFERENCE))

    def _set_rule(self, rule: ReferenceRule) -> None:
        self._rule = rule
        self._apply_rule()
        self._show_headers()

    def _swap(self) -> None:
        session = self._session
        current, reference = session.step, session.reference_step
        self._rule = ReferenceRule.PINNED
        self._registry.qaction(_RULES[self._rule]).setChecked(True)
        session.choose_reference(current)
        session.choose_step(reference)

    def _show_details(self, shown: bool) -> None:
        self.details.setVisible(shown)
        if shown and self._splitter.sizes()[1] < self.details.minimumWidth() + 1:
            self._splitter.setSizes([self.width() - _DETAILS_WIDTH, _DETAILS_WIDTH])

    def _hold_flip(self) -> None:
        self._flip(on=True)
        self._filter.begin()

    def _flip(self, *, on: bool) -> None:
        self.panes.flip(on=on)
        self._show_headers()

    def end_flip(self) -> None:
        """Show the current step again."""
        self._flip(on=False)


class _FlipEnd(QObject):
    """Waits for the key of a flip to be let go, wherever the focus is by then."""

    def __init__(self, panel: ComparePanel) -> None:
        super().__init__(panel)
        self._panel = panel

    def begin(self) -> None:
        """Listen."""
        application = QCoreApplication.instance()
        if application is not None:
            application.installEventFilter(self)

    def end(self) -> None:
        """Stop listening and show the current step again."""
        application = QCoreApplication.instance()
        if application is not None:
            application.removeEventFilter(self)
        self._panel.end_flip()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """End the flip when the key is let go or the program is left."""
        let_go = (
            event.type() == QEvent.Type.KeyRelease
            and isinstance(event, QKeyEvent)
            and not event.isAutoRepeat()
        )
        if let_go or event.type() == QEvent.Type.ApplicationDeactivate:
            self.end()
        return super().eventFilter(watched, event)


class _Empty(QWidget):
    """A run without pictures: what will come, and what to do."""

    def __init__(self, registry: ActionRegistry) -> None:
        super().__init__()
        heading = plain_label("No pictures in this run yet")
        heading.setProperty("heading", True)  # noqa: FBT003 - Qt takes the value by place
        column = QVBoxLayout(self)
        column.setSpacing(theme.GRID)
        column.addStretch(1)
        for label in (
            heading,
            plain_label(
                "They appear here as they arrive. Start the generation, or choose another run.", muted=True
            ),
        ):
            label.setAlignment(Qt.AlignmentFlag.AlignCenter)
            column.addWidget(label)
        column.addSpacing(theme.GRID)
        row = QHBoxLayout()
        row.addStretch(1)
        action = registry.qaction("generate.start")
        button = QPushButton(action.text().replace("&", ""))
        button.setEnabled(action.isEnabled())
        action.enabledChanged.connect(button.setEnabled)
        button.clicked.connect(action.trigger)
        row.addWidget(button)
        row.addStretch(1)
        column.addLayout(row)
        column.addStretch(1)
