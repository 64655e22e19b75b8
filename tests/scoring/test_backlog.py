"""The order in which pictures are scored."""

from __future__ import annotations

import pytest

from banana100_core.scoring.backlog import Backlog, Priority


@pytest.fixture
def backlog() -> Backlog:
    backlog = Backlog()
    for name in "abcdef":
        backlog.add(name, ["piqe"], Priority.BACKLOG)
    return backlog


def order(backlog: Backlog) -> str:
    return "".join(sha256 for sha256, _ in backlog.clear())


def test_first_come_first_served_without_wishes(backlog):
    assert order(backlog) == "abcdef"
    assert not backlog


def test_priorities_then_arrival(backlog):
    backlog.add("e", [], Priority.SELECTION)
    backlog.add("c", [], Priority.RUN)
    backlog.add("x", ["piqe"], Priority.ON_SCREEN)
    backlog.add("c", [], Priority.BACKLOG)  # no way back
    assert order(backlog) == "xceabdf"


def test_the_preferred_run_goes_outwards_from_the_screen(backlog):
    backlog.add("f", [], Priority.SELECTION)
    backlog.prefer("d", ["b", "c", "d", "e", "e"])
    assert order(backlog) == "dcebfa"


def test_a_newer_wish_replaces_the_older(backlog):
    backlog.prefer("d", ["c", "d", "e"])
    assert backlog.first() == "d"
    backlog.prefer("f", [])
    assert order(backlog) == "fabcde"


def test_the_screen_may_show_what_does_not_wait(backlog):
    backlog.prefer("z", ["z", "e"])
    assert order(backlog) == "eabcdf"


def test_metrics_gather_without_doubling():
    backlog = Backlog()
    backlog.add("a", ["piqe", "niqe"], Priority.BACKLOG)
    backlog.add("a", ["niqe", "brisque"], Priority.BACKLOG)
    assert "a" in backlog
    assert backlog.take() == ("a", ("piqe", "niqe", "brisque"))
    assert not backlog
    assert "a" not in backlog
