"""What `check` finds: nothing in a whole project, and each kind of damage or disorder by name."""

from __future__ import annotations

import contextlib
import sqlite3

import pytest

from banana100_core.errors import NotAProjectError
from banana100_core.project import ImageStorage, Project
from banana100_core.project.check import Severity, check
from banana100_core.project.images import add_initial_image, add_thumbnails
from banana100_core.project.project import _PAGE_SIZE as PAGE_SIZE
from banana100_core.project.records import NewStep, Outcome
from banana100_core.project.runs import add_run, add_step


@pytest.fixture(params=list(ImageStorage))
def study(request, tmp_path, add_study):
    path = tmp_path / "study.b100"
    with Project.create(path, images=request.param) as project:
        add_study(project, 3)
    return path


@pytest.fixture
def inside(tmp_path, add_study, new_image):
    path = tmp_path / "study.b100"
    with Project.create(path) as project:
        add_study(project, 3)
        add_initial_image(project, "Fog", new_image(file=tmp_path / "pictures" / "fog.png"))
        add_thumbnails(project, {new_image((1, 1)).image.sha256: b"small"})
    return path


def spoil(path, *statements: str) -> None:
    """What another program may do that knows nothing of the rules."""
    with contextlib.closing(sqlite3.connect(path)) as connection:
        for statement in statements:
            connection.execute(statement)
        connection.commit()


def found(path) -> list[tuple[Severity, str]]:
    return [(finding.severity, f"{finding.what}: {finding.reason}") for finding in check(path)]


def test_a_whole_project_has_no_findings(study, content):
    before = content(study.parent)
    assert check(study) == []
    assert content(study.parent) == before


def test_a_project_with_all_there_is_has_no_findings(inside):
    assert check(inside) == []


def test_a_project_is_checked_while_it_is_open(inside):
    with Project.open(inside):
        assert check(inside) == []


def test_an_empty_project_is_whole(tmp_path):
    Project.create(tmp_path / "a.b100").close()
    assert check(tmp_path / "a.b100") == []


def test_what_is_no_project_is_said_as_by_open(tmp_path):
    (tmp_path / "a.b100").write_bytes(b"something else")
    with pytest.raises(NotAProjectError):
        check(tmp_path / "a.b100")


def test_progress_comes_to_its_end(inside):
    told = []
    check(inside, lambda done, total, what: told.append((done, total)))
    assert told == [(done, 5) for done in range(6)]


def test_a_changed_blob_is_an_error(inside, new_image):
    sha256 = new_image((1, 2)).image.sha256
    spoil(inside, f"UPDATE blob SET bytes = x'00' WHERE sha256 = '{sha256}'")
    ((severity, what),) = found(inside)
    assert severity is Severity.ERROR
    assert sha256 in what
    assert "not those that its SHA-256 names" in what


def test_a_missing_blob_is_an_error(inside, new_image):
    sha256 = new_image((1, 2)).image.sha256
    spoil(inside, f"DELETE FROM blob WHERE sha256 = '{sha256}'")
    assert found(inside) == [(Severity.ERROR, f"1 images in {inside}: {sha256}: they are missing")]


def test_a_referenced_file_that_is_changed_or_gone_is_an_error(inside, tmp_path):
    file = tmp_path / "pictures" / "fog.png"
    file.write_bytes(b"another picture")
    ((severity, what),) = found(inside)
    assert severity is Severity.ERROR
    assert str(file) in what
    file.unlink()
    (finding,) = check(inside)
    assert (finding.severity, finding.what) == (Severity.ERROR, f"1 images in {file.parent}: fog.png")
    assert "import them again" in finding.way_out


def test_many_missing_files_are_one_finding_a_folder(tmp_path, new_image):
    with Project.create(tmp_path / "a.b100") as project:
        for number in range(30):
            folder = tmp_path / ("odd" if number % 2 else "even")
            image = new_image(number, file=folder / f"{number:02}.png")
            add_initial_image(project, str(number), image)
            image.file.unlink()
    assert [what for _, what in found(tmp_path / "a.b100")] == [
        f"15 images in {tmp_path / 'even'}: 00.png, 02.png, 04.png, ...: they are missing",
        f"15 images in {tmp_path / 'odd'}: 01.png, 03.png, 05.png, ...: they are missing",
    ]


def test_an_image_folder_is_checked_file_by_file(tmp_path, add_study, new_image):
    path = tmp_path / "study.b100"
    with Project.create(path, images=ImageStorage.FOLDER) as project:
        add_study(project, 3)
    sha256s = [new_image((1, number)).image.sha256 for number in (1, 2)]
    files = [tmp_path / "study.images" / sha256[:2] / sha256 for sha256 in sha256s]
    files[0].unlink()
    files[1].write_bytes(files[1].read_bytes()[:-1])
    (files[1].parent / ".half.1234").write_bytes(b"half")
    assert {severity for severity, _ in found(path)} == {Severity.ERROR, Severity.WARNING}
    whats = " | ".join(what for _, what in found(path))
    assert f"{files[0].name}: they are missing" in whats
    assert f"The image {files[1]}: its bytes are not" in whats
    assert "1 files in" in whats
    assert ".half.1234" in whats


@pytest.mark.parametrize(
    ("statement", "child", "parent"),
    [
        ("DELETE FROM run", "step", "run"),
        ("DELETE FROM metric WHERE key = 'niqe'", "score", "metric"),
        ("DELETE FROM image", "step", "image"),
    ],
)
def test_a_broken_reference_is_an_error(inside, statement, child, parent):
    spoil(inside, "PRAGMA foreign_keys=OFF", statement)
    assert any(
        severity is Severity.ERROR and f"rows of {child}: they refer to a {parent} that isn't there" in what
        for severity, what in found(inside)
    )


def test_a_damaged_page_is_an_error(inside):
    with contextlib.closing(sqlite3.connect(inside)) as connection:
        where = "SELECT rootpage FROM sqlite_schema WHERE name = 'step_image'"
        (page,) = connection.execute(where).fetchone()
    with inside.open("r+b") as file:
        file.seek((page - 1) * PAGE_SIZE)
        file.write(b"\x0a" + b"\xff" * (PAGE_SIZE - 1))
    findings = check(inside)
    assert any("damaged" in finding.reason for finding in findings)
    assert all(finding.severity is Severity.ERROR for finding in findings)


def test_an_index_that_disagrees_with_its_table_is_an_error(inside):
    set_index = "UPDATE sqlite_schema SET sql = 'CREATE INDEX tag_run ON tag ({})' WHERE name = 'tag_run'"
    spoil(inside, "PRAGMA writable_schema=ON", set_index.format("onset, run_id"))
    spoil(inside, "INSERT INTO tag SELECT 'u', 1, 'wrinkles', 'Ann', 3, NULL, 2, 1, '', 'draft', '', ''")
    assert check(inside) == []
    spoil(inside, "PRAGMA writable_schema=ON", set_index.format("run_id, onset"))
    assert any("SQLite finds it damaged" in what for _, what in found(inside))


def test_orphans_are_warnings(inside, new_image):
    spoil(
        inside,
        "INSERT INTO blob VALUES ('stray', x'00')",
        "INSERT INTO thumbnail VALUES ('stray', x'00')",
        "DELETE FROM step WHERE number = 3",
    )
    sha256 = new_image((1, 3)).image.sha256
    warnings = [what for severity, what in found(inside) if severity is Severity.WARNING]
    assert warnings == [
        f"1 images: {sha256}: no step uses them",
        "1 blobs: stray: there is no image of that SHA-256",
        "1 thumbnails: stray: there is no image of that SHA-256",
    ]


def test_runs_without_steps_or_with_some_missing_are_warnings(project, new_run, new_image):
    add_run(project, new_run())
    run_id = add_run(project, new_run())
    for number in (0, 2, 5):
        outcome = Outcome.DONE if number else Outcome.INITIAL
        add_step(project, NewStep(run_id, number, outcome), new_image(number))
    assert found(project.path) == [
        (Severity.WARNING, "Run 1: it has no steps"),
        (Severity.WARNING, "Run 2: 3 of the steps before its last one are missing"),
    ]
