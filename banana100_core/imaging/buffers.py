"""Memory for decoded pictures, used again: new memory takes the system a tenth of a large decode and more."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

_LEAST_BYTES = 4_000_000  # smaller pictures come from what the C library holds anyway

_free: deque[NDArray[np.uint8]] = deque(maxlen=1)


class _Lent:
    """What an array and all its views stand on; its memory is free again when the last of them is gone."""

    def __init__(self, memory: NDArray[np.uint8]) -> None:
        self._memory = memory
        self.__array_interface__ = memory.__array_interface__

    def __del__(self) -> None:
        _free.append(self._memory)


def new_picture(height: int, width: int) -> NDArray[np.uint8]:
    """Return an RGB picture (height, width, 3) whose pixels are still to be filled.

    It takes the memory of the latest one that was let go of, if that was of its size. For any thread.
    """
    size = height * width * 3
    if size < _LEAST_BYTES:
        return np.empty((height, width, 3), np.uint8)
    try:
        memory = _free.pop()
    except IndexError:
        memory = np.empty(size, np.uint8)
    if memory.nbytes != size:
        memory = np.empty(size, np.uint8)
    return np.asarray(_Lent(memory)).reshape(height, width, 3)


def give_back() -> None:
    """Keep nothing for the next picture."""
    _free.clear()
