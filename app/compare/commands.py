"""The comparison's part of the action table: what each action does to the panes."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

from app.compare.content import Shades
from app.compare.panes import BLINKS, COUNTS, Mode
from app.compare.rules import Shows
from app.compare.surroundings import Backdrop
from app.memory import Memory
from banana100_core.imaging.comparison import DifferenceMode
from banana100_core.imaging.look import Channel, Look, channel_table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from app.actions import ActionRegistry
    from app.compare.panes import Panes
    from app.compare.player import Player
    from app.session import Session

T = TypeVar("T")

REFERENCES = {
    Shows.FIRST: "view.reference_first",
    Shows.INITIAL: "view.reference_initial",
    Shows.PREVIOUS: "view.reference_previous",
    Shows.PINNED: "view.reference_pinned",
}
_MODES = {
    Mode.SIDE_BY_SIDE: "view.side_by_side",
    Mode.WIPE: "view.wipe",
    Mode.BLINK: "view.blink",
    Mode.DIFFERENCE: "view.difference",
}
_COUNTS = dict(zip(COUNTS, ("view.one_pane", "view.two_panes", "view.four_panes"), strict=True))
_DIFFERENCES = {kind: f"view.{kind}_difference" for kind in DifferenceMode}
_SHADES = {
    Shades.CHANNELS: "view.shades_channels",
    Shades.GREY: "view.shades_grey",
    Shades.FALSE_COLOUR: "view.shades_false_colour",
}
_CHANNELS = {channel: f"view.channel_{channel}" for channel in Channel}
_DIRECTIONS = {"left": (-1, 0), "right": (1, 0), "up": (0, -1), "down": (0, 1)}
_BACKDROP = "backdrop"  # as it is remembered
_PAN = 0.25  # of the pane
_SHIFT = 8  # device pixels
_DIVIDER_STEP = 1 / 32
_BRIGHTNESS_STEP, _GAMMA_STEP, _GAIN_STEP = 0.05, 2**0.25, 2**0.25
_MOST_BRIGHTNESS, _MOST_GAMMA, _MOST_GAIN = 1.0, 8.0, 32.0


class ViewCommands:
    """Connects the actions of mode, look and zoom, and keeps their checks true."""

    def __init__(self, session: Session, registry: ActionRegistry, panes: Panes, player: Player) -> None:
        self._session = session
        self._registry = registry
        self._panes = panes
        self._player = player
        self._memory = Memory.of(session)
        self._look = panes.look  # wished for; shown when its table is made
        self._connect_zoom()
        self._connect_modes()
        self._connect_look()
        registry.connect("run.play", self._play)
        registry.connect("run.play_faster", lambda: player.change_rate(1))
        registry.connect("run.play_slower", lambda: player.change_rate(-1))
        for key in ("view.link_panes", "view.filmstrip"):
            registry.qaction(key).setChecked(True)
        panes.comparison_changed.connect(self.show_state)
        player.changed.connect(self.show_state)
        self.show_state()

    def show_state(self) -> None:
        """Check the actions that are in force."""
        comparison = self._panes.comparison
        for table, chosen in (
            (_MODES, comparison.mode),
            (_COUNTS, comparison.count),
            (_DIFFERENCES, comparison.difference),
            (_SHADES, comparison.shades),
            (_CHANNELS, self._look.channel),
        ):
            self._registry.qaction(table[chosen]).setChecked(True)  # type: ignore[index]
        self._registry.qaction("run.play").setChecked(self._player.playing)

    def look_through(self, look: Look) -> None:
        """Show another look; its table, if it needs one, is made first, off the UI thread."""
        self._look = look
        if look.channel.needs_table and self._session.project is not None:
            self._session.in_background(lambda: channel_table(look.channel), lambda _table: self._show_look())
        else:
            self._show_look()

    def _show_look(self) -> None:
        self._panes.look_through(self._look)
        self.show_state()

    def _connect_zoom(self) -> None:
        registry, panes = self._registry, self._panes
        for name in ("fit", "fill", "actual_size", "zoom_in", "zoom_out"):
            registry.connect(f"view.{name}", lambda name=name: getattr(panes.active_canvas, name)())
        for name, (right, down) in _DIRECTIONS.items():
            registry.connect(
                f"view.pan_{name}",
                lambda right=right, down=down: panes.active_canvas.pan(_PAN * right, _PAN * down),
            )
            registry.connect(
                f"view.shift_{name}",
                lambda right=right, down=down: panes.active_canvas.shift(_SHIFT * right, _SHIFT * down),
            )
        registry.connect("view.align_panes", panes.align)
        registry.connect("view.link_panes", lambda checked: panes.link(on=checked))
        registry.connect("view.loupe", lambda checked: panes.set_loupe(on=checked))
        for backdrop in Backdrop:
            registry.connect(
                f"view.canvas_{backdrop}", lambda _checked, backdrop=backdrop: self._set_backdrop(backdrop)
            )
        remembered = self._memory.value(_BACKDROP)
        self._set_backdrop(next((each for each in Backdrop if each == remembered), Backdrop.GREY))

    def _set_backdrop(self, backdrop: Backdrop) -> None:
        self._panes.set_backdrop(backdrop)
        self._registry.qaction(f"view.canvas_{backdrop}").setChecked(True)
        if self._memory.value(_BACKDROP) != backdrop:
            self._memory.remember(_BACKDROP, backdrop.value)

    def _connect_modes(self) -> None:
        registry, panes = self._registry, self._panes

        def change(**changes: object) -> None:
            panes.compare(replace(panes.comparison, **changes))  # type: ignore[arg-type]
            self.show_state()

        for mode, key in _MODES.items():
            registry.connect(key, lambda _checked, mode=mode: change(mode=mode))
        for count, key in _COUNTS.items():
            registry.connect(key, lambda _checked, count=count: change(count=count, mode=Mode.SIDE_BY_SIDE))
        registry.connect(
            "view.more_panes",
            lambda: change(count=_after(COUNTS, panes.comparison.count, 1), mode=Mode.SIDE_BY_SIDE),
        )
        for kind, key in _DIFFERENCES.items():
            registry.connect(key, lambda _checked, kind=kind: change(difference=kind, mode=Mode.DIFFERENCE))
        registry.connect(
            "view.next_difference",
            lambda: change(
                difference=_after(tuple(DifferenceMode), panes.comparison.difference, 1), mode=Mode.DIFFERENCE
            ),
        )
        for shades, key in _SHADES.items():
            registry.connect(key, lambda _checked, shades=shades: change(shades=shades, mode=Mode.DIFFERENCE))
        registry.connect(
            "view.next_shades",
            lambda: change(shades=_after(tuple(Shades), panes.comparison.shades, 1), mode=Mode.DIFFERENCE),
        )
        registry.connect("view.more_gain", lambda: panes.compare(panes.comparison.with_gain(1)))
        registry.connect("view.less_gain", lambda: panes.compare(panes.comparison.with_gain(-1)))
        for key, stops in (("view.blink_faster", 1), ("view.blink_slower", -1)):
            registry.connect(
                key, lambda stops=stops: change(blinks=_stop(BLINKS, panes.comparison.blinks, stops))
            )
        registry.connect("view.divider_left", lambda: panes.move_divider(-_DIVIDER_STEP))
        registry.connect("view.divider_right", lambda: panes.move_divider(_DIVIDER_STEP))

    def _connect_look(self) -> None:
        registry = self._registry

        def change(**changes: object) -> None:
            self.look_through(replace(self._look, **changes))  # type: ignore[arg-type]

        for channel, key in _CHANNELS.items():
            registry.connect(key, lambda _checked, channel=channel: change(channel=channel))
        for key, by in (("view.next_channel", 1), ("view.previous_channel", -1)):
            registry.connect(
                key, lambda by=by: change(channel=_after(tuple(Channel), self._look.channel, by))
            )
        for key, step in (("view.brighter", _BRIGHTNESS_STEP), ("view.darker", -_BRIGHTNESS_STEP)):
            registry.connect(
                key,
                lambda step=step: change(
                    brightness=round(_within(self._look.brightness + step, -1.0, _MOST_BRIGHTNESS), 4)
                ),
            )
        for key, factor in (("view.more_gamma", _GAMMA_STEP), ("view.less_gamma", 1 / _GAMMA_STEP)):
            registry.connect(
                key, lambda factor=factor: change(gamma=_scaled(self._look.gamma, factor, _MOST_GAMMA))
            )
        for key, factor in (("view.more_contrast", _GAIN_STEP), ("view.less_contrast", 1 / _GAIN_STEP)):
            registry.connect(
                key, lambda factor=factor: change(gain=_scaled(self._look.gain, factor, _MOST_GAIN))
            )
        registry.connect("view.reset_look", lambda: self.look_through(Look()))

    def _play(self, checked: bool) -> None:
        if checked:
            self._player.play()
        else:
            self._player.stop()


def _after(values: Sequence[T], value: T, by: int) -> T:
    """The value that comes next in a round."""
    return values[(values.index(value) + by) % len(values)]


def _stop(values: Sequence[T], value: T, by: int) -> T:
    """The value that comes next, up to the last."""
    return values[min(max(values.index(value) + by, 0), len(values) - 1)]


def _within(value: float, low: float, high: float) -> float:
    return min(max(value, low), high)


def _scaled(value: float, factor: float, most: float) -> float:
    scaled = round(_within(value * factor, 1 / most, most), 4)
    return 1.0 if abs(scaled - 1) < 0.01 else scaled  # no look that differs from neutral by rounding alone
