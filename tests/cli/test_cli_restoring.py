from __future__ import annotations

import json
import shutil

from banana100_core.project import Project
from banana100_core.project.records import NewRun, NewTag
from banana100_core.project.runs import add_run
from banana100_core.project.tags import add_tag


def test_backups_are_listed_verified_and_put_back(banana100, tmp_path) -> None:
    mine, theirs = tmp_path / "mine.b100", tmp_path / "theirs.b100"
    with Project.create(mine) as project:
        run_id = add_run(project, NewRun("Dongpo", "codec_loss", "jpeg", "replicate", steps_planned=20))
    assert "has no backups" in banana100("restore", mine).stdout
    shutil.copy(mine, theirs)
    with Project.open(theirs) as project:
        add_tag(project, "Bob", NewTag(run_id, "wrinkles", 5))
    banana100("merge", mine, theirs)
    (backup,) = json.loads(banana100("restore", mine, "--json").stdout)
    assert backup["tags"] == 0
    listed = banana100("restore", mine).stdout.splitlines()
    assert [line.split()[0] for line in listed] == ["BACKUP", "now", backup["path"].rpartition("/")[2]]
    assert "nothing was changed" in banana100("restore", mine, backup["path"], "--dry-run").stdout
    said = banana100("restore", mine, backup["path"]).stdout
    assert [line.split()[5] for line in said.splitlines()[1:3]] == ["1", "0"]
    assert "what it held before is in" in said
    assert json.loads(banana100("info", mine, "--json").stdout)["totals"]["tags"] == []
    wrong = banana100("restore", mine, theirs.with_name("nothing.bak"), code=2)
    assert "There is no backup" in wrong.stderr
