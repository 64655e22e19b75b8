"""Which device scores what, and which pictures go together."""

from __future__ import annotations

from dataclasses import replace

import pytest

from banana100_core.catalog.metrics import metrics
from banana100_core.scoring.backlog import Priority
from banana100_core.scoring.lanes import Lanes
from banana100_core.scoring.methods import chosen_backends

METHODS = {"piqe": "native-1", "cnniqa": "pyiqa-1", "rali": "rali-1"}
SMALL = (500, 400)


@pytest.fixture
def lanes():
    """Of the learned metrics only CNNIQA takes pictures together."""
    catalog = {key: replace(each, batches=key == "cnniqa") for key, each in metrics().items()}
    return Lanes(chosen_backends(), catalog)


def test_learned_metrics_go_to_the_card_and_native_ones_to_the_cpu(lanes) -> None:
    assert not lanes
    lanes.open("cpu")
    lanes.open("cuda:0")
    lanes.add("a", ["piqe", "cnniqa", "rali"], Priority.BACKLOG)
    assert lanes.take("cpu", METHODS).methods == {"piqe": "native-1"}
    assert lanes.take("cuda:0", METHODS).methods == {"cnniqa": "pyiqa-1", "rali": "rali-1"}
    assert not lanes.waits_for("cpu")


def test_one_kind_of_device_does_all(lanes) -> None:
    lanes.open("cuda:1")
    lanes.add("a", ["piqe", "cnniqa"], Priority.BACKLOG)
    assert set(lanes.take("cuda:1", METHODS).methods) == {"piqe", "cnniqa"}
    lanes.open("cuda:0")
    assert lanes.lose("cuda:1")
    assert not lanes.lose("cuda:0")
    assert not lanes


def add(lanes, names: str, size=SMALL, metrics=("cnniqa",)) -> None:
    lanes.open("cpu")
    for name in names:
        lanes.add(name, list(metrics), Priority.BACKLOG, size)


def test_pictures_of_one_size_go_together_in_their_order(lanes) -> None:
    add(lanes, "abc")
    add(lanes, "d", (400, 500))
    add(lanes, "e")
    assert lanes.take("cpu", METHODS).sha256s == ("a", "b", "c")
    assert lanes.take("cpu", METHODS).sha256s == ("d",)


def test_only_with_the_same_metrics_of_which_one_takes_them_together(lanes) -> None:
    add(lanes, "a")
    add(lanes, "b", metrics=("cnniqa", "piqe"))
    add(lanes, "cd", metrics=("piqe",))
    assert [lanes.take("cpu", METHODS).sha256s for _ in range(4)] == [("a",), ("b",), ("c",), ("d",)]


def test_a_batch_is_no_more_work_than_a_usual_picture(lanes) -> None:
    add(lanes, "abcde", (1000, 800))
    task = lanes.take("cpu", METHODS)
    assert task.sha256s == ("a", "b")
    assert task.following == ("c", "d")


def test_the_picture_on_screen_goes_alone(lanes) -> None:
    add(lanes, "abc")
    lanes.prefer("b", [])
    assert lanes.take("cpu", METHODS).sha256s == ("b",)
    assert lanes.take("cpu", METHODS).sha256s == ("a", "c")
