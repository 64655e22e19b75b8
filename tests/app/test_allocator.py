"""Freed memory goes back to the system while pictures come and go."""

from __future__ import annotations

import subprocess
import sys

import pytest

_HELD = """
import threading
import psutil
from app.allocator import hold_little_back
hold_little_back()
def decode():
    for megabytes in (30, 2, 2, 2):
        blocks = [bytearray(b"x") * (megabytes * 2**20) for _ in range(16)]
        del blocks
before = psutil.Process().memory_info().rss
for _ in range(3):
    thread = threading.Thread(target=decode)
    thread.start()
    thread.join()
print((psutil.Process().memory_info().rss - before) / 2**20)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="only glibc is told")
def test_what_threads_free_does_not_stay_with_the_program():
    done = subprocess.run(
        [sys.executable, "-c", _HELD], check=True, capture_output=True, text=True, timeout=60
    )
    assert float(done.stdout) < 4
