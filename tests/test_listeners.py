from __future__ import annotations

import logging

from banana100_core.listeners import Listeners


def test_all_hear_whoever_fails_until_they_unsubscribe(caplog) -> None:
    listeners: Listeners[int] = Listeners("the weather")
    heard: list[int] = []

    def fail(_news: int) -> None:
        raise ValueError("not today")

    listeners.subscribe(fail)
    unsubscribe = listeners.subscribe(heard.append)
    with caplog.at_level(logging.ERROR):
        listeners.tell(1)
    assert "A listener to the weather failed" in caplog.text
    unsubscribe()
    unsubscribe()
    listeners.tell(2)
    assert heard == [1]


def test_a_listener_may_unsubscribe_while_it_is_told() -> None:
    listeners: Listeners[int] = Listeners("the weather")
    heard: list[int] = []
    unsubscribe = listeners.subscribe(lambda news: (heard.append(news), unsubscribe()))
    listeners.tell(1)
    listeners.tell(2)
    listeners.subscribe(heard.append)
    listeners.clear()
    listeners.tell(3)
    assert heard == [1]
