from __future__ import annotations

import json

import pytest

from banana100_core.imaging.decode import inspect
from banana100_core.project import Project
from banana100_core.project.images import NewImage
from banana100_core.project.records import NewRegion, NewRun, NewStep, NewTag, Outcome, RegionKind
from banana100_core.project.regions import add_region
from banana100_core.project.runs import add_run, add_steps
from banana100_core.project.tags import add_tag, remove_tag, tags


@pytest.fixture
def tagged(tmp_path, make_png):
    """A project of one run of two steps, with one tag and one region."""
    path = tmp_path / "study.b100"
    with Project.create(path) as project:
        run_id = add_run(project, NewRun("Dongpo", "codec_loss", "jpeg", "replicate", steps_planned=2))
        for number in (1, 2):
            data = make_png(seed=number)
            add_steps(project, [(NewStep(run_id, number, Outcome.DONE), NewImage(inspect(data), data))])
        tag = add_tag(project, "Ann", NewTag(run_id, "green_tint", 1))
        add_region(project, "Ann", tag.uuid, NewRegion(1, RegionKind.BOX, ((1, 2), (3, 4))))
    return path


@pytest.mark.parametrize("form", ["coco", "label-studio", "imagefolder"])
def test_a_folder_form_tells_its_pictures(banana100, tagged, form) -> None:
    assert banana100("export", tagged, "out", "--to", form).stdout == "out: 1 tag, 1 region, 2 pictures\n"
    assert "exists already" in banana100("export", tagged, "out", "--to", form, code=2).stderr


def test_a_table_has_no_pictures(banana100, tagged, tmp_path) -> None:
    assert banana100("export", tagged, "t.csv", "--to", "csv").stdout == "t.csv: 1 tag, 1 region\n"
    done = json.loads(banana100("export", tagged, "u.csv", "--to", "csv", "--json").stdout)
    assert (done["tags"], done["regions"]) == (1, 1)
    assert (tmp_path / "t.csv").read_bytes() == (tmp_path / "u.csv").read_bytes()


def test_a_form_has_to_be_named(banana100, tagged) -> None:
    assert "--to" in banana100("export", tagged, "out", code=2).stderr
    assert "yolo" in banana100("export", tagged, "out", "--to", "yolo", code=2).stderr


def test_exported_tags_come_back_with_a_preview(banana100, tagged, tmp_path) -> None:
    banana100("pack", tagged, "copy.b100")
    banana100("export", tagged, "t.csv", "--to", "csv")
    with Project.open(tmp_path / "copy.b100") as project:
        remove_tag(project, "Ann", tags(project)[0].uuid)
    shown = banana100("import", "tags", "copy.b100", "t.csv", "--dry-run", code=1)
    assert "nothing was changed" in shown.stdout
    assert "1 conflict" in shown.stderr
    done = banana100("import", "tags", "copy.b100", "t.csv", "--prefer", "theirs").stdout
    assert done.startswith("1 tag added, 0 changed")
    (tmp_path / "bad.csv").write_text("a,b\n1,2\n")
    assert "no column" in banana100("import", "tags", "copy.b100", "bad.csv", code=2).stderr
