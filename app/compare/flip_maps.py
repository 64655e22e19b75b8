"""FLIP of the two pictures compared: made for whole pictures off the UI thread, newest wish first."""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from app.compare.content import PaneImage
from app.compare.painting import picture_size, screen_pixels
from app.compare.viewport import Bounds, Placement

if TYPE_CHECKING:
    from app.session import Session
    from banana100_core.imaging.pyramid import Pyramid

MOST_PIXELS = 2_000_000
"""Larger pictures are halved first: FLIP is about what an eye sees of a screen, and is slow."""

_KEPT = 8


class FlipMaps(QObject):
    """Error maps of pairs of pictures."""

    updated = Signal()

    def __init__(self, session: Session, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._maps: OrderedDict[tuple[str, str], PaneImage] = OrderedDict()
        self._working = False
        self._wish: tuple[PaneImage, PaneImage] | None = None
        session.project_closed.connect(self._forget)

    def of(self, reference: PaneImage, image: PaneImage) -> PaneImage | None:
        """The error map of two pictures as grey levels, if it is made; else it is begun."""
        pair = reference.key, image.key
        if pair in self._maps:
            self._maps.move_to_end(pair)
            return self._maps[pair]
        if reference.pyramid is not None and image.pyramid is not None:
            self._wish = reference, image
            self._begin()
        return None

    def _begin(self) -> None:
        if self._working or self._wish is None or self._session.project is None:
            return
        (reference, image), self._wish = self._wish, None
        if reference.pyramid is None or image.pyramid is None:
            return
        one, other = reference.pyramid, image.pyramid
        self._working = True
        self._session.in_background(
            lambda: _error_map(one, other),
            lambda made: self._take((reference.key, image.key), made),
            self._go_on,
            once=True,
        )

    def _go_on(self) -> None:
        self._working = False
        self._begin()

    def _take(self, pair: tuple[str, str], made: Pyramid) -> None:
        self._maps[pair] = PaneImage(picture_size(made), made)
        while len(self._maps) > _KEPT:
            self._maps.popitem(last=False)
        self._go_on()
        self.updated.emit()

    def _forget(self) -> None:
        self._maps.clear()
        self._working, self._wish = False, None


def _error_map(reference: Pyramid, image: Pyramid) -> Pyramid:
    import numpy as np

    from banana100_core.imaging.flip import flip
    from banana100_core.imaging.pyramid import build

    level = next(each for each in image.levels if each.shape[0] * each.shape[1] <= MOST_PIXELS)
    height, width = level.shape[:2]
    area = Bounds(0, 0, width, height)
    one, other = (
        screen_pixels(pyramid, Placement(0, 0, width / size.width, height / size.height), area)
        for pyramid, size in ((each, picture_size(each)) for each in (reference, image))
    )
    errors = np.rint(flip(one, other) * 255).astype(np.uint8)
    return build(np.repeat(errors[..., None], 3, axis=2))
