"""How a command ends: exit codes and signals."""

from __future__ import annotations

import os
import signal
import sys
from enum import IntEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from types import FrameType


class Exit(IntEnum):
    """Exit codes of every command."""

    DONE = 0
    SOME_FAILED = 1  # each is named on stderr
    UNUSABLE = 2  # wrong usage or unusable input
    INTERRUPTED = 130  # all finished work is kept


def stop_on_signals() -> None:
    """Let Ctrl+C and SIGTERM raise KeyboardInterrupt in the main thread once; a second one ends at once.

    Ending at once loses nothing either: what was finished is committed, and workers end with their parent.
    """
    stopping = False

    def stop(_signal: int, _frame: FrameType | None) -> None:
        nonlocal stopping
        if stopping:
            os._exit(Exit.INTERRUPTED)
        stopping = True
        raise KeyboardInterrupt

    # A shell starts background jobs with SIGINT ignored; that wish is respected.
    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
        signal.signal(signal.SIGINT, stop)
    signal.signal(signal.SIGTERM, stop)
    if sys.platform == "win32":
        signal.signal(signal.SIGBREAK, stop)
