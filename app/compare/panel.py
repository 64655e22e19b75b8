"""The comparison: panes, step slider, filmstrip and details, kept in step with the session."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from PySide6.QtCore import QSignalBlocker, Qt
from PySide6.QtWidgets import (
    QHBoxLayout,
    QSplitter,
    QStackedLayout,
    QVBoxLayout,
    QWidget,
)

from app import theme
from app.actions import Context
from app.compare.commands import REFERENCES, ViewCommands
from app.compare.content import PaneImage
from app.compare.details import StepDetails
from app.compare.empty import NoPictures
from app.compare.exporting import Exporter
from app.compare.filmstrip import Filmstrip
from app.compare.flip_end import FlipEnd
from app.compare.flip_maps import FlipMaps
from app.compare.header import PaneHeader
from app.compare.marks import TagMarks
from app.compare.outlines.commands import RegionCommands
from app.compare.outlines.events import RegionEvents
from app.compare.outlines.frame import Frame
from app.compare.outlines.outline import Outlines
from app.compare.outlines.tool import RegionTool
from app.compare.panes import Mode, Panes
from app.compare.pictures import StepPictures
from app.compare.player import Player
from app.compare.readout import Readout, read_pixel
from app.compare.region import RegionMeter
from app.compare.rule_menu import RuleMenu
from app.compare.rules import CURRENT_PANE, PANE_COUNT, PaneSteps, Rule, Shows, run_title
from app.compare.slider import StepSlider
from app.compare.steps import resize_note
from app.compare.strips import Strips
from app.compare.toolbar import CompareToolbar, PlayButtons
from app.compare.turns import Turn, turn_back
from app.compare.viewport import Size, zoom_text
from app.memory import Memory
from app.thumbnails import Thumbnails

if TYPE_CHECKING:
    from app.actions import ActionRegistry
    from app.session import Session
    from banana100_core.project.records import Image, Step

_DETAILS_WIDTH = 40 * theme.GRID
_DETAILS, _FILMSTRIP = "step_details", "filmstrip"  # as they are remembered


class ComparePanel(QWidget):
    """Shows steps in panes, each by its rule, and lets the current one be chosen.

    The first pane is the reference: while it shows a step of the current run, it is the session's reference.
    """

    def __init__(self, session: Session, registry: ActionRegistry) -> None:
        super().__init__()
        self._session = session
        self._registry = registry
        self._place: tuple[float, float] | None = None
        self._turns_back = False
        self._memory = Memory.of(session)
        self._flip_end = FlipEnd(self)
        self._flip_end.ended.connect(self.end_flip)

        self.pictures = StepPictures(session, self)
        self.pane_steps = PaneSteps(session, self)
        self.player = Player(session, self)
        self.flip_maps = FlipMaps(session, self)
        self._thumbnails = Thumbnails.of(session)
        self.toolbar = CompareToolbar(registry)
        self.headers = tuple(PaneHeader() for _ in range(PANE_COUNT))
        self.panes = Panes(self.headers)
        self.panes.make_flip_maps(self.flip_maps.of)
        self.outlines = Outlines(session, self)
        self.regions = RegionTool(session, self.panes, self.outlines, self)
        RegionEvents(self.regions, self.panes)
        self.readout = Readout()
        self.meter = RegionMeter(session, registry, self.panes, self)
        self.filmstrip = Filmstrip(self._thumbnails)
        self.play_buttons = PlayButtons(registry)
        self.slider = StepSlider()
        self.marks = TagMarks(session, self.slider, self.outlines)
        self.details = StepDetails()
        self.exporter = Exporter(session, registry, self.panes, self.player, self)
        self.setFocusProxy(self.panes.right)
        self._lay_out()
        self._connect()
        self.commands = ViewCommands(session, registry, self.panes, self.player)
        self.region_commands = RegionCommands(registry, self.regions)
        self._connect_actions()
        self._recall()
        self._show_comparison()
        self._show_playing()
        self._take_run()

    @property
    def left_header(self) -> PaneHeader:
        """The line above the reference."""
        return self.headers[0]

    @property
    def right_header(self) -> PaneHeader:
        """The line above the current step."""
        return self.headers[CURRENT_PANE]

    def is_settled(self) -> bool:
        """Whether the pictures on screen and their thumbnails have arrived."""
        loader = self.pictures.loader
        hashes = [step.image.sha256 for step in self._on_screen() if step.image]
        return (
            all(map(loader.is_settled, hashes))
            and self.filmstrip.is_settled()
            and self.outlines.edits.settled
        )

    # Making it

    def _lay_out(self) -> None:
        comparison = QWidget()
        column = QVBoxLayout(comparison)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.toolbar)
        column.addWidget(self.exporter.bar)
        column.addWidget(self.panes)  # with no stretch, else it alone gave way where there is little room
        column.addWidget(Strips(self.meter.view, self.readout, self.filmstrip))
        row = QHBoxLayout()
        row.setSpacing(0)
        row.addWidget(self.play_buttons, 0, Qt.AlignmentFlag.AlignTop)
        row.addWidget(self.slider, 1)
        column.addLayout(row)
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
        self._stack.addWidget(NoPictures(self._registry))

    def _connect(self) -> None:
        session = self._session
        session.run_changed.connect(self._take_run)
        session.steps_updated.connect(self._take_steps)
        session.project_closed.connect(self._take_run)
        session.step_changed.connect(self._take_step)
        session.reference_changed.connect(self._take_reference)
        for changed in (session.blinding_changed, session.project_opened):
            changed.connect(self._hide_numbers)
        self.pane_steps.changed.connect(self._take_rules)
        self.pictures.updated.connect(self._show_pictures)
        self.flip_maps.updated.connect(self.panes.refresh)
        self.outlines.changed.connect(
            lambda: self.slider.mark_outlined(self.outlines.outlined_steps(), self.outlines.bare_steps())
        )
        self.panes.hovered.connect(self._read_pixels)
        self.panes.view_changed.connect(self._show_zoom)
        self.panes.comparison_changed.connect(self._show_comparison)
        self.player.changed.connect(self._show_playing)
        self.slider.valueChanged.connect(lambda place: session.choose_step(session.steps[place].number))
        self.filmstrip.step_chosen.connect(session.choose_step)
        self.filmstrip.steps_turned.connect(lambda steps: self.slider.setValue(self.slider.value() + steps))
        self.play_buttons.rate_chosen.connect(self.player.set_rate)
        self.toolbar.gain_chosen.connect(self._set_gain)
        self.toolbar.blinks_chosen.connect(self._set_blinks)
        self.toolbar.flip_pressed.connect(lambda: self._flip(on=True))
        self.toolbar.flip_released.connect(self.end_flip)
        for pane, header in enumerate(self.headers):
            menu = RuleMenu(self.pane_steps, pane, header)
            menu.chosen.connect(lambda rule, pane=pane: self.pane_steps.set_rule(pane, rule))
            header.set_menu(menu)

    def _connect_actions(self) -> None:
        registry, panes = self._registry, self.panes
        registry.connect("view.swap_panes", self._swap)
        registry.connect("view.flip", self._hold_flip)
        registry.connect("view.step_details", self._show_details)
        registry.connect("view.filmstrip", self._show_filmstrip)
        registry.connect("view.pane_step", self._choose_pane_step)
        registry.connect("view.mirror", lambda: self._turn(panes.turns[panes.active].mirrored_once_more()))
        registry.connect("view.turn_right", lambda: self._turn(panes.turns[panes.active].turned_right()))
        registry.connect("view.turn_left", lambda: self._turn(panes.turns[panes.active].turned_right(-1)))
        registry.connect("view.turn_back", self._set_turns_back)
        for shows, key in REFERENCES.items():
            registry.connect(key, lambda _checked, shows=shows: self._set_reference_rule(shows))
        registry.qaction("view.flip").setAutoRepeat(False)
        registry.attach(Context.COMPARE, self)

    def _recall(self) -> None:
        """Show what was shown when the program was left."""
        for key, action, first in (
            (_DETAILS, "view.step_details", False),
            (_FILMSTRIP, "view.filmstrip", True),
        ):
            if self._memory.value(key) is (not first):
                self._registry.qaction(action).trigger()

    # What the session says

    def _take_run(self) -> None:
        self._take_steps()
        self.marks.read()

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
        if self._session.steps and number != self.pane_steps.number(0):
            self.pane_steps.set_rule(0, Rule(Shows.PINNED, number))
        else:
            self._show_steps()

    def _take_rules(self) -> None:
        self._apply_rule()
        self._show_steps()

    def _apply_rule(self) -> None:
        key = REFERENCES.get(self.pane_steps.rule(0).shows)
        for each in REFERENCES.values():
            self._registry.qaction(each).setChecked(each == key)
        self._session.choose_reference(self.pane_steps.number(0))

    def _hide_numbers(self) -> None:
        numbered = not self._session.blinding.steps
        self.slider.show_numbers(shown=numbered)
        self.filmstrip.show_numbers(shown=numbered)
        self._show_steps()

    # Showing it

    def _on_screen(self) -> list[Step]:
        """The steps whose pictures are on screen, the current one first."""
        panes = sorted(self.panes.comparison.compared, key=lambda pane: pane != CURRENT_PANE)
        # The reference is one key away even where it isn't shown.
        panes = [*panes, *({0} - set(panes))]
        return [step for step in map(self.pane_steps.step, panes) if step is not None]

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
        self.details.show_step(session.step_numbered(session.step), self._initial, session.blinding)
        self._show_pictures()

    def _show_pictures(self) -> None:
        panes = range(PANE_COUNT)
        names = tuple(map(self.pane_steps.name, panes))
        self.panes.show_images(*map(self._image, panes), names=names)
        self._show_headers()
        self._read_pixels(self._place)
        self.meter.read(self.pane_steps.name)

    def _image(self, pane: int) -> PaneImage:
        step = self.pane_steps.step(pane)
        if step is None:
            return PaneImage(message=self.pane_steps.missing(pane))
        turn = self._turn_of(pane, step)
        image = self.pictures.of(step).turned(turn)
        run = self._session.run
        if step.image is None or run is None or step.run_id != run.id:
            return image
        return replace(image, frame=Frame(step.number, Size(step.image.width, step.image.height), turn))

    def _turn_of(self, pane: int, step: Step) -> Turn:
        run = self.pane_steps.other_run(pane) or self._session.run
        back = turn_back(run, step.number) if run is not None and self._turns_back else Turn()
        return back.then(self.panes.turns[pane])

    def _show_headers(self) -> None:
        for pane in self.panes.comparison.compared:
            shown = 0 if pane == CURRENT_PANE and self.panes.flipped else pane
            step, other = self.pane_steps.step(shown), self.pane_steps.other_run(shown)
            rule = self.pane_steps.rule(shown)
            blinding = self._session.blinding
            told = run_title(blinding.of_run(other)) if other else rule.role
            role = "flipped" if shown != pane else told
            turned = "" if step is None else self._turn_of(shown, step).text
            self.headers[pane].show_step(
                step,
                None if other else self._initial,
                role=" · ".join(part for part in (role, turned) if part),
                busy=self.panes.images[shown].busy,
                numbered=not blinding.steps,
            )
        comparison = self.panes.comparison
        reference, current = self.pane_steps.step(0), self.pane_steps.step(CURRENT_PANE)
        laid_over = comparison.mode in {Mode.WIPE, Mode.DIFFERENCE}
        numbered = not self._session.blinding.steps
        note = resize_note(reference, current, numbered=numbered) if reference and current else ""
        self.readout.show_note(note if laid_over else "")

    def _read_pixels(self, place: tuple[float, float] | None) -> None:
        self._place = place
        readings = []
        for pane in self.panes.comparison.compared:
            canvas = self.panes.canvases[pane]
            own = place and (place[0] + canvas.offset[0], place[1] + canvas.offset[1])
            readings.append(read_pixel(self.panes.images[pane], self.pane_steps.name(pane).lower(), own))
        self.readout.show_readings([reading for reading in readings if reading is not None])

    def _show_zoom(self) -> None:
        scale = self.panes.scale
        text = "" if scale is None else zoom_text(scale)
        self.toolbar.show_zoom(f"fit · {text}" if text and self.panes.fitted else text)
        self.pictures.loader.need_halves(need=self.panes.needs_halves)

    def _show_comparison(self) -> None:
        self.toolbar.show_comparison(self.panes.comparison, self.panes.look)
        self.readout.set_panes(len(self.panes.comparison.compared))
        self.pictures.look_at(self._on_screen(), self._session.steps)
        self._show_pictures()

    def _show_playing(self) -> None:
        self.play_buttons.show_state(playing=self.player.playing, rate=self.player.rate)

    # What the user asks

    def _choose_pane_step(self) -> None:
        self.headers[self.panes.active].open_menu()

    def _set_gain(self, gain: int) -> None:
        self.panes.compare(replace(self.panes.comparison, gain=gain))

    def _set_blinks(self, blinks: int) -> None:
        self.panes.compare(replace(self.panes.comparison, blinks=blinks))

    def _set_reference_rule(self, shows: Shows) -> None:
        self.pane_steps.set_rule(0, Rule(shows, self._session.reference_step if shows is Shows.PINNED else 0))

    def _swap(self) -> None:
        session = self._session
        current, reference = session.step, session.reference_step
        self.pane_steps.set_rule(0, Rule(Shows.PINNED, current))
        session.choose_step(reference)

    def _turn(self, turn: Turn) -> None:
        self.panes.turns[self.panes.active] = turn
        self._show_pictures()

    def _set_turns_back(self, on: bool) -> None:
        self._turns_back = on
        self._show_pictures()

    def _show_filmstrip(self, shown: bool) -> None:
        self.filmstrip.setVisible(shown)
        self._memory.remember(_FILMSTRIP, shown)

    def _show_details(self, shown: bool) -> None:
        self._memory.remember(_DETAILS, shown)
        self.details.setVisible(shown)
        if shown and self._splitter.sizes()[1] < self.details.minimumWidth() + 1:
            self._splitter.setSizes([self.width() - _DETAILS_WIDTH, _DETAILS_WIDTH])

    def _hold_flip(self) -> None:
        self._flip(on=True)
        self._flip_end.begin()

    def _flip(self, *, on: bool) -> None:
        self.panes.flip(on=on)
        self._show_headers()

    def end_flip(self) -> None:
        """Show the current step again."""
        self._flip(on=False)
