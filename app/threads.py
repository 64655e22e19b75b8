"""Threads that work for the window, and give way to it."""

from __future__ import annotations

import contextlib
import os
import sys
import threading

_NICE = 10  # scoring gives way further, at 15


def give_way() -> None:
    """Let the UI thread go before this one; and threads that this one starts, which inherit it.

    Only Linux keeps a nice value for each thread; elsewhere the system shares its cores out as it does.
    """
    if sys.platform == "linux":
        with contextlib.suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), _NICE)
