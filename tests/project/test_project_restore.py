"""Backups put back: tables as they were, received images where they are, and the way back from there."""

from __future__ import annotations

import contextlib
import shutil
import sqlite3

import pytest

from banana100_core.errors import NotAProjectError, ProjectError, ProjectInUseError
from banana100_core.project import Project
from banana100_core.project.check import check
from banana100_core.project.images import image_bytes
from banana100_core.project.merge import merge
from banana100_core.project.reasoning import search
from banana100_core.project.records import NewRegion, NewStep, NewTag, Outcome, RegionKind
from banana100_core.project.regions import add_region, regions
from banana100_core.project.restore import backups_of, restore
from banana100_core.project.runs import add_steps, runs, steps
from banana100_core.project.tags import add_tag, edits, tags, undo

BOX = NewRegion(3, RegionKind.BOX, ((4, 5), (20, 30)))


def content(path) -> tuple:
    with Project.open(path, read_only=True) as project:
        return tags(project), regions(project), edits(project), runs(project), steps(project, 1)


@pytest.fixture
def merged(tmp_path, add_study):
    """A project with Ann's tag into which a copy with one of Bob's was merged, and what it was before."""
    mine, theirs = tmp_path / "mine.b100", tmp_path / "theirs.b100"
    with Project.create(mine) as project:
        run_id = add_study(project, 5)
        refused = NewStep(run_id, 6, Outcome.FAILED, reason="refused", reasoning="The saucer is preserved")
        add_steps(project, [(refused, None)])
        tag = add_tag(project, "Ann", NewTag(run_id, "green_tint", 2))
        add_region(project, "Ann", tag.uuid, BOX)
    shutil.copy(mine, theirs)
    with Project.open(theirs) as project:
        add_tag(project, "Bob", NewTag(run_id, "wrinkles", 3))
    before = content(mine)
    with Project.open(mine) as project:
        merge(project, [theirs])
    return mine, before


def test_a_merge_is_taken_back_and_made_again(merged):
    path, before = merged
    after = content(path)
    (backup,) = backups_of(path)
    assert (backup.tags, backup.edits, backup.runs) == (1, 2, 1)
    done = restore(path, backup.path)
    assert content(path) == before != after
    assert (done.before.tags, done.now.tags) == (2, 1)
    assert check(path) == []
    with Project.open(path) as project:  # nothing but tables was put back, and all goes on from there
        assert image_bytes(project, steps(project, 1)[2].image.sha256)
        assert len(undo(project, "Ann").before["regions"]) == 1
        add_tag(project, "Ann", NewTag(1, "wrinkles", 4))
    assert {each.path for each in backups_of(path)} == {backup.path, done.kept}
    restore(path, done.kept)
    assert content(path) == after


def test_what_came_after_the_backup_can_be_had_again_with_its_images(merged, add_study):
    path, _before = merged
    (backup,) = backups_of(path)
    with Project.open(path) as project:
        later = add_study(project, 2, repeat=2)
        hashes = [step.image.sha256 for step in steps(project, later)]
    kept = restore(path, backup.path).kept
    with Project.open(path) as project:
        assert len(runs(project)) == 1
    restore(path, kept)
    with Project.open(path) as project:
        assert all(image_bytes(project, sha256) for sha256 in hashes)


def test_a_backup_of_an_older_version_is_brought_up_to_date(merged):
    path, _before = merged
    (backup,) = backups_of(path)
    with contextlib.closing(sqlite3.connect(backup.path)) as connection:
        connection.execute("ALTER TABLE region DROP COLUMN end_step")
        connection.execute("DELETE FROM _sqlite_migrations WHERE name = 'add_region_ends'")
        connection.execute(f"PRAGMA user_version = {1 << 16 | 8}")
        connection.commit()
    assert backups_of(path)[0].version == "1.8"
    restore(path, backup.path)
    with Project.open(path) as project:
        assert [region.end_step for region in regions(project)] == [None]


def test_reasoning_is_found_again(merged):
    path, _before = merged
    with Project.open(path) as project:
        found = search(project, "saucers")
    assert found.total == 1
    restore(path, backups_of(path)[0].path)
    with Project.open(path, read_only=True) as project:
        assert search(project, "saucers") == found


def test_a_dry_run_changes_nothing(merged):
    path, _before = merged
    files = {file.name: file.read_bytes() for file in path.parent.iterdir()}
    (backup,) = backups_of(path)
    done = restore(path, backup.path, dry_run=True)
    assert (done.before.tags, done.now.tags, done.kept) == (2, 1, None)
    assert {file.name: file.read_bytes() for file in path.parent.iterdir()} == files


def test_what_cannot_be_put_back_is_refused_and_changes_nothing(merged, tmp_path, add_study):
    path, _before = merged
    (backup,) = backups_of(path)
    other = tmp_path / "other.b100"
    with Project.create(other) as project:
        add_study(project, 1)
    before = content(path)
    with pytest.raises(ProjectError, match="another project"):
        restore(path, other)
    with pytest.raises(ProjectError, match="no backup"):
        restore(path, tmp_path / "nothing.bak")
    broken = tmp_path / "broken.bak"
    data = bytearray(backup.path.read_bytes())
    for page in range(2, len(data) // 4096):
        data[page * 4096 : page * 4096 + 64] = bytes(64)
    broken.write_bytes(data)
    with pytest.raises(NotAProjectError):
        restore(path, broken)
    with Project.open(path), pytest.raises(ProjectInUseError):
        restore(path, backup.path)
    assert content(path) == before
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.execute("DELETE FROM blob WHERE sha256 = (SELECT image_sha256 FROM step WHERE number = 3)")
        connection.commit()
    with pytest.raises(ProjectError, match="has not got 1 of the received images"):
        restore(path, backup.path)
    assert content(path) == before
