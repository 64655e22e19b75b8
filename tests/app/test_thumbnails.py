"""Thumbnails: read or made in the background, newest wish first, stored in the project."""

from __future__ import annotations

import pytest

from app.thumbnails import Thumbnails
from banana100_core.imaging.decode import inspect
from banana100_core.imaging.thumbnails import make_thumbnail
from banana100_core.project import Project
from banana100_core.project.images import NewImage, add_initial_image, add_thumbnails, thumbnail, thumbnails


@pytest.fixture
def pictures(project, make_png):
    found = {}
    for number in range(30):
        data = make_png(400, 300, seed=number)
        image = inspect(data)
        add_initial_image(project, f"picture {number}", NewImage(image, data))
        found[image.sha256] = data
    return found


@pytest.fixture
def source(qtbot, project):
    source = Thumbnails()
    source.open(project)
    yield source
    source.close()


def test_a_missing_thumbnail_is_made_and_stored(source, project, pictures, qtbot):
    sha256 = next(iter(pictures))
    with qtbot.waitSignal(source.thumbnail_ready) as told:
        assert source.pixmap(sha256) is None
    assert told.args == [sha256]
    assert source.pixmap(sha256).size().toTuple() == (256, 192)
    source.close()
    assert thumbnail(project, sha256)


def test_a_stored_thumbnail_is_used(source, project, pictures, make_png, qtbot):
    sha256 = next(iter(pictures))
    other = make_thumbnail(make_png(50, 80, seed=77))
    add_thumbnails(project, {sha256: other})
    with qtbot.waitSignal(source.thumbnail_ready):
        source.pixmap(sha256)
    assert source.pixmap(sha256).size().toTuple() == (50, 80)


def test_all_that_were_asked_for_arrive_and_are_stored(source, project, pictures, qtbot):
    for sha256 in pictures:
        source.pixmap(sha256)
    qtbot.waitUntil(lambda: all(source.pixmap(sha256) for sha256 in pictures))
    source.close()
    assert set(thumbnails(project, list(pictures))) == set(pictures)


def speak(source, shas):
    """Speak wishes in one go: the thread looks at none before the last."""
    with source._work:
        for sha256 in shas:
            source.pixmap(sha256)


def test_the_newest_wish_comes_first(source, pictures, qtbot):
    told: list[str] = []
    source.thumbnail_ready.connect(told.append)
    shas = list(pictures)
    speak(source, shas)
    qtbot.waitUntil(lambda: len(told) == len(shas))
    assert told == shas[::-1]


def test_a_wish_spoken_again_comes_before_older_ones(source, pictures, qtbot):
    told: list[str] = []
    source.thumbnail_ready.connect(told.append)
    shas = list(pictures)
    speak(source, [*shas, shas[3]])
    qtbot.waitUntil(lambda: len(told) == len(shas))
    assert told == [shas[3], *shas[:3:-1], *shas[2::-1]]


def test_the_cache_is_bounded(project, pictures, qtbot):
    source = Thumbnails(cache_count=4)
    source.open(project)
    told: list[str] = []
    source.thumbnail_ready.connect(told.append)
    for sha256 in pictures:
        source.pixmap(sha256)
    qtbot.waitUntil(lambda: len(told) == len(pictures))
    source._project = None  # so that looking doesn't ask again
    assert sum(source.pixmap(sha256) is not None for sha256 in pictures) == 4
    source.close()


def test_no_more_are_taken_at_once_than_a_frame_has_time_for(source, pictures, qtbot, monkeypatch):
    monkeypatch.setattr("app.thumbnails.TAKE_SECONDS", 0.0)  # time for one
    told: list[str] = []
    at_once: list[int] = []
    source.thumbnail_ready.connect(told.append)
    take_some = source._take_some

    def count():
        before = len(told)
        take_some()
        at_once.append(len(told) - before)

    monkeypatch.setattr(source, "_take_some", count)  # by the first that comes, and by each frame after it
    source._frame.timeout.disconnect()
    source._frame.timeout.connect(count)
    for sha256 in pictures:
        source.pixmap(sha256)
    qtbot.waitUntil(lambda: len(told) == len(pictures))
    assert set(at_once) <= {0, 1}
    assert sum(at_once) == len(pictures)


def test_a_damaged_picture_fails_once_and_the_rest_goes_on(source, project, pictures, make_png, qtbot):
    data = make_png(64, 64, seed=99)
    image = inspect(data)
    add_initial_image(project, "damaged", NewImage(image, data[: len(data) // 2]))
    good = next(iter(pictures))
    source.pixmap(good)
    source.pixmap(image.sha256)
    qtbot.waitUntil(lambda: source.failed(image.sha256) and source.pixmap(good) is not None)
    assert source.pixmap(image.sha256) is None


def test_a_read_only_project_is_left_as_it_is(tmp_path, make_png, qtbot):
    path = tmp_path / "study.b100"
    data = make_png()
    image = inspect(data)
    with Project.create(path) as project:
        add_initial_image(project, "picture", NewImage(image, data))
    with Project.open(path, read_only=True) as project:
        source = Thumbnails()
        source.open(project)
        with qtbot.waitSignal(source.thumbnail_ready):
            source.pixmap(image.sha256)
        assert source.pixmap(image.sha256) is not None
        source.close()
        assert thumbnail(project, image.sha256) is None


def test_nothing_is_asked_of_a_closed_source(qtbot):
    source = Thumbnails()
    assert source.pixmap("0" * 64) is None
    source.close()
