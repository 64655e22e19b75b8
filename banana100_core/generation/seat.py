"""An editor at work: in a process of its own when it computes on this machine."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from banana100_core.generation.editor import EditResult, EditSettings
from banana100_core.generation.providers import capabilities, editor
from banana100_core.processes import WorkerProcess

if TYPE_CHECKING:
    from collections.abc import Callable

Edit = tuple[bytes, str, EditSettings]


class EditorSeat:
    """Edits for one chain at a time. The worker starts with the first edit, and anew after it died."""

    def __init__(self, provider: str, model: str) -> None:
        """Raises ProviderError when there is no such editor."""
        self.provider = provider
        self.model = model
        self.capabilities = capabilities(provider, model)
        self.stopped = False
        self._worker: WorkerProcess | None = None
        if self.capabilities.in_worker:
            self._worker = WorkerProcess(
                partial(_serve, provider, model), f"editor {provider}", background=True
            )
        else:
            self._editor = editor(provider, model)

    @property
    def pid(self) -> int | None:
        """The worker's process id while it is alive."""
        return None if self._worker is None else self._worker.pid

    def edit(self, image: bytes, prompt: str, settings: EditSettings) -> EditResult:
        """Ask for one edit; besides the editor's own errors, WorkerDiedError when its process ended."""
        if self._worker is None:
            return self._editor.edit(image, prompt, settings)
        result: EditResult = self._worker.request((image, prompt, settings))
        return result

    def stop(self) -> None:
        """End the worker at once and for good; an edit that it is at raises WorkerDiedError.

        A call to a service is waited for instead: its answer is paid.
        """
        if self._worker is not None:
            self.stopped = True
            self._worker.stop()

    def close(self) -> None:
        """Stop the worker, or close the editor's connections; no edit may be under way."""
        self.stop()
        if self._worker is None and (close := getattr(self._editor, "close", None)) is not None:
            close()


class HeldSeat:
    """The seat of one thread, kept from run to run while the editor stays: a large one loads for minutes.

    Only workers are kept. The connections of a service are opened anew for each run, with the key of then.
    """

    def __init__(self) -> None:
        self._seat: EditorSeat | None = None

    @property
    def empty(self) -> bool:
        """Whether there is nothing to close."""
        return self._seat is None

    def take(self, provider: str, model: str) -> EditorSeat:
        """The seat of an editor; ProviderError when there is none such."""
        held = self._seat
        if held is None or held.stopped or (held.provider, held.model) != (provider, model):
            self.close()
            self._seat = held = EditorSeat(provider, model)
        return held

    def put_back(self) -> None:
        """Say that the run is over."""
        if self._seat is not None and not self._seat.capabilities.in_worker:
            self.close()

    def close(self) -> None:
        """Close the seat."""
        if self._seat is not None:
            self._seat.close()
            self._seat = None


def _serve(provider: str, model: str) -> Callable[[Edit], EditResult]:
    served = editor(provider, model)
    return lambda edit: served.edit(*edit)
