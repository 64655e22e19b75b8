"""Threads that work for the window, and give way to it."""

from __future__ import annotations

import contextlib
import os
import sys
import threading

_NICE = 5
"""Scoring gives way further, at 15; these threads take the interpreter's lock between two pieces of work.

Where other programs keep all cores busy, who gives way by more holds that lock while it waits for a core, and
the UI thread waits with it: at 10, the 99th percentile of its loop's gaps was twice as long.
"""


def give_way() -> None:
    """Let the UI thread go before this one; and threads that this one starts, which inherit it.

    Only Linux keeps a nice value for each thread; elsewhere the system shares its cores out as it does.
    """
    if sys.platform == "linux":
        with contextlib.suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), _NICE)
