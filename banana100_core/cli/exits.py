"""How a command ends: exit codes and signals."""

from __future__ import annotations

import os
import signal
import sys
import time
from enum import IntEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from types import FrameType

PATIENCE_SECONDS = 1.0


class Exit(IntEnum):
    """Exit codes of every command."""

    DONE = 0
    SOME_FAILED = 1  # each is named on stderr
    UNUSABLE = 2  # wrong usage or unusable input
    INTERRUPTED = 130  # all finished work is kept


def stop_on_signals() -> None:
    """Let Ctrl+C and SIGTERM raise KeyboardInterrupt in the main thread, once; a later one ends at once.

    Ending at once loses nothing either: what was finished is committed, and workers end with their parent.
    """
    stopping_since: float | None = None

    def stop(_signal: int, _frame: FrameType | None) -> None:
        nonlocal stopping_since
        now = time.monotonic()
        if stopping_since is None:
            stopping_since = now
            raise KeyboardInterrupt
        # One wish may arrive as several signals: to the process, and to its group.
        if now - stopping_since > PATIENCE_SECONDS:
            os._exit(Exit.INTERRUPTED)

    # A shell starts background jobs with SIGINT ignored; that wish is respected.
    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
        signal.signal(signal.SIGINT, stop)
    signal.signal(signal.SIGTERM, stop)
    if sys.platform == "win32":
        signal.signal(signal.SIGBREAK, stop)
