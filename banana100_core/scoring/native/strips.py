"""Work on a picture strip by strip, so that memory grows with its width only, on several threads."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")


_STRIP_PIXELS = 180_000  # some float64 arrays of a strip fit the processor's cache


def strip_rows(width: int, multiple: int = 1) -> int:
    """Give how many rows of a plane make a strip of a good size, in whole multiples."""
    return max(1, round(_STRIP_PIXELS / width / multiple)) * multiple


def over_strips(work: Callable[[int, int], T], height: int, rows: int, threads: int) -> list[T]:
    """Call `work(top, bottom)` for each strip of `rows` rows; results are in order, whatever the threads do.

    NumPy releases the interpreter's lock in its loops, so that threads run side by side.
    """
    strips = [(top, min(top + rows, height)) for top in range(0, height, rows)]
    if threads <= 1 or len(strips) == 1:
        return [work(top, bottom) for top, bottom in strips]
    with ThreadPoolExecutor(threads, thread_name_prefix="strips") as pool:
        return list(pool.map(lambda strip: work(*strip), strips))
