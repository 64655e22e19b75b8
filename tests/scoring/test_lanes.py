"""Which worker scores what, and which pictures go together."""

from __future__ import annotations

from dataclasses import replace

import pytest

from banana100_core.catalog.metrics import metrics
from banana100_core.scoring.backlog import Priority
from banana100_core.scoring.lanes import Lanes, Seat, seats_at
from banana100_core.scoring.methods import chosen_backends

METHODS = {"piqe": "native-1", "cnniqa": "pyiqa-1", "rali": "rali-1"}
SMALL = (500, 400)
CPU, CARD, OTHER_CARD = Seat("cpu", 2), Seat("cuda:0", 1), Seat("cuda:1", 1)
HELPER = Seat("cpu", 2, helper=True)


@pytest.fixture
def lanes():
    """Of the learned metrics only CNNIQA takes pictures together."""
    catalog = {key: replace(each, batches=key == "cnniqa") for key, each in metrics().items()}
    return Lanes(chosen_backends(), catalog)


def test_learned_metrics_go_to_the_card_and_native_ones_to_the_cpu(lanes) -> None:
    assert not lanes
    lanes.open(CPU)
    lanes.open(CARD)
    lanes.add("a", ["piqe", "cnniqa", "rali"], Priority.BACKLOG)
    assert lanes.take(CPU, METHODS).methods == {"piqe": "native-1"}
    assert lanes.take(CARD, METHODS).methods == {"cnniqa": "pyiqa-1", "rali": "rali-1"}
    assert not lanes.waits_for(CPU)


def test_one_kind_of_device_does_all(lanes) -> None:
    lanes.open(OTHER_CARD)
    lanes.add("a", ["piqe", "cnniqa"], Priority.BACKLOG)
    assert set(lanes.take(OTHER_CARD, METHODS).methods) == {"piqe", "cnniqa"}
    lanes.open(CARD)
    assert lanes.lose(OTHER_CARD)
    assert not lanes.lose(CARD)
    assert not lanes


def add(lanes, names: str, size=SMALL, metrics=("cnniqa",)) -> None:
    lanes.open(CPU)
    for name in names:
        lanes.add(name, list(metrics), Priority.BACKLOG, size)


def test_pictures_of_one_size_go_together_in_their_order(lanes) -> None:
    add(lanes, "abc")
    add(lanes, "d", (400, 500))
    add(lanes, "e")
    assert lanes.take(CPU, METHODS).sha256s == ("a", "b", "c")
    assert lanes.take(CPU, METHODS).sha256s == ("d",)


def test_only_with_the_same_metrics_of_which_one_takes_them_together(lanes) -> None:
    add(lanes, "a")
    add(lanes, "b", metrics=("cnniqa", "piqe"))
    add(lanes, "cd", metrics=("piqe",))
    assert [lanes.take(CPU, METHODS).sha256s for _ in range(4)] == [("a",), ("b",), ("c",), ("d",)]


def test_a_batch_is_no_more_work_than_a_usual_picture(lanes) -> None:
    add(lanes, "abcde", (1000, 800))
    task = lanes.take(CPU, METHODS)
    assert task.sha256s == ("a", "b")
    assert task.following == ("c", "d")


def test_the_picture_on_screen_goes_alone(lanes) -> None:
    add(lanes, "abc")
    lanes.prefer("b", [])
    assert lanes.take(CPU, METHODS).sha256s == ("b",)
    assert lanes.take(CPU, METHODS).sha256s == ("a", "c")


def test_the_cpu_has_a_few_workers_and_a_card_one() -> None:
    assert [(each.device, each.threads, each.helper) for each in seats_at("cpu", 2)] == [
        ("cpu", 2, False),
        ("cpu", 2, True),
    ]
    assert len(seats_at("cpu", 1)) == 1
    assert len(seats_at("cpu", 64)) == 4
    assert len(seats_at("cuda:3", 8)) == 1


def test_a_helper_leaves_what_needs_a_model(lanes) -> None:
    lanes.open(HELPER)
    add(lanes, "a", metrics=("piqe", "cnniqa"))
    add(lanes, "b", metrics=("piqe",))
    assert not lanes.waits_for(HELPER)
    assert lanes.take(CPU, METHODS).sha256s == ("a",)
    assert lanes.waits_for(HELPER)
    assert lanes.take(HELPER, METHODS).sha256s == ("b",)


def test_workers_at_work_share_the_threads(lanes) -> None:
    lanes.open(HELPER)
    add(lanes, "abc", metrics=("piqe",))
    assert lanes.take(CPU, METHODS).threads == 1, "the helper begins in an instant"
    assert lanes.take(HELPER, METHODS).threads == 1
    lanes.rest(CPU)
    assert lanes.take(CPU, METHODS).threads == 1
    lanes.rest(CPU)
    lanes.rest(HELPER)
    add(lanes, "d", metrics=("piqe",))
    assert lanes.take(CPU, METHODS).threads == 2, "nothing is left to share with"


def test_what_others_take_before_is_not_decoded_ahead(lanes) -> None:
    lanes.open(HELPER)
    add(lanes, "abcd", metrics=("piqe",))
    assert lanes.take(CPU, METHODS).following == ("c",)
    assert lanes.take(HELPER, METHODS).following == ("d",)
    add(lanes, "ef", (1900, 1000))
    lanes.take(CPU, METHODS)
    lanes.take(CPU, METHODS)
    assert lanes.take(CPU, METHODS).following == ("f",), "a helper takes no part where models are needed"


def test_without_the_worker_that_holds_the_models_its_helpers_end(lanes) -> None:
    lanes.open(CPU)
    lanes.open(HELPER)
    assert lanes.lose(HELPER), "the other one goes on"
    lanes.open(HELPER)
    assert not lanes.lose(CPU)
    assert HELPER not in lanes
    assert not lanes
