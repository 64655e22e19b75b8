"""A project packed into one file."""

from __future__ import annotations

import resource
import shutil

import pytest

from banana100_core.errors import ProjectError
from banana100_core.project import ImageStorage, Project
from banana100_core.project.check import check
from banana100_core.project.images import add_initial_image, image_bytes, initial_images
from banana100_core.project.pack import pack
from banana100_core.project.records import NewTag, RunState
from banana100_core.project.runs import runs, set_run_state, steps
from banana100_core.project.scores import step_scores
from banana100_core.project.tags import add_tag, tags


@pytest.fixture
def folder(tmp_path):
    folder = tmp_path / "study"
    folder.mkdir()
    return folder


@pytest.fixture(params=list(ImageStorage))
def study(request, folder, add_study, new_image):
    """A project with received and referenced images, open."""
    with Project.create(folder / "study.b100", images=request.param) as project:
        run_id = add_study(project, 5)
        add_tag(project, "Ann", NewTag(run_id, "green_tint", 3))
        for number in range(3):
            file = folder / "pictures" / f"ü {number}.png"
            add_initial_image(project, f"picture {number}", new_image(number, file=file))
        yield project


def pictures(project: Project) -> dict[str, bytes]:
    return {image.name: image_bytes(project, image.image.sha256) for image in initial_images(project)}


def test_a_pack_is_one_whole_file_with_all_in_it(study, tmp_path, content):
    def lasting():
        files = content(study.path.parent)
        files.pop("study.b100-shm", None)  # memory that readers share, and mark where they are
        return files

    before = lasting()
    out = tmp_path / "out"
    out.mkdir()
    told = []
    pack(study, out / "packed.b100", lambda done, total, what: told.append((done, total)))
    assert all(done <= total for done, total in told)
    assert lasting() == before
    assert [path.name for path in out.iterdir()] == ["packed.b100"]
    expected = pictures(study)
    received = [image_bytes(study, step.image.sha256) for step in steps(study, 1)]
    listed = (runs(study), steps(study, 1), step_scores(study), tags(study))
    study.close()
    shutil.rmtree(study.path.parent)
    assert check(out / "packed.b100") == []
    with Project.open(out / "packed.b100") as packed:
        assert packed.uuid == study.uuid
        assert packed.images is ImageStorage.INSIDE
        assert pictures(packed) == expected
        assert [image_bytes(packed, step.image.sha256) for step in steps(packed, 1)] == received
        assert (runs(packed), steps(packed, 1), step_scores(packed), tags(packed)) == listed
    assert [path.name for path in out.iterdir()] == ["packed.b100"]


def test_a_project_open_for_reading_can_be_packed(study, tmp_path):
    study.close()
    with Project.open(study.path, read_only=True) as project:
        pack(project, tmp_path / "packed.b100")
    assert check(tmp_path / "packed.b100") == []


def test_a_pack_has_the_newest_commit_and_none_after_it_began(study, tmp_path):
    set_run_state(study, 1, RunState.STOPPED, "before")

    def meanwhile(done, total, what):
        if study.journal_mode == "wal":
            set_run_state(study, 1, RunState.DONE, "meanwhile")

    pack(study, tmp_path / "packed.b100", meanwhile)
    with Project.open(tmp_path / "packed.b100", read_only=True) as packed:
        assert runs(packed)[0].state_reason == "before"


def test_a_file_that_exists_is_refused(study, tmp_path):
    (tmp_path / "packed.b100").write_bytes(b"mine")
    with pytest.raises(ProjectError, match="exists already"):
        pack(study, tmp_path / "packed.b100")
    with pytest.raises(ProjectError, match="exists already"):
        pack(study, study.path)
    assert (tmp_path / "packed.b100").read_bytes() == b"mine"


def test_a_missing_folder_is_refused(study, tmp_path):
    with pytest.raises(ProjectError, match="There is no folder"):
        pack(study, tmp_path / "missing" / "packed.b100")


def test_a_disk_too_small_for_it_is_said_of_the_copy(study, tmp_path):
    out = tmp_path / "packed.b100"
    limit = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, limit[1]))
    try:
        with pytest.raises(ProjectError, match=r"packed\.b100"):
            pack(study, out)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limit)
    assert [path.name for path in tmp_path.iterdir()] == ["study"]


def test_a_missing_picture_stops_it_and_nothing_is_left(study, tmp_path):
    pictures = sorted((study.path.parent / "pictures").iterdir())
    pictures[0].unlink()
    pictures[1].write_bytes(b"changed")
    with pytest.raises(ProjectError, match=r"can't be packed: The image .*ü 0.png can't be read.*and 1 more"):
        pack(study, tmp_path / "packed.b100")
    assert [path.name for path in tmp_path.iterdir()] == ["study"]
