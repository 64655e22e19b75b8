"""sqlite-utils, without the pandas that it imports wherever that is installed: 80 MB and a second."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["Database", "Migrations"]


@contextmanager
def _as_if_absent(module: str) -> Iterator[None]:
    """Let imports of a module fail meanwhile, unless it has been imported already."""
    if module in sys.modules:
        yield
        return
    sys.modules[module] = None  # type: ignore[assignment]  # what Python takes for a module that isn't there
    try:
        yield
    finally:
        del sys.modules[module]


with _as_if_absent("pandas"):
    from sqlite_utils import Database
    from sqlite_utils.migrations import Migrations
