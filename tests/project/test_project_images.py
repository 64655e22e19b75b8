"""Received bytes in the file or in a folder, referenced files, thumbnails."""

from __future__ import annotations

import os
import pickle
import sqlite3
from pathlib import Path

import pytest

from banana100_core.errors import ImageError, ProjectError
from banana100_core.project import ImageStorage, Project
from banana100_core.project.check import check
from banana100_core.project.images import (
    ImageLocation,
    NewImage,
    add_initial_image,
    add_thumbnails,
    image_bytes,
    image_location,
    initial_images,
    thumbnail,
    thumbnails,
)

ODD_NAMES = [
    "ü 你好 🍌/Straße 1.png",
    "with space /  two.png",
    "quote ' and \".png",
    "line\nbreak.png",
    "percent %41 ? # & =.png",
    "back\\slash.png",
    "-rf",
    "..images/x..png",
    "n" * 250,
]


@pytest.fixture
def in_folder(tmp_path):
    with Project.create(tmp_path / "study.b100", images=ImageStorage.FOLDER) as project:
        yield project


def stored(project: Project, sha256: str) -> dict:
    with project.reading() as connection:
        return dict(connection.execute("SELECT * FROM image WHERE sha256 = ?", (sha256,)).fetchone())


def blobs(project: Project) -> int:
    with project.reading() as connection:
        return connection.execute("SELECT count(*) FROM blob").fetchone()[0]


def test_an_image_is_either_bytes_or_a_file(new_image):
    image = new_image().image
    with pytest.raises(ValueError, match="either"):
        NewImage(image)
    with pytest.raises(ValueError, match="either"):
        NewImage(image, b"", Path("x"))


def test_received_bytes_come_back_as_they_were(project, new_image):
    image = new_image()
    add_initial_image(project, "Fog", image, credit="A. Nonymous")
    assert image_bytes(project, image.image.sha256) == image.data
    assert image_location(project, image.image.sha256).file is None
    assert [(found.name, found.image, found.credit) for found in initial_images(project)] == [
        ("Fog", image.image, "A. Nonymous")
    ]


def test_equal_pictures_are_kept_once(project, new_image):
    add_initial_image(project, "Fog", new_image())
    add_initial_image(project, "Moss", new_image())
    assert blobs(project) == 1
    assert len(initial_images(project)) == 2


def test_the_same_initial_image_again_adds_nothing_another_is_refused(project, new_image):
    add_initial_image(project, "Fog", new_image(1))
    add_initial_image(project, "Fog", new_image(1))
    with pytest.raises(ProjectError, match="another initial image named 'Fog'"):
        add_initial_image(project, "Fog", new_image(2))
    assert len(initial_images(project)) == 1
    assert blobs(project) == 1


def test_a_folder_project_keeps_received_bytes_beside_the_file(in_folder, new_image):
    image = new_image()
    add_initial_image(in_folder, "Fog", image)
    sha256 = image.image.sha256
    file = in_folder.path.parent / "study.images" / sha256[:2] / sha256
    assert file.read_bytes() == image.data
    assert [path.name for path in file.parent.iterdir()] == [sha256]
    assert blobs(in_folder) == 0
    assert image_location(in_folder, sha256) == ImageLocation(sha256, in_folder.path, file)
    assert image_bytes(in_folder, sha256) == image.data


def test_bytes_reach_the_folder_before_their_row(in_folder, new_image):
    image = new_image()
    in_folder.write(lambda database: database.execute("DROP TABLE initial_image"))
    with pytest.raises(sqlite3.OperationalError):
        add_initial_image(in_folder, "Fog", image)
    sha256 = image.image.sha256
    assert (in_folder.path.parent / "study.images" / sha256[:2] / sha256).read_bytes() == image.data
    with pytest.raises(ImageError):
        image_location(in_folder, sha256)


def test_a_folder_that_moves_with_its_project_is_found(in_folder, new_image, tmp_path):
    image = new_image()
    add_initial_image(in_folder, "Fog", image)
    in_folder.close()
    (tmp_path / "moved").mkdir()
    for name in ("study.b100", "study.images"):
        (tmp_path / name).rename(tmp_path / "moved" / name)
    with Project.open(tmp_path / "moved" / "study.b100") as project:
        assert image_bytes(project, image.image.sha256) == image.data


@pytest.mark.parametrize("name", ODD_NAMES)
def test_a_referenced_file_is_kept_by_its_path_from_the_project(project, new_image, tmp_path, name):
    image = new_image(file=tmp_path / "pictures" / name)
    add_initial_image(project, name, image)
    row = stored(project, image.image.sha256)
    assert (row["storage"], row["path"]) == ("file", f"pictures/{name}")
    assert image_bytes(project, image.image.sha256) == image.file.read_bytes()
    assert image_location(project, image.image.sha256).file == image.file
    assert initial_images(project)[0].name == name


def test_a_name_that_is_no_unicode_survives(project, new_image, tmp_path):
    name = os.fsdecode(b"caf\xe9.png")
    image = new_image(file=tmp_path / name)
    add_initial_image(project, name, image)
    assert image_bytes(project, image.image.sha256) == image.file.read_bytes()
    assert initial_images(project)[0].name == "caf\\udce9.png"
    assert check(project.path) == []


def test_a_project_may_be_moved_with_its_pictures(tmp_path, new_image):
    before = tmp_path / "before"
    before.mkdir()
    with Project.create(before / "studies.b100") as project:
        image = new_image(file=before / "pictures" / "a.png")
        add_initial_image(project, "a", image)
    before.rename(tmp_path / "after")
    with Project.open(tmp_path / "after" / "studies.b100") as project:
        assert image_bytes(project, image.image.sha256)


def test_a_picture_above_the_project_is_reached_through_links(tmp_path, new_image):
    (tmp_path / "real" / "deep").mkdir(parents=True)
    (tmp_path / "link").symlink_to(tmp_path / "real" / "deep")
    with Project.create(tmp_path / "link" / "a.b100") as project:
        image = new_image(file=tmp_path / "pictures" / "a.png")
        add_initial_image(
            project, "a", NewImage(image.image, file=tmp_path / "link" / ".." / ".." / "pictures" / "a.png")
        )
        assert stored(project, image.image.sha256)["path"] == "../../pictures/a.png"
        assert image_bytes(project, image.image.sha256)


def test_a_picture_on_another_drive_is_kept_by_its_whole_path(project, new_image, tmp_path, monkeypatch):
    def no_way(*_):
        raise ValueError("path is on mount 'D:', start on mount 'C:'")  # what Windows says

    monkeypatch.setattr(os.path, "relpath", no_way)
    image = new_image(file=tmp_path / "a.png")
    add_initial_image(project, "a", image)
    assert stored(project, image.image.sha256)["path"] == (tmp_path / "a.png").as_posix()
    assert image_bytes(project, image.image.sha256)


def test_a_file_that_is_gone_or_changed_is_said(project, new_image, tmp_path):
    image = new_image(file=tmp_path / "a.png")
    add_initial_image(project, "a", image)
    image.file.write_bytes(b"another picture")
    with pytest.raises(ImageError, match=r"a\.png was changed since it was imported"):
        image_bytes(project, image.image.sha256)
    image.file.unlink()
    with pytest.raises(ImageError, match=r"a\.png can't be read.*import it again"):
        image_bytes(project, image.image.sha256)


def test_an_unknown_image_is_said(project):
    with pytest.raises(ImageError, match="has no image"):
        image_bytes(project, "f" * 64)


def test_a_newer_reference_takes_the_place_of_an_older_one(project, new_image, tmp_path):
    first = new_image(file=tmp_path / "a.png")
    add_initial_image(project, "a", first)
    first.file.unlink()
    second = new_image(file=tmp_path / "moved" / "a.png")
    add_initial_image(project, "a", second)
    assert image_location(project, first.image.sha256).file == second.file


def test_received_bytes_take_the_place_of_a_reference_and_stay(project, new_image, tmp_path):
    add_initial_image(project, "a", new_image(file=tmp_path / "a.png"))
    add_initial_image(project, "a", new_image())
    assert stored(project, new_image().image.sha256)["storage"] == "blob"
    add_initial_image(project, "a", new_image(file=tmp_path / "b.png"))
    assert stored(project, new_image().image.sha256)["storage"] == "blob"
    assert blobs(project) == 1


@pytest.mark.parametrize("way", ["inside", "folder", "file"])
def test_a_location_can_be_sent_and_reads_by_itself(tmp_path, new_image, way):
    images = ImageStorage.FOLDER if way == "folder" else ImageStorage.INSIDE
    with Project.create(tmp_path / "a.b100", images=images) as project:
        image = new_image(file=tmp_path / "a.png" if way == "file" else None)
        add_initial_image(project, "a", image)
        location = pickle.loads(pickle.dumps(image_location(project, image.image.sha256)))
        assert location.read() == new_image().data  # while the project is open
    assert location.read() == new_image().data
    (tmp_path / "a.b100").unlink()
    if way == "inside":
        with pytest.raises(ProjectError):
            location.read()


def test_a_blob_that_is_gone_is_said(project, new_image):
    image = new_image()
    add_initial_image(project, "a", image)
    project.write(lambda database: database.execute("DELETE FROM blob"))
    for read in (
        lambda: image_bytes(project, image.image.sha256),
        image_location(project, image.image.sha256).read,
    ):
        with pytest.raises(ImageError, match=r"missing from .*a copy"):
            read()


def test_thumbnails_come_back_and_unknown_ones_are_passed_over(project, new_image):
    images = [new_image(number).image.sha256 for number in range(3)]
    for number in range(2):
        add_initial_image(project, str(number), new_image(number))
    assert thumbnail(project, images[0]) is None
    add_thumbnails(project, {images[0]: b"small", images[2]: b"of no image"})
    add_thumbnails(project, {images[1]: b"old"})
    add_thumbnails(project, {images[1]: b"new"})
    add_thumbnails(project, {})
    assert thumbnails(project, images) == {images[0]: b"small", images[1]: b"new"}
    assert thumbnail(project, images[1]) == b"new"


def test_notes_and_odd_text_are_kept(project, new_image):
    image = new_image()
    noted = NewImage(
        type(image.image)(
            image.image.sha256, 1, 2, "image/gif", 3, ("first of 12 frames", "half a 🍌: \ud83c")
        ),
        image.data,
    )
    add_initial_image(project, "half \ud83c", noted)
    found = initial_images(project)[0]
    assert found.name == "half \\ud83c"
    assert found.image.notes == ("first of 12 frames", "half a 🍌: \ud83c")
