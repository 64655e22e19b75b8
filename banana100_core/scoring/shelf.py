"""The models that a worker holds, all within one memory budget. Only workers import this module."""

from __future__ import annotations

import gc
from collections import OrderedDict
from dataclasses import dataclass
from typing import Any

from banana100_core.errors import MetricError
from banana100_core.scoring.devices import CPU

BYTES_OF_LIBRARIES = 1_500_000_000


@dataclass(frozen=True, slots=True)
class _Held:
    model: Any
    byte_size: int


class ModelShelf:
    """Holds the models of every backend on one device; not for two threads.

    On the CPU the budget is the process's, libraries included, and the model that was not used for longest
    makes room. A graphics card's share is set with torch, which says itself when there is no more.
    """

    def __init__(self, device: str = CPU, max_memory: int | None = None) -> None:
        """`max_memory` is in bytes; None leaves it open."""
        self.device = device
        self.max_memory = max_memory
        self._held: OrderedDict[str, _Held] = OrderedDict()
        self._limit_card()

    @property
    def held(self) -> list[str]:
        """Metrics whose models are held, the longest unused first."""
        return list(self._held)

    def take(self, metric: str) -> Any | None:  # noqa: ANN401 - models have no common type
        """Give a metric's model, which counts as used now; None where it is not held."""
        if metric not in self._held:
            return None
        self._held.move_to_end(metric)
        return self._held[metric].model

    def put(self, metric: str, model: object, byte_size: int) -> None:
        """Hold a model."""
        self._held[metric] = _Held(model, byte_size)

    def size_of(self, metric: str) -> int:
        """How many bytes a model takes that is held."""
        return self._held[metric].byte_size

    def let_go_of(self, *metrics: str) -> None:
        """Hold some models no longer."""
        for metric in metrics:
            del self._held[metric]
        if not metrics:
            return
        gc.collect()
        if self.device != CPU:
            import torch

            torch.accelerator.empty_cache()

    def make_room(self, metric: str, needed: int) -> None:
        """Let go of other models until a metric's model and work fit, in bytes; MetricError if they can't."""
        if self.max_memory is None or self.device != CPU:
            return
        if BYTES_OF_LIBRARIES + needed > self.max_memory:
            raise MetricError(too_much(metric, BYTES_OF_LIBRARIES + needed, self.max_memory))
        self.shrink(self.max_memory - BYTES_OF_LIBRARIES - needed, keep=metric)

    def shrink(self, byte_size: int, keep: str | None = None) -> None:
        """Let go of models, those not used for longest first, until all but `keep` take no more than this."""
        others = [key for key in self._held if key != keep]
        left = sum(self._held[key].byte_size for key in others)
        leaving = []
        while others and left > byte_size:
            leaving.append(others.pop(0))
            left -= self._held[leaving[-1]].byte_size
        self.let_go_of(*leaving)

    def _limit_card(self) -> None:
        if self.max_memory is None or self.device == CPU:
            return
        import torch

        if self.device.startswith("cuda"):
            whole = torch.cuda.get_device_properties(self.device).total_memory
            torch.cuda.set_per_process_memory_fraction(min(1.0, self.max_memory / whole), self.device)
        else:
            whole = torch.mps.recommended_max_memory()
            torch.mps.set_per_process_memory_fraction(min(1.0, self.max_memory / whole))


def too_much(metric: str, needed: int, allowed: int) -> str:
    """Say that a picture would need more bytes than are allowed."""
    sizes = f"{needed / 1e9:.1f} GB for this picture; {allowed / 1e9:.1f} GB are allowed"
    return f"{metric} would need about {sizes}."
