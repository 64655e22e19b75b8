"""Who wants to hear of something that goes on."""

from __future__ import annotations

import logging
import threading
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")

log = logging.getLogger(__name__)


class Listeners(Generic[T]):
    """Tells everyone who has subscribed; one that fails doesn't keep the others. For any thread."""

    def __init__(self, subject: str) -> None:
        """`subject` names in the log what was listened to."""
        self._subject = subject
        self._lock = threading.Lock()
        self._all: list[Callable[[T], object]] = []

    def subscribe(self, listener: Callable[[T], object]) -> Callable[[], None]:
        """Call `listener` with what is told from now on; returns how to end that."""
        with self._lock:
            self._all.append(listener)

        def unsubscribe() -> None:
            with self._lock:
                if listener in self._all:
                    self._all.remove(listener)

        return unsubscribe

    def tell(self, news: T) -> None:
        """Call all of them, on this thread."""
        with self._lock:
            everyone = tuple(self._all)
        for listener in everyone:
            try:
                listener(news)
            except Exception:
                log.exception("A listener to %s failed", self._subject)

    def clear(self) -> None:
        """Tell nobody any more."""
        with self._lock:
            self._all.clear()
