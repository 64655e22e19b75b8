"""Making, opening and closing a project; what is refused, and that a refusal changes nothing."""

from __future__ import annotations

import json
import os
import shutil
import socket
import sqlite3
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from banana100_core.errors import (
    NewerProjectError,
    NotAProjectError,
    OlderProjectError,
    ProjectClosedError,
    ProjectError,
    ProjectInUseError,
    ProjectReadOnlyError,
)
from banana100_core.project import ImageStorage, Project
from banana100_core.project.database import MAJOR, MINOR, packed_version
from banana100_core.project.project import _PAGE_SIZE as PAGE_SIZE
from banana100_core.project.runs import add_run, runs, steps

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def closed(tmp_path, add_study):
    """A project with a run, closed."""
    path = tmp_path / "study.b100"
    with Project.create(path) as project:
        add_study(project)
    return path


def refused(path: Path, kind: type[ProjectError], content, *, read_only: bool | None = None) -> str:
    """Open a file in both ways, or the one named; each must fail alike and leave the folder as it was."""
    before = content(path.parent)
    messages = set()
    for way in (False, True) if read_only is None else (read_only,):
        with pytest.raises(kind) as caught:
            Project.open(path, read_only=way)
        assert type(caught.value) is kind
        messages.add(str(caught.value))
    assert content(path.parent) == before
    assert len(messages) == 1
    message = messages.pop()
    assert str(path) in message
    return message


def test_a_closed_project_is_one_file_and_keeps_all(closed):
    assert [path.name for path in closed.parent.iterdir()] == ["study.b100"]
    with Project.open(closed) as project:
        assert [run.steps_done for run in runs(project)] == [20]
        assert not project.read_only
    assert [path.name for path in closed.parent.iterdir()] == ["study.b100"]


def test_a_project_keeps_its_uuid_and_another_has_another(tmp_path):
    with Project.create(tmp_path / "a.b100") as first, Project.create(tmp_path / "b.b100") as second:
        assert first.uuid != second.uuid
        uuid = first.uuid
    with Project.open(tmp_path / "a.b100") as project:
        assert project.uuid == uuid


def test_the_way_of_keeping_images_is_kept(tmp_path):
    Project.create(tmp_path / "a.b100", images=ImageStorage.FOLDER).close()
    with Project.open(tmp_path / "a.b100") as project:
        assert project.images is ImageStorage.FOLDER


def test_the_header_says_what_the_file_is(closed):
    header = closed.read_bytes()[:100]
    assert header[68:72] == b"B100"
    assert int.from_bytes(header[60:64]) == packed_version(MAJOR, MINOR)
    with sqlite3.connect(closed) as connection:
        assert connection.execute("PRAGMA auto_vacuum").fetchone()[0] == 2  # incremental
    connection.close()


def test_create_refuses_a_file_that_exists(closed, content):
    before = content(closed.parent)
    with pytest.raises(ProjectError, match="exists already"):
        Project.create(closed)
    assert content(closed.parent) == before


def test_create_refuses_a_missing_folder(tmp_path):
    with pytest.raises(ProjectError, match="There is no folder"):
        Project.create(tmp_path / "missing" / "a.b100")
    assert list(tmp_path.iterdir()) == []


def test_create_goes_over_what_a_killed_create_left(tmp_path):
    (tmp_path / "a.b100.new").write_bytes(b"half a project")
    Project.create(tmp_path / "a.b100").close()
    assert [path.name for path in tmp_path.iterdir()] == ["a.b100"]


@pytest.mark.parametrize("suffix", ["-wal", "-journal"])
def test_create_refuses_to_take_in_the_journal_of_a_project_that_is_gone(tmp_path, suffix, content):
    (tmp_path / f"a.b100{suffix}").write_bytes(b"somebody's newest work")
    before = content(tmp_path)
    with pytest.raises(ProjectError, match="of a project of that name that is gone"):
        Project.create(tmp_path / "a.b100")
    assert content(tmp_path) == before


def test_a_missing_file_is_refused(tmp_path, content):
    assert "There is no project" in refused(tmp_path / "a.b100", ProjectError, content)


def test_a_folder_is_refused(tmp_path, content):
    (tmp_path / "a.b100").mkdir()
    assert "is a folder" in refused(tmp_path / "a.b100", NotAProjectError, content)


def test_a_file_that_is_none_is_refused(tmp_path, content):
    os.mkfifo(tmp_path / "a.b100")
    assert "not a regular file" in refused(tmp_path / "a.b100", NotAProjectError, content)


def test_an_empty_file_is_refused(tmp_path, content):
    (tmp_path / "a.b100").touch()
    assert "0 bytes" in refused(tmp_path / "a.b100", NotAProjectError, content)


def test_a_picture_is_refused(tmp_path, content, make_png):
    (tmp_path / "a.b100").write_bytes(make_png())
    assert "not a Banana100 project" in refused(tmp_path / "a.b100", NotAProjectError, content)


def test_another_programs_sqlite_file_is_refused_in_any_journal_mode(tmp_path, content):
    for mode in ("wal", "delete"):
        path = tmp_path / f"{mode}.b100"
        connection = sqlite3.connect(path)
        connection.execute(f"PRAGMA journal_mode={mode}")
        connection.execute("CREATE TABLE project_setting (key, value)")
        connection.commit()
        connection.close()
        assert "another program" in refused(path, NotAProjectError, content)


@pytest.mark.parametrize("kept", [15, 99, 4096, -1])
def test_a_truncated_project_is_refused(closed, content, kept):
    os.truncate(closed, kept if kept > 0 else closed.stat().st_size + kept)
    message = refused(closed, NotAProjectError, content)
    assert "truncated" in message
    assert "Restore it from a copy" in message


def test_a_damaged_schema_is_refused(closed, content):
    with closed.open("r+b") as file:
        file.seek(100)
        file.write(b"\xff" * 3000)
    assert "damaged" in refused(closed, NotAProjectError, content)


def test_a_project_without_its_tables_is_refused(closed, content):
    connection = sqlite3.connect(closed)
    connection.execute("DROP TABLE project_setting")
    connection.close()
    assert "damaged" in refused(closed, NotAProjectError, content)


@pytest.mark.parametrize(
    "statement", ["DELETE FROM project_setting", "UPDATE project_setting SET value = '?'"]
)
def test_a_project_without_its_settings_is_refused(closed, content, statement):
    connection = sqlite3.connect(closed)
    connection.execute(statement)
    connection.commit()
    connection.close()
    assert "settings are incomplete" in refused(closed, NotAProjectError, content)


def test_damage_met_later_is_said(closed):
    connection = sqlite3.connect(closed)
    page = connection.execute("SELECT rootpage FROM sqlite_schema WHERE name = 'step'").fetchone()[0]
    connection.close()
    with closed.open("r+b") as file:
        file.seek((page - 1) * PAGE_SIZE)
        file.write(b"\xff" * PAGE_SIZE)
    with (
        Project.open(closed, read_only=True) as project,
        pytest.raises(NotAProjectError, match=r"study\.b100 is damaged"),
    ):
        steps(project, 1)


def test_a_newer_project_is_refused(closed, content):
    connection = sqlite3.connect(closed)
    connection.execute(f"PRAGMA user_version = {packed_version(MAJOR + 1, 3)}")
    connection.close()
    message = refused(closed, NewerProjectError, content)
    assert f"{MAJOR + 1}.3" in message
    assert "Install the newer version" in message


def test_a_project_with_newer_additions_opens(closed):
    connection = sqlite3.connect(closed)
    connection.execute(f"PRAGMA user_version = {packed_version(MAJOR, 99)}")
    connection.execute("ALTER TABLE tag ADD COLUMN added_later TEXT")
    connection.close()
    with Project.open(closed) as project:
        assert len(runs(project)) == 1


def test_an_older_project_cant_be_brought_up_to_date_by_reading(closed, content):
    connection = sqlite3.connect(closed)
    connection.execute("PRAGMA user_version = 0")
    connection.close()
    assert "Open it once for writing" in refused(closed, OlderProjectError, content, read_only=True)


def test_a_newer_version_that_is_only_in_the_log_is_refused(closed, content):
    kill_writer(
        closed, f"p.write(lambda db: db.execute('PRAGMA user_version = {packed_version(MAJOR + 1, 0)}'))"
    )
    assert int.from_bytes(closed.read_bytes()[60:64]) == packed_version(MAJOR, MINOR)
    wal = closed.with_name(closed.name + "-wal")
    before = wal.read_bytes()
    with pytest.raises(NewerProjectError):
        Project.open(closed)
    assert wal.read_bytes() == before


def kill_writer(path: Path, statement: str) -> None:
    """Do something to a project in a process that then ends without closing it."""
    script = "import os, sys; from pathlib import Path; from banana100_core.project import Project, runs\n"
    script += f"p = Project.open(Path(sys.argv[1])); {statement}; os._exit(0)"
    subprocess.run([sys.executable, "-c", script, path], check=True, timeout=60)


def test_work_of_a_process_that_never_closed_is_taken_in(closed):
    kill_writer(closed, "runs.set_run_state(p, 1, runs.RunState.STOPPED, 'quota')")
    assert closed.with_name("study.b100-wal").stat().st_size > 0
    with Project.open(closed, read_only=True) as project:
        assert runs(project)[0].state_reason == "quota"
    with Project.open(closed) as project:
        assert runs(project)[0].state_reason == "quota"
    assert [path.name for path in closed.parent.iterdir()] == ["study.b100"]


def test_a_project_in_use_names_who_has_it(closed, content):
    with Project.open(closed):
        before = content(closed.parent)
        with pytest.raises(ProjectInUseError) as caught:
            Project.open(closed)
        assert content(closed.parent) == before
        assert f"process {os.getpid()} on {socket.gethostname()}" in str(caught.value)
        assert "--read-only" in str(caught.value)
    Project.open(closed).close()


def test_a_project_in_use_by_another_process_names_it(closed):
    script = (
        "import sys; from pathlib import Path; from banana100_core.project import Project\n"
        "with Project.open(Path(sys.argv[1])): print('open', flush=True); sys.stdin.read()"
    )
    holder = subprocess.Popen(
        [sys.executable, "-c", script, closed], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    with holder:
        assert holder.stdout.readline() == "open\n"
        with pytest.raises(ProjectInUseError, match=f"process {holder.pid} on"):
            Project.open(closed)
        with Project.open(closed, read_only=True) as project:
            assert len(runs(project)) == 1
        holder.kill()
    Project.open(closed).close()  # a lock dies with its holder
    assert [path.name for path in closed.parent.iterdir()] == ["study.b100"]


def test_one_file_by_two_names_is_one_project(closed, tmp_path):
    link = tmp_path / "link.b100"
    link.symlink_to(closed)
    with Project.open(link) as project:
        assert project.path == closed
        with pytest.raises(ProjectInUseError):
            Project.open(closed)


def test_the_lock_file_can_be_read(closed):
    with Project.open(closed):
        holder = json.loads(closed.with_name("study.b100.lock").read_bytes())
    assert holder == {"pid": os.getpid(), "host": socket.gethostname()}


def test_a_reader_sees_what_a_writer_commits(closed, new_run):
    with Project.open(closed) as writer, Project.open(closed, read_only=True) as reader:
        assert len(runs(reader)) == 1
        add_run(writer, new_run())
        assert len(runs(reader)) == 2


def test_a_project_closed_under_a_reader_can_still_be_read_and_written(closed, new_run):
    with Project.open(closed, read_only=True) as reader:
        with Project.open(closed) as writer:
            assert len(runs(reader)) == 1
            add_run(writer, new_run())
        assert len(runs(reader)) == 2
    with Project.open(closed) as project:
        assert len(runs(project)) == 2
    assert [path.name for path in closed.parent.iterdir()] == ["study.b100"]


def test_reading_only_refuses_to_write(closed, new_run, content):
    before = content(closed.parent)
    with Project.open(closed, read_only=True) as project:
        assert project.read_only
        with pytest.raises(ProjectReadOnlyError, match="open for reading only"):
            add_run(project, new_run())
        with project.reading() as connection, pytest.raises(sqlite3.OperationalError):
            connection.execute("DELETE FROM run")
    assert content(closed.parent) == before


def test_a_closed_project_says_so(closed):
    project = Project.open(closed)
    project.close()
    project.close()
    with pytest.raises(ProjectClosedError):
        runs(project)
    with pytest.raises(ProjectClosedError):
        project.write(lambda database: None)


@pytest.mark.parametrize(
    "name",
    [
        "ü 你好 🍌.b100",
        "with ' and \".b100",
        "line\nbreak?#%41.b100",
        "a" * 200 + ".b100",
        os.fsdecode(b"caf\xe9.b100"),
    ],
)
def test_any_name_will_do(tmp_path, name, add_study):
    folder = tmp_path / "ordner mit ä"
    folder.mkdir()
    with Project.create(folder / name) as project:
        add_study(project)
    for read_only in (True, False):
        with Project.open(folder / name, read_only=read_only) as project:
            assert len(steps(project, 1)) == 21
    assert [path.name for path in folder.iterdir()] == [name]


def test_a_moved_project_opens(closed, tmp_path):
    moved = tmp_path / "elsewhere.b100"
    shutil.move(closed, moved)
    with Project.open(moved) as project:
        assert len(runs(project)) == 1


def test_pandas_is_neither_imported_nor_kept_from_others(closed):
    code = (
        "import sys; from pathlib import Path; from banana100_core.project import Project\n"
        "with Project.open(Path(sys.argv[1])): assert 'pandas' not in sys.modules\n"
        "import importlib.util; sys.exit(importlib.util.find_spec('pandas') is None)"
    )
    pytest.importorskip("pandas")
    subprocess.run([sys.executable, "-c", code, str(closed)], check=True)
