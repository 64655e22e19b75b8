"""The luma planes that the three metrics share."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from banana100_core.scoring.native.strips import over_strips, strip_rows

Plane = NDArray[np.uint8]
_WEIGHTS = np.array([0.299, 0.587, 0.114], dtype=np.float32)


class Luma:
    """Planes derived from one picture (uint8, (H, W, 3), RGB), each made once and only when asked for."""

    def __init__(self, pixels: NDArray[np.uint8], threads: int = 1) -> None:
        self.height, self.width = pixels.shape[:2]
        self.threads = threads
        self._pixels = pixels

    @cached_property
    def rounded(self) -> Plane:
        """Luma in whole steps of 0 to 255, as BRISQUE and NIQE take it."""
        return self._rounded_and_brightest[0]

    @cached_property
    def stretched(self) -> Plane:
        """Luma stretched so that the brightest pixel is 255, as PIQE takes it; all 0 for a black picture."""
        rounded, brightest = self._rounded_and_brightest
        if brightest in {0.0, 1.0}:
            return rounded
        plane = np.empty_like(rounded)

        def fill(top: int, bottom: int) -> None:
            luma = self._luma(top, bottom)
            luma /= brightest
            luma *= np.float32(255)
            plane[top:bottom] = np.rint(luma, out=luma)

        over_strips(fill, self.height, strip_rows(self.width), self.threads)
        return plane

    @cached_property
    def _rounded_and_brightest(self) -> tuple[Plane, np.float32]:
        plane = np.empty((self.height, self.width), dtype=np.uint8)

        def fill(top: int, bottom: int) -> np.float32:
            luma = self._luma(top, bottom)
            brightest = luma.max()
            luma *= np.float32(255)
            plane[top:bottom] = np.rint(luma, out=luma)
            return np.float32(brightest)

        return plane, max(over_strips(fill, self.height, strip_rows(self.width), self.threads))

    def _luma(self, top: int, bottom: int) -> NDArray[np.float32]:
        """Luma on [0, 1] by pyiqa's own float32 operations: one in a thousand lies halfway between steps."""
        luma: NDArray[np.float32] | None = None
        for channel, weight in enumerate(_WEIGHTS):
            part = self._pixels[top:bottom, :, channel].astype(np.float32)
            part /= np.float32(255)
            part *= weight
            luma = part if luma is None else np.add(luma, part, out=luma)
        assert luma is not None  # noqa: S101 - three channels
        return luma
