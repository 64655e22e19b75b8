"""What is measured of a picture to suggest failure modes."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

import numpy as np
from PIL import Image as Pillow

from banana100_core.imaging.colour_spaces import to_lab

if TYPE_CHECKING:
    from numpy.typing import NDArray

_COLOUR_SIDE = 256  # pixels; colours of a whole picture need no more
_TURN_SIDE = 64


class Turn(StrEnum):
    """How a picture may have been turned."""

    UNCHANGED = "unchanged"
    MIRRORED = "mirrored"
    CLOCKWISE = "turned clockwise"
    COUNTERCLOCKWISE = "turned counterclockwise"
    UPSIDE_DOWN = "turned upside down"


@dataclass(frozen=True, slots=True)
class Measured:
    """Figures of one picture; `small` is its lightness, 64 by 64 whatever its shape."""

    width: int
    height: int
    a_star: float  # mean of CIELAB's a*: green is negative
    chroma: float  # which one pixel in 20 exceeds
    noise: float  # standard deviation, in grey levels
    small: NDArray[np.float32]


def measure(pixels: NDArray[np.uint8]) -> Measured:
    """Measure an RGB picture of shape (height, width, 3)."""
    height, width = pixels.shape[:2]
    picture = Pillow.fromarray(pixels)
    lab = to_lab(np.asarray(_reduced(picture, _COLOUR_SIDE)))
    grey = picture.convert("L")
    chroma = np.hypot(lab[..., 1], lab[..., 2])
    return Measured(
        width,
        height,
        float(lab[..., 1].mean()),
        float(np.percentile(chroma, 95)),
        noise_of(np.asarray(grey)),
        _small(grey),
    )


def small_of(pixels: NDArray[np.uint8]) -> NDArray[np.float32]:
    """The lightness of an RGB picture as `best_turn` takes it."""
    return _small(Pillow.fromarray(np.ascontiguousarray(pixels)).convert("L"))


def turned_back(pixels: NDArray[np.uint8], turn: Turn) -> NDArray[np.uint8]:
    """A picture (H, W, 3) that was turned, as it was before."""
    match turn:
        case Turn.MIRRORED:
            return pixels[:, ::-1]
        case Turn.CLOCKWISE:
            return np.rot90(pixels)
        case Turn.COUNTERCLOCKWISE:
            return np.rot90(pixels, -1)
        case Turn.UPSIDE_DOWN:
            return np.rot90(pixels, 2)
        case _:
            return pixels


def noise_of(grey: NDArray[np.uint8]) -> float:
    """Standard deviation of the noise in a grey picture, after Immerkær (1996).

    Its mask is blind to planes and edges that run straight; fine texture counts as noise.
    """
    if min(grey.shape) < 3:
        return 0.0
    values = grey.astype(np.float32)
    rows = values[:-2] - 2 * values[1:-1] + values[2:]
    both = rows[:, :-2] - 2 * rows[:, 1:-1] + rows[:, 2:]
    return float(math.sqrt(math.pi / 2) / 6 * np.abs(both).mean())


def best_turn(sent: NDArray[np.float32], there: NDArray[np.float32]) -> tuple[Turn, dict[Turn, float]]:
    """Which turn of the one picture the other is most like, and the correlation with each."""
    turns = {
        Turn.UNCHANGED: sent,
        Turn.MIRRORED: sent[:, ::-1],
        Turn.CLOCKWISE: np.rot90(sent, -1),
        Turn.COUNTERCLOCKWISE: np.rot90(sent),
        Turn.UPSIDE_DOWN: np.rot90(sent, 2),
    }
    likeness = {turn: _correlation(turned, there) for turn, turned in turns.items()}
    return max(likeness, key=lambda turn: likeness[turn]), likeness


def _correlation(one: NDArray[np.float32], other: NDArray[np.float32]) -> float:
    a, b = one - one.mean(), other - other.mean()
    scale = math.sqrt(float((a * a).sum()) * float((b * b).sum()))
    return float((a * b).sum()) / scale if scale else 0.0


def _small(grey: Pillow.Image) -> NDArray[np.float32]:
    return np.asarray(grey.resize((_TURN_SIDE, _TURN_SIDE), Pillow.Resampling.BOX), np.float32)


def _reduced(picture: Pillow.Image, side: int) -> Pillow.Image:
    factor = max(1, max(picture.size) // side)
    return picture.reduce(factor) if factor > 1 else picture
