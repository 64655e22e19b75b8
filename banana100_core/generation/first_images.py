"""Initial images that editors make from prompts: each is asked for by one run, once for all runs of it."""

from __future__ import annotations

import threading
from collections import defaultdict
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from banana100_core.generation.gate import Gate

_LOOK_AGAIN = 0.1  # seconds, whether all is to end


class FirstImages:
    """Shared by the chains of an executor."""

    def __init__(self) -> None:
        self._state = threading.Lock()
        self._turns: defaultdict[str, threading.Lock] = defaultdict(threading.Lock)
        self._failed: dict[str, str] = {}

    @contextmanager
    def turn(self, name: str, gate: Gate) -> Iterator[bool]:
        """Wait until no other run asks for the image of that name; False when the gate ended first."""
        with self._state:
            turn = self._turns[name]
        while not (mine := turn.acquire(timeout=_LOOK_AGAIN)) and not gate.ended:
            pass
        try:
            yield mine
        finally:
            if mine:
                turn.release()

    def failed(self, name: str) -> str:
        """Why there is no image of that name, so that no further run asks for it; "" if none has tried."""
        with self._state:
            return self._failed.get(name, "")

    def fail(self, name: str, reason: str) -> None:
        """Say why there is none."""
        with self._state:
            self._failed[name] = reason

    def try_again(self, names: Iterable[str]) -> None:
        """Let the images of these names be asked for, whatever happened before."""
        with self._state:
            for name in names:
                self._failed.pop(name, None)
