from __future__ import annotations

import json

import pytest

from banana100_core.project import Project
from banana100_core.project.records import NewRun, NewTag
from banana100_core.project.runs import add_run
from banana100_core.project.tags import add_tag, change_tag, tags


@pytest.fixture
def copies(tmp_path, banana100):
    """The project and a copy of it; both changed Ann's tag, and Bob added one to the copy."""
    mine, theirs = tmp_path / "mine.b100", tmp_path / "theirs.b100"
    with Project.create(mine) as project:
        run_id = add_run(project, NewRun("Dongpo", "codec_loss", "jpeg", "replicate", steps_planned=20))
        tag = add_tag(project, "Ann", NewTag(run_id, "green_tint", 3))
    banana100("pack", mine, theirs)
    with Project.open(mine) as project:
        change_tag(project, "Ann", tag.uuid, onset=4)
    with Project.open(theirs) as project:
        change_tag(project, "Bob", tag.uuid, onset=6)
        add_tag(project, "Bob", NewTag(run_id, "wrinkles", 5))
    return mine, theirs


def test_a_dry_run_lists_conflicts_and_changes_nothing(banana100, copies) -> None:
    before = copies[0].read_bytes()
    shown = banana100("merge", *copies, "--dry-run", code=1)
    assert copies[0].read_bytes() == before
    assert (
        "1 tag added, 0 changed, 0 removed, 0 the same; 1 edit taken over; nothing was changed"
        in shown.stdout
    )
    row = next(line for line in shown.stdout.splitlines() if "onset" in line)
    assert row.split()[:7] == ["1", "green_tint", "Ann", "onset", "4", "6", "mine"]
    assert "1 conflict: this project's side was kept. Decide with --prefer." in shown.stderr


def test_a_decision_is_taken_and_merging_again_finds_nothing(banana100, copies, tmp_path) -> None:
    done = banana100("merge", *copies, "--prefer", "theirs").stdout
    assert "1 tag added, 1 changed" in done
    assert "backed up before:" in done
    assert len(list(tmp_path.glob("*.bak"))) == 1
    with Project.open(copies[0], read_only=True) as project:
        assert [(tag.annotator, tag.onset) for tag in tags(project)] == [("Bob", 5), ("Ann", 6)]
    again = json.loads(banana100("merge", *copies, "--json").stdout)
    assert (again["added"], again["changed"], again["unchanged"], again["conflicts"]) == (0, 0, 2, [])


def test_runs_that_only_a_copy_has_are_listed_with_how_to_add_them(banana100, copies) -> None:
    with Project.open(copies[1]) as project:
        add_run(project, NewRun("Fog", "codec_loss", "jpeg", "replicate", steps_planned=1))
    told = banana100("merge", *copies, "--prefer", "mine")
    assert "RUN ONLY THERE" in told.stdout
    assert "--add-runs adds them" in told.stderr
    assert "--add-runs" not in banana100("merge", *copies, "--add-runs").stderr


def test_a_copy_that_is_none_is_said(banana100, copies, tmp_path) -> None:
    (tmp_path / "notes.txt").write_text("not a project")
    assert "not a Banana100 project" in banana100("merge", copies[0], "notes.txt", code=2).stderr
    assert "itself" in banana100("merge", copies[0], copies[0], code=2).stderr
