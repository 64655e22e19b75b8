"""Looking at one channel, brighter or with more contrast: for the eye only, nothing is scored or kept so."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
from PIL import Image as Pillow

from banana100_core.imaging.colour_spaces import RGB_TO_XYZ, WHITE, linear_values

if TYPE_CHECKING:
    from numpy.typing import NDArray

MOST_CHROMA = 134.0  # of any sRGB colour: pure blue has 133.8
_BYTE_OF = {"red": 0, "green": 1, "blue": 2}
# What is looked up at once, so that it stays in the processor's cache.
_STRIP_PIXELS = 2**16
_STRIP_VALUES = 2**20


class Channel(StrEnum):
    """What is shown of the colours, in grey for all but the first."""

    COLOUR = "colour"
    RED = "red"
    GREEN = "green"
    BLUE = "blue"
    LUMINANCE = "luminance"
    A = "a"
    B = "b"
    CHROMA = "chroma"

    @property
    def name_shown(self) -> str:
        """What it is called on screen."""
        return {
            "colour": "Colour",
            "luminance": "Luminance (L*)",
            "a": "a* (green to red)",
            "b": "b* (blue to yellow)",
            "chroma": "Chroma (C*)",
        }.get(self, self.value.capitalize())

    @property
    def needs_table(self) -> bool:
        """Whether it is looked up in a table that takes about a second to make."""
        return self in {Channel.LUMINANCE, Channel.A, Channel.B, Channel.CHROMA}


@dataclass(frozen=True, slots=True)
class Look:
    """A channel, and a curve laid over its values: gain, then brightness (in parts of white), then gamma."""

    channel: Channel = Channel.COLOUR
    brightness: float = 0.0
    gamma: float = 1.0
    gain: float = 1.0

    @property
    def neutral(self) -> bool:
        """Whether pictures are shown as they are."""
        return self == Look()

    @property
    def has_curve(self) -> bool:
        """Whether values are changed."""
        return (self.brightness, self.gamma, self.gain) != (0.0, 1.0, 1.0)

    @property
    def text(self) -> str:
        """What is not neutral, in few words."""
        parts = [] if self.channel is Channel.COLOUR else [self.channel.name_shown]
        if self.gain != 1.0:
            parts.append(f"gain {self.gain:.2f}")
        if self.brightness:
            parts.append(f"brightness {self.brightness:+.2f}")
        if self.gamma != 1.0:
            parts.append(f"gamma {self.gamma:.2f}")
        return ", ".join(parts)


NEUTRAL = Look()
"""Pictures as they are."""


def seen_through(look: Look, rgb: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Return pixels (H, W, 3) as a look shows them; of a single channel grey levels (H, W)."""
    values = rgb if look.channel is Channel.COLOUR else channel_values(look.channel, rgb)
    return _curved(values, look) if look.has_curve else values


def channel_values(channel: Channel, rgb: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Return one channel (H, W) of pixels (H, W, 3).

    L* [0, 100] and C* [0, 134] fill 0 to 255; a* and b* lie around 128, one unit a value.
    """
    if channel in _BYTE_OF:
        return np.ascontiguousarray(rgb[..., _BYTE_OF[channel]])
    table, values = channel_table(channel), np.empty(rgb.shape[:2], np.uint8)
    rows = max(1, _STRIP_PIXELS // max(1, rgb.shape[1]))
    for top in range(0, rgb.shape[0], rows):
        strip = rgb[top : top + rows]
        colours = strip[..., 0].astype(np.intp)
        for place in (1, 2):
            colours <<= 8
            colours |= strip[..., place]
        np.take(table, colours, out=values[top : top + rows], mode="clip")
    return values


@lru_cache(maxsize=2)
def channel_table(channel: Channel) -> NDArray[np.uint8]:
    """Return a channel's value for each of the 16,777,216 colours, by 0xRRGGBB; about a second's work.

    A table of all colours is exact, and a frame costs one look-up a pixel.
    """
    table = np.empty((256, 65_536), np.uint8)
    rows = (RGB_TO_XYZ / WHITE[:, None]).astype(np.float32)
    linear = linear_values()

    def curve(row: int, red: int) -> NDArray[np.float32]:
        red_part, green, blue = linear[red] * rows[row, 0], linear * rows[row, 1], linear * rows[row, 2]
        value = (red_part + green[:, None] + blue).ravel()
        low = value * np.float32((29 / 6) ** 2 / 3) + np.float32(4 / 29)
        return np.asarray(np.where(value > (6 / 29) ** 3, np.cbrt(value), low), np.float32)

    for red in range(256):
        y = curve(1, red)
        if channel is Channel.LUMINANCE:
            shown = (116 * y - 16) * np.float32(2.55)
        elif channel is Channel.A:
            shown = 500 * (curve(0, red) - y) + 128
        elif channel is Channel.B:
            shown = 200 * (y - curve(2, red)) + 128
        else:
            chroma = np.hypot(500 * (curve(0, red) - y), 200 * (y - curve(2, red)))
            shown = chroma * np.float32(255 / MOST_CHROMA)
        table[red] = np.clip(np.rint(shown), 0, 255)
    return table.reshape(-1)


@lru_cache(maxsize=8)
def _curve(brightness: float, gamma: float, gain: float) -> tuple[int, ...]:
    value = np.clip(np.arange(256) / 255 * gain + brightness, 0, 1) ** (1 / gamma)
    return tuple(np.rint(value * 255).astype(int).tolist())


def _curved(values: NDArray[np.uint8], look: Look) -> NDArray[np.uint8]:
    # Pillow looks up a byte in a third of a nanosecond; numpy would first widen each to an index.
    curve = _curve(look.brightness, look.gamma, look.gain)
    shown = np.empty(values.shape, np.uint8)
    height, across = values.shape[0], values[0].size
    rows = max(1, _STRIP_VALUES // max(1, across))
    for top in range(0, height, rows):
        strip = np.ascontiguousarray(values[top : top + rows])
        picture = Pillow.frombuffer("L", (across, len(strip)), strip, "raw", "L", 0, 1)
        shown[top : top + rows] = np.asarray(picture.point(curve)).reshape(strip.shape)
    return shown
