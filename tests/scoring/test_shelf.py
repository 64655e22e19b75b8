"""One memory budget for the models of every backend."""

from __future__ import annotations

import pytest

from banana100_core.errors import MetricError
from banana100_core.scoring.shelf import BYTES_OF_LIBRARIES, ModelShelf

ROOM = 1_000_000_000


@pytest.fixture
def shelf():
    """Room for a gigabyte beside the libraries, of which three models hold 900 MB."""
    shelf = ModelShelf(max_memory=BYTES_OF_LIBRARIES + ROOM)
    for metric, size in (("cnniqa", 100), ("rali", 500), ("musiq", 300)):
        shelf.put(metric, object(), size * 1_000_000)
    return shelf


def test_what_fits_moves_nothing(shelf) -> None:
    shelf.make_room("cnniqa", 200_000_000)
    assert shelf.held == ["cnniqa", "rali", "musiq"]


def test_models_of_another_backend_make_room_too_the_longest_unused_first(shelf) -> None:
    shelf.take("cnniqa")
    shelf.make_room("musiq", 600_000_000)
    assert shelf.held == ["musiq", "cnniqa"]
    shelf.make_room("rali", 1_000_000_000)
    assert shelf.held == []


def test_what_can_never_fit_is_said_and_moves_nothing(shelf) -> None:
    with pytest.raises(MetricError, match=r"rali would need about 2\.6 GB .* 2\.5 GB are allowed"):
        shelf.make_room("rali", 1_100_000_000)
    assert len(shelf.held) == 3


def test_native_metrics_shrink_it(shelf) -> None:
    shelf.shrink(350_000_000)
    assert shelf.held == ["musiq"]
    shelf.shrink(-1)
    assert shelf.held == []


def test_without_a_budget_all_stays() -> None:
    shelf = ModelShelf()
    shelf.put("rali", object(), 10**12)
    shelf.make_room("musiq", 10**12)
    assert shelf.held == ["rali"]
