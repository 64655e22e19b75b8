"""What a chain passes before each step: it is held there while paused, and turned back when all is to end."""

from __future__ import annotations

import threading


class Gate:
    """Shared by the chains that are paused and ended together; once ended it stays so."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._paused = False
        self._ended = False
        self.cancelled = False

    @property
    def paused(self) -> bool:
        """Chains are held."""
        return self._paused and not self._ended

    @property
    def ended(self) -> bool:
        """Chains are turned back."""
        return self._ended

    def passed(self) -> bool:
        """Wait while paused; False when the chain is to end."""
        with self._changed:
            self._changed.wait_for(lambda: self._ended or not self._paused)
            return not self._ended

    def wait(self, seconds: float) -> bool:
        """Wait so long; False at once when the chain is to end."""
        with self._changed:
            return not self._changed.wait_for(lambda: self._ended, seconds)

    def pause(self) -> None:
        """Hold chains."""
        with self._changed:
            self._paused = True

    def resume(self) -> None:
        """Let chains pass."""
        with self._changed:
            self._paused = False
            self._changed.notify_all()

    def end(self, *, cancelled: bool) -> None:
        """Turn chains back; `cancelled` when their runs are not to be resumed by themselves."""
        with self._changed:
            self._ended = True
            self.cancelled = cancelled
            self._changed.notify_all()
