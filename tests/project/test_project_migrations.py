"""Migrations: named, each one transaction with its record, after a backup without the received images."""

from __future__ import annotations

import contextlib
import os
import shutil
import sqlite3

import pytest
from sqlite_utils import Database
from sqlite_utils.migrations import Migrations

from banana100_core.project import Project
from banana100_core.project.backup import back_up
from banana100_core.project.database import MINOR, connect, packed_version
from banana100_core.project.migrations import (
    add_judge_prompts,
    add_reasoning_search,
    add_region_ends,
    add_regions,
    add_replies,
    add_reviews,
    add_saved_views,
    add_suggestions,
    add_verdicts,
    create,
    migrate,
    set_version,
)
from banana100_core.project.records import NewRegion, NewTag, RegionKind
from banana100_core.project.regions import add_region, regions
from banana100_core.project.runs import runs, steps
from banana100_core.project.tags import add_tag, edits, redo, tags, undo

LATER_TABLES = (
    "reply",
    "region",
    "suggestion",
    "verdict",
    "failure_mode_edit",
    "review",
    "annotator_setting",
    "reasoning_search",
    "reasoning_change",
    "saved_view",
    "judge_prompt",
)


def newer(*further) -> Migrations:
    """The program's migrations, and others after them."""
    migrations = Migrations("banana100")
    for function in (
        create,
        add_replies,
        add_regions,
        add_suggestions,
        add_verdicts,
        add_reviews,
        add_reasoning_search,
        add_saved_views,
        add_judge_prompts,
        add_region_ends,
        *further,
    ):
        migrations()(function)
    return migrations


def add_colour(database):
    for table in ("run", "step", "tag", "edit", "image"):
        database[table].add_column("colour", str)
    set_version(database, 1, MINOR + 1)


def fail_halfway(database):
    database["run"].add_column("half", str)
    set_version(database, 1, MINOR + 2)
    raise RuntimeError("no further")


@pytest.fixture
def study(tmp_path, add_study):
    path = tmp_path / "study.b100"
    with Project.create(path) as project:
        add_study(project)
    return path


def to_version_1_0(path):
    """Take back what later versions added."""
    with database_of(path) as database:
        database.execute("DROP VIEW run_reviews")
        for trigger in ("added", "changed", "removed"):
            database.execute(f"DROP TRIGGER reasoning_{trigger}")
        for table in LATER_TABLES:
            database[table].drop()
        for column in ("merged_into", "modified_at", "retired"):
            database.execute(f"ALTER TABLE failure_mode DROP COLUMN {column}")
        database.execute("DELETE FROM _sqlite_migrations WHERE name <> 'create'")
        set_version(database, 1, 0)


@contextlib.contextmanager
def database_of(path):
    with contextlib.closing(connect(path, "rw")) as connection:
        yield Database(connection, execute_plugins=False)


def tables(path, *, but: tuple[str, ...] = ()) -> dict[str, list[tuple]]:
    """All rows of all tables."""
    with contextlib.closing(sqlite3.connect(path)) as connection:
        names = connection.execute(
            "SELECT name FROM pragma_table_list WHERE schema = 'main' AND type <> 'view' "
            "AND type <> 'shadow' AND name NOT LIKE 'sqlite%'"
        ).fetchall()
        return {
            name: sorted(connection.execute(f'SELECT * FROM "{name}"').fetchall(), key=repr)
            for (name,) in names
            if name not in but
        }


def columns(path) -> set[str]:
    with contextlib.closing(sqlite3.connect(path)) as connection:
        return {row[1] for row in connection.execute("PRAGMA table_info(run)")}


def version(path) -> int:
    with contextlib.closing(sqlite3.connect(path)) as connection:
        return connection.execute("PRAGMA user_version").fetchone()[0]


def test_a_new_project_needs_no_backup(study):
    assert [path.name for path in study.parent.iterdir()] == ["study.b100"]


def test_a_project_that_is_up_to_date_is_left_alone(study):
    before = study.read_bytes()
    with database_of(study) as database:
        assert migrate(database, study) is None
    assert study.read_bytes() == before


def test_a_migration_is_recorded_with_its_change_after_a_backup(study):
    old = tables(study)
    with database_of(study) as database:
        backup = migrate(database, study, newer(add_colour))
    assert backup == study.with_name("study.b100.before-add_colour.bak")
    assert "colour" in columns(study)
    assert version(study) == packed_version(1, MINOR + 1)
    with database_of(study) as database:
        assert [row.name for row in newer(add_colour).applied(database)] == [
            "create",
            "add_replies",
            "add_regions",
            "add_suggestions",
            "add_verdicts",
            "add_reviews",
            "add_reasoning_search",
            "add_saved_views",
            "add_judge_prompts",
            "add_region_ends",
            "add_colour",
        ]
        assert migrate(database, study, newer(add_colour)) is None
    assert {"colour"} == columns(study) - columns(backup)
    assert version(backup) == packed_version(1, MINOR)
    assert tables(backup, but=("blob",)) == {name: rows for name, rows in old.items() if name != "blob"}


def test_a_migration_that_fails_changes_nothing_and_those_before_it_stay(study):
    with database_of(study) as database, pytest.raises(RuntimeError, match="no further"):
        migrate(database, study, newer(add_colour, fail_halfway))
    assert "colour" in columns(study)
    assert "half" not in columns(study)
    assert version(study) == packed_version(1, MINOR + 1)
    with database_of(study) as database:
        assert [row.name for row in newer(add_colour, fail_halfway).pending(database)] == ["fail_halfway"]


def test_a_project_with_an_added_column_still_opens(study):
    with database_of(study) as database:
        migrate(database, study, newer(add_colour))
    with Project.open(study) as project:
        assert len(runs(project)) == 1
        tag = add_tag(project, "Ann", NewTag(1, "green_tint", 5))
        assert tags(project) == [tag]
        assert undo(project, "Ann") == edits(project)[-1]
        assert len(steps(project, 1)) == 21


def test_a_backup_leaves_out_the_received_images_only(study, tmp_path):
    with database_of(study) as database:
        back_up(database.conn, tmp_path / "copy.bak")
    assert tables(study)["blob"]
    assert tables(tmp_path / "copy.bak")["blob"] == []
    assert tables(study, but=("blob",)) == tables(tmp_path / "copy.bak", but=("blob",))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["copy.bak", "study.b100"]


def test_a_backup_has_any_name(study, tmp_path):
    backup = tmp_path / os.fsdecode(b"caf\xe9 ' ? #.bak")
    with database_of(study) as database:
        back_up(database.conn, backup)
    shutil.copy(backup, tmp_path / "copy")
    assert tables(tmp_path / "copy", but=("blob",)) == tables(study, but=("blob",))


def test_a_backup_has_the_newest_commit_and_is_a_project_itself(study, tmp_path, new_run):
    with database_of(study) as database:
        database.conn.execute("PRAGMA journal_mode=WAL")
        database.conn.execute("PRAGMA wal_autocheckpoint=0")
        database.execute("UPDATE run SET model = 'newest'")
        assert study.with_name("study.b100-wal").stat().st_size
        back_up(database.conn, tmp_path / "copy.b100")
        assert database.conn.execute("PRAGMA foreign_keys").fetchone()[0] == 1
    with Project.open(tmp_path / "copy.b100") as copy:
        assert runs(copy)[0].model == "newest"
        assert edits(copy) == []


def test_a_backup_that_fails_leaves_the_older_one(study, tmp_path):
    backup = tmp_path / "copy.bak"
    backup.write_bytes(b"the older one")
    with database_of(study) as database, contextlib.closing(connect(study, "rw")) as other:
        other.execute("BEGIN IMMEDIATE")
        database.conn.execute("PRAGMA busy_timeout=0")
        with pytest.raises(sqlite3.OperationalError, match="locked"):
            back_up(database.conn, backup)
        assert not database.conn.in_transaction
    assert backup.read_bytes() == b"the older one"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["copy.bak", "study.b100"]


def test_a_file_of_version_1_0_gets_the_later_tables(study, tmp_path):
    to_version_1_0(study)
    before = tables(study)
    with Project.open(study) as project:
        assert runs(project)
    after = tables(study)
    assert all(after.pop(table) == [] for table in LATER_TABLES)
    modes = [row[:-3] for row in after.pop("failure_mode")]
    assert sorted(modes, key=repr) == before.pop("failure_mode")
    assert {name: rows for name, rows in after.items() if "migrations" not in name} == {
        name: rows for name, rows in before.items() if "migrations" not in name
    }
    assert (tmp_path / "study.b100.before-add_replies.bak").exists()


def test_regions_from_before_they_could_end_hold_on_and_their_edits_can_be_undone(study):
    box = NewRegion(3, RegionKind.BOX, ((4, 5), (20, 30)))
    with Project.open(study) as project:
        tag = add_tag(project, "Ann", NewTag(1, "green_tint", 2))
        region = add_region(project, "Ann", tag.uuid, box)
    with database_of(study) as database:  # as version 1.8 left it, its log of edits too
        database.execute("ALTER TABLE region DROP COLUMN end_step")
        database.execute("DROP TRIGGER edit_is_never_changed")
        database.execute("UPDATE edit SET after = replace(after, ', \"end_step\": null}}}', '}}}')")
        database.execute("DELETE FROM _sqlite_migrations WHERE name = 'add_region_ends'")
        set_version(database, 1, 8)
    with Project.open(study) as project:
        assert "end_step" not in next(iter(edits(project)[-1].after["regions"].values()))
        assert regions(project) == [region]
        undo(project, "Ann")
        assert regions(project) == []
        redo(project, "Ann")
        assert [there.points for there in regions(project)] == [box.points]
