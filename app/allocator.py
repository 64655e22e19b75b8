"""How much freed memory the C library holds back; only glibc is told, others are left as they are."""

from __future__ import annotations

import ctypes
import sys

# Blocks from the first size on go back to the system when they are freed; of smaller ones the second stays.
_MMAP_THRESHOLD, _TRIM_THRESHOLD = -3, -1
_MMAP_BYTES, _TRIM_BYTES = 2**19, 2**20


def hold_little_back() -> None:
    """Keep glibc from raising its limits to tens of megabytes, as it does once a large block is freed.

    Each thread that decodes pictures would hold back as much.
    """
    if (library := _glibc()) is not None:
        library.mallopt(_MMAP_THRESHOLD, _MMAP_BYTES)
        library.mallopt(_TRIM_THRESHOLD, _TRIM_BYTES)


def give_back() -> None:
    """Return all that is freed to the system now."""
    if (library := _glibc()) is not None:
        library.malloc_trim(0)


def _glibc() -> ctypes.CDLL | None:
    if sys.platform != "linux":
        return None
    library = ctypes.CDLL(None)
    return library if hasattr(library, "mallopt") and hasattr(library, "malloc_trim") else None
