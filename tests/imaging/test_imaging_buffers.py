from __future__ import annotations

import numpy as np
import pytest

from banana100_core.imaging.buffers import give_back, new_picture


def place(pixels: np.ndarray) -> int:
    return pixels.__array_interface__["data"][0]


@pytest.fixture(autouse=True)
def nothing_kept():
    give_back()
    yield
    give_back()


def test_memory_is_used_again_once_no_view_of_it_is_left() -> None:
    first = new_picture(1000, 2000)
    assert (first.shape, first.dtype) == ((1000, 2000, 3), np.uint8)
    first[:] = 7
    view = first[10:20, ::2]
    there = place(first)
    del first
    second = new_picture(1000, 2000)
    second[:] = 9
    assert place(second) != there
    assert (view == 7).all()
    del view
    assert place(new_picture(1000, 2000)) == there


def test_a_picture_of_another_size_has_memory_of_its_own() -> None:
    kept = new_picture(1000, 2000)
    del kept
    other = new_picture(2000, 2000)
    assert other.shape == (2000, 2000, 3)
    other[:] = 1
    assert other.sum() == 12_000_000


def test_pictures_have_memory_each() -> None:
    pictures = [new_picture(1000, 2000) for _ in range(4)]
    for value, picture in enumerate(pictures):
        picture[:] = value
    assert [int(picture.max()) for picture in pictures] == [0, 1, 2, 3]
