"""The loader of pictures: newest wish first, memory bounded, faults told and survived."""

from __future__ import annotations

import threading

import numpy as np
import pytest

from app.compare.painting import pixel_at
from app.images import ImageLoader, default_cache_bytes
from banana100_core.imaging.decode import Purpose, decode, inspect
from banana100_core.project.images import NewImage, add_initial_image


@pytest.fixture
def pictures(project, make_png):
    """Twelve pictures in a project, by content hash."""
    found = {}
    for number in range(12):
        data = make_png(640, 480, seed=number)
        image = inspect(data)
        add_initial_image(project, f"picture {number}", NewImage(image, data))
        found[image.sha256] = data
    return found


@pytest.fixture
def loader(qtbot, project):
    loader = ImageLoader(threads=2)
    loader.open(project)
    yield loader
    loader.close()


def test_it_decodes_what_is_wanted(loader, pictures, qtbot):
    sha256, data = next(iter(pictures.items()))
    with qtbot.waitSignal(loader.loaded) as told:
        loader.want(sha256)
    assert told.args == [sha256]
    pixels = decode(data, Purpose.DISPLAY).pixels
    pyramid = loader.pyramid(sha256)
    for column, row in ((0, 0), (639, 479), (17, 300)):
        assert pixel_at(pyramid, column, row) == tuple(pixels[row, column])
    assert pyramid.levels[1].shape == (240, 320, 3)


def test_asking_does_not_wait_for_the_picture(loader, pictures, qtbot):
    sha256 = next(iter(pictures))
    loader.want(sha256)
    assert loader.pyramid(sha256) is None  # results come through the event loop only
    qtbot.waitUntil(lambda: loader.pyramid(sha256) is not None)


def test_of_many_wishes_the_newest_is_served_and_stale_ones_are_dropped(loader, pictures, qtbot):
    """A hundred steps in one go, as when the arrow key is held while the loop is busy."""
    told: list[str] = []
    loader.loaded.connect(told.append)
    wishes = (list(pictures) * 9)[:100]
    with loader._work:  # the threads come to nothing meanwhile
        for sha256 in wishes:
            loader.want(sha256)
    newest = wishes[-1]
    qtbot.waitUntil(lambda: loader.pyramid(newest) is not None)
    assert told == [newest]
    loader.want()
    assert loader.pyramid(newest) is not None


def test_a_picture_that_comes_late_does_not_stand_in_for_another(loader, pictures, qtbot):
    shas = list(pictures)
    for _ in range(3):
        for sha256 in shas:
            loader.want(sha256)
    qtbot.waitUntil(lambda: loader.pyramid(shas[-1]) is not None)
    for sha256, data in pictures.items():
        pyramid = loader.pyramid(sha256)
        if pyramid is not None:
            red, green, blue = decode(data, Purpose.DISPLAY).pixels[100, 100]
            assert pixel_at(pyramid, 100, 100) == (red, green, blue)


def test_neighbours_are_decoded_ahead_after_what_is_wanted(loader, pictures, qtbot):
    told: list[str] = []
    loader.loaded.connect(told.append)
    shas = list(pictures)
    loader.want(shas[0], shas[1], ahead=shas[2:6])
    qtbot.waitUntil(lambda: all(loader.pyramid(sha256) for sha256 in shas[:6]))
    assert set(told[:2]) <= {*shas[:2], shas[2]}
    assert told.index(shas[0]) < told.index(shas[3])
    assert loader.pyramid(shas[6]) is None


def test_a_picture_in_the_cache_is_there_at_once(loader, pictures, qtbot):
    shas = list(pictures)
    loader.want(shas[0], ahead=shas[1:3])
    qtbot.waitUntil(lambda: all(loader.pyramid(sha256) for sha256 in shas[:3]))
    loader.want(shas[1])
    assert loader.pyramid(shas[1]) is not None


def test_the_cache_is_bounded_in_bytes(project, pictures, qtbot):
    one = 640 * 480 * 4
    loader = ImageLoader(cache_bytes=int(3.5 * one), threads=2)
    loader.open(project)
    shas = list(pictures)
    for _ in range(3):
        for place, sha256 in enumerate(shas):
            loader.want(sha256, ahead=shas[place + 1 : place + 5])
            qtbot.waitUntil(lambda sha256=sha256: loader.pyramid(sha256) is not None)
            assert loader.held_bytes <= loader.cache_bytes
    held = [sha256 for sha256 in shas if loader.pyramid(sha256)]
    assert sum(loader.pyramid(sha256).nbytes for sha256 in held) == loader.held_bytes
    assert shas[-1] in held
    loader.close()
    assert loader.held_bytes == 0
    assert loader.pyramid(shas[-1]) is None


def test_a_smaller_bound_lets_go_at_once(loader, pictures, qtbot):
    shas = list(pictures)
    loader.want(shas[0], ahead=shas[1:5])
    qtbot.waitUntil(lambda: all(loader.pyramid(sha256) for sha256 in shas[:5]))
    loader.bound(3 * 640 * 480 * 3)
    assert loader.pyramid(shas[0]) is not None
    assert loader.held_bytes <= loader.cache_bytes
    loader.bound(None)
    assert loader.cache_bytes == default_cache_bytes()


def test_what_is_on_screen_is_kept_even_when_it_alone_is_too_large(project, pictures, qtbot):
    loader = ImageLoader(cache_bytes=1, threads=2)
    loader.open(project)
    first, second, *_rest = pictures
    loader.want(first, second)
    qtbot.waitUntil(lambda: loader.pyramid(first) is not None and loader.pyramid(second) is not None)
    loader.close()


def test_a_damaged_picture_is_told_and_the_rest_goes_on(loader, project, pictures, make_png, qtbot):
    data = make_png(64, 64, seed=99)
    image = inspect(data)
    add_initial_image(project, "damaged", NewImage(image, data[: len(data) // 2]))
    good = next(iter(pictures))
    loader.want(image.sha256, good)
    qtbot.waitUntil(lambda: loader.error(image.sha256) is not None and loader.pyramid(good) is not None)
    assert loader.pyramid(image.sha256) is None
    assert loader.error(image.sha256)


def test_a_file_that_comes_back_is_read_when_it_is_wanted_again(loader, project, tmp_path, make_png, qtbot):
    data = make_png(64, 64, seed=5)
    file = tmp_path / "käse 🧀.png"
    file.write_bytes(data)
    image = inspect(data)
    add_initial_image(project, "elsewhere", NewImage(image, file=file))
    file.unlink()
    loader.want(image.sha256)
    qtbot.waitUntil(lambda: loader.error(image.sha256) is not None)
    assert file.name in loader.error(image.sha256)
    loader.want()
    file.write_bytes(data)
    loader.want(image.sha256)
    qtbot.waitUntil(lambda: loader.pyramid(image.sha256) is not None)
    assert loader.error(image.sha256) is None


def test_an_unknown_picture_is_an_error_and_no_crash(loader, qtbot):
    with qtbot.waitSignal(loader.loaded):
        loader.want("0" * 64)
    assert loader.error("0" * 64)


def test_closing_waits_for_the_threads_and_drops_what_they_bring(project, pictures, qapp):
    loader = ImageLoader(threads=2)
    loader.open(project)
    threads = [thread for thread in threading.enumerate() if thread.name.startswith("images-")]
    told: list[str] = []
    loader.loaded.connect(told.append)
    loader.want(*pictures)
    loader.close()
    assert len(threads) == 2
    assert not any(thread.is_alive() for thread in threads)
    qapp.processEvents()  # what was under way is delivered now, if anything is
    assert told == []
    assert loader.held_bytes == 0


def test_opening_another_project_forgets_the_first(project, pictures, tmp_path, make_png, qtbot):
    from banana100_core.project import Project

    loader = ImageLoader(threads=2)
    loader.open(project)
    first = next(iter(pictures))
    loader.want(first)
    qtbot.waitUntil(lambda: loader.pyramid(first) is not None)
    with Project.create(tmp_path / "other.b100") as other:
        loader.open(other)
        assert loader.pyramid(first) is None
        loader.want(first)
        qtbot.waitUntil(lambda: loader.error(first) is not None)
        loader.close()


def test_pixels_are_contiguous_for_painting(loader, pictures, qtbot):
    sha256 = next(iter(pictures))
    with qtbot.waitSignal(loader.loaded):
        loader.want(sha256)
    for level in loader.pyramid(sha256).levels:
        assert level.flags.c_contiguous
        assert level.dtype == np.uint8


def test_halves_are_made_of_pictures_on_screen_and_ahead_when_they_are_needed(
    loader, project, make_png, qtbot
):
    shas = []
    for seed in range(3):
        data = make_png(1600, 1300, seed=seed)
        image = inspect(data)
        add_initial_image(project, f"large {seed}", NewImage(image, data))
        shas.append(image.sha256)
    loader.want(shas[0], ahead=shas[1:2])
    qtbot.waitUntil(lambda: all(loader.is_settled(sha256) for sha256 in shas[:2]))
    assert all(loader.pyramid(sha256).lacks_halves for sha256 in shas[:2])
    held = loader.held_bytes
    loader.need_halves(need=True)
    assert not loader.is_settled(shas[0])
    qtbot.waitUntil(lambda: all(loader.is_settled(sha256) for sha256 in shas[:2]))
    assert not any(loader.pyramid(sha256).lacks_halves for sha256 in shas[:2])
    assert loader.held_bytes == held + 2 * 800 * 650 * 3
    loader.want(shas[2])  # what is decoded from now on gets them too
    qtbot.waitUntil(lambda: loader.is_settled(shas[2]))
    assert not loader.pyramid(shas[2]).lacks_halves
