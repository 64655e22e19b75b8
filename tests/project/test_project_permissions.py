"""Projects that can't be written: by their own mode, their folder's, or what lies beside them."""

from __future__ import annotations

import subprocess
import sys

import pytest

from banana100_core.project import ImageStorage, Project
from banana100_core.project.runs import runs

READ = "with Project.open(path, read_only=True) as p: print(len(runs.runs(p)), 'run,', p.journal_mode)"
NEVER_CLOSED = """
import os, sys
from pathlib import Path
from banana100_core.project import Project, runs
runs.set_run_state(Project.open(Path(sys.argv[1])), 1, runs.RunState.STOPPED, "quota")
os._exit(0)
"""
WRITE = "Project.open(path).close(); print('opened')"


@pytest.fixture
def theirs(open_folder, add_study):
    """A project in a folder, both of which all may read and only their owner may write."""
    path = open_folder / "study.b100"
    with Project.create(path) as project:
        add_study(project)
    path.chmod(0o444)
    return path


@pytest.fixture
def left_in_wal_mode(theirs):
    """The same as SQLite leaves it when another program closes it in write-ahead mode."""
    theirs.chmod(0o644)
    subprocess.run(
        [
            sys.executable,
            "-c",
            "import sqlite3, sys; sqlite3.connect(sys.argv[1]).execute('PRAGMA journal_mode=WAL')",
            theirs,
        ],
        check=True,
    )
    theirs.chmod(0o444)
    assert theirs.read_bytes()[18] == 2  # the format of write-ahead mode
    return theirs


def test_a_read_only_file_is_refused_for_writing(theirs, as_other_user, content):
    theirs.parent.chmod(0o777)
    before = content(theirs.parent)
    said = as_other_user(theirs, WRITE)
    assert said.startswith("ProjectReadOnlyError")
    assert str(theirs) in said
    assert "--read-only" in said
    assert content(theirs.parent) == before


def test_a_folder_that_cant_be_written_is_refused_for_writing(theirs, as_other_user, content):
    theirs.chmod(0o666)
    theirs.parent.chmod(0o555)
    before = content(theirs.parent)
    said = as_other_user(theirs, WRITE)
    assert said.startswith("ProjectReadOnlyError")
    assert "its folder is read-only" in said
    assert "--read-only" in said
    assert content(theirs.parent) == before


def test_both_open_for_reading_only(theirs, as_other_user, content):
    theirs.parent.chmod(0o555)
    before = content(theirs.parent)
    assert as_other_user(theirs, READ) == "1 run, delete\n"
    assert content(theirs.parent) == before


def test_a_project_left_in_wal_mode_opens_for_reading_where_nothing_can_be_written(
    left_in_wal_mode, as_other_user, content
):
    left_in_wal_mode.parent.chmod(0o555)
    before = content(left_in_wal_mode.parent)
    assert as_other_user(left_in_wal_mode, READ).startswith("1 run")
    assert content(left_in_wal_mode.parent) == before


@pytest.mark.parametrize("index_kept", [True, False])
def test_work_in_a_log_is_never_passed_over(theirs, as_other_user, index_kept):
    theirs.chmod(0o644)
    subprocess.run([sys.executable, "-c", NEVER_CLOSED, theirs], check=True)
    if not index_kept:
        theirs.with_name("study.b100-shm").unlink()
    theirs.parent.chmod(0o555)
    said = as_other_user(theirs, "print(runs.runs(Project.open(path, read_only=True))[0].state_reason)")
    if index_kept:
        assert said == "quota\n"
    else:
        assert said.startswith("ProjectReadOnlyError")
        assert "unfinished work beside it" in said


def test_a_project_in_use_by_its_owner_opens_for_reading(theirs, as_other_user):
    theirs.chmod(0o644)
    theirs.parent.chmod(0o755)
    with Project.open(theirs) as project:
        assert as_other_user(theirs, READ) == f"1 run, {project.journal_mode}\n"


def test_a_file_that_cant_be_read_says_so(theirs, as_other_user):
    theirs.chmod(0o200)
    said = as_other_user(theirs, READ)
    assert said.startswith("ProjectError")
    assert "can't be read" in said


def test_a_project_cant_be_made_in_a_folder_that_cant_be_written(open_folder, as_other_user):
    open_folder.chmod(0o555)
    said = as_other_user(open_folder / "new.b100", "Project.create(path)")
    assert said.startswith("ProjectReadOnlyError")
    assert "Choose another place" in said
    assert list(open_folder.iterdir()) == []


def test_a_project_on_a_full_disk_says_so_and_stays_whole(theirs):
    theirs.chmod(0o644)
    with Project.open(theirs) as project:
        # SQLite's own limit on the number of pages stands for the disk's.
        project.write(lambda database: database.execute("PRAGMA max_page_count = 1"))
        with pytest.raises(Exception, match="no space left"):
            project.write(
                lambda database: database.execute(
                    "INSERT INTO blob (sha256, bytes) VALUES ('x', randomblob(1000000))"
                )
            )
        assert len(runs(project)) == 1


def test_checking_and_packing_work_where_nothing_can_be_written(theirs, as_other_user, tmp_path_factory):
    theirs.parent.chmod(0o555)
    assert as_other_user(theirs, "print(check.check(path))") == "[]\n"


def test_a_projects_image_folder_that_cant_be_written_is_said(open_folder, as_other_user):
    path = open_folder / "study.b100"
    open_folder.chmod(0o777)
    Project.create(path, images=ImageStorage.FOLDER).close()
    path.chmod(0o666)
    (open_folder / "study.images").mkdir(mode=0o555)
    said = as_other_user(
        path,
        "from banana100_core.project.images import NewImage, add_initial_image\n"
        "from banana100_core.project.records import Image\n"
        "image = NewImage(Image('a' * 64, 1, 1, '', 1), b'x')\n"
        "with Project.open(path) as p: add_initial_image(p, 'x', image)",
    )
    assert said.startswith("ProjectError")
    assert "can't be written" in said
