"""The devices that scores can be computed on. Torch is asked for them in a process of its own."""

from __future__ import annotations

import logging
import os
import re
from importlib.util import find_spec
from typing import TYPE_CHECKING

from banana100_core.errors import MetricError
from banana100_core.processes import WorkerProcess

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

CPU = "cpu"
_GRAPHICS = re.compile(r"cuda:\d+|mps")
_SECONDS = 120.0

log = logging.getLogger(__name__)

_found: dict[str, str] | None = None  # they don't change while the program runs


class DeviceFinder:
    """Finds the graphics cards that torch can compute on; `stop` ends that from another thread."""

    def __init__(self) -> None:
        self._worker = WorkerProcess(_make_finder, "devices")

    def find(self) -> dict[str, str]:
        """Give their names, as torch has them, and what they are; none without torch."""
        global _found  # noqa: PLW0603
        if _found is None:
            if find_spec("torch") is None:
                return {}
            try:
                _found = dict(self._worker.request(None, timeout=_SECONDS))
            finally:
                self._worker.stop()
        return dict(_found)

    def cards(self) -> list[str]:
        """Give their names; none, with a warning in the log, where they can't be looked for."""
        try:
            return list(self.find())
        except Exception as error:  # noqa: BLE001 - there is still the CPU
            log.warning("Graphics cards can't be looked for: %s", error)
            return []

    def stop(self) -> None:
        """End the search; `find` raises WorkerDiedError then."""
        self._worker.stop()


def cores() -> int:
    """How many cores of the CPU this program may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def graphics_cards() -> dict[str, str]:
    """Give the devices beside the CPU that torch can use, and what they are."""
    return DeviceFinder().find()


def need_devices(asked: Iterable[str], finder: DeviceFinder | None = None) -> None:
    """Raise MetricError where a device that was asked for is not here."""
    asked = list(asked)
    need_names(asked)
    if all(device == CPU for device in asked):
        return
    known = [CPU, *(finder or DeviceFinder()).find()]
    for device in asked:
        if device not in known:
            raise MetricError(f"There is no device {device!r} here. There are: {', '.join(known)}.")


def need_names(asked: Iterable[str]) -> None:
    """Raise MetricError for what can't be a device anywhere."""
    for device in asked:
        if device != CPU and not _GRAPHICS.fullmatch(device):
            raise MetricError(f"There is no device {device!r}. A device is cpu, cuda:0, cuda:1 ... or mps.")


def _make_finder() -> Callable[[object], dict[str, str]]:
    import torch

    def find(_message: object) -> dict[str, str]:
        found = {}
        for index in range(torch.cuda.device_count()):
            card = torch.cuda.get_device_properties(index)
            found[f"cuda:{index}"] = f"{card.name}, {card.total_memory / 1e9:.1f} GB"
        if torch.backends.mps.is_available():
            found["mps"] = "Apple GPU"
        return found

    return find
