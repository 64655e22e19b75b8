"""Edits that could not be saved, kept by kind beside the projects of this computer."""

from __future__ import annotations

import json

import pytest

from app.kept_edits import KeptEdits, Kind
from app.region_edit import RegionEdit
from app.tagging.rows import KeptTag
from app.tagging.words import Word
from banana100_core.project import Project
from banana100_core.project.records import NewRegion, NewTag, RegionKind, ReviewState

BOX = NewRegion(2, RegionKind.BOX, ((1.0, 2.0), (3.5, 4.0)), 7)
EDITS = {
    Kind.TAGS: (KeptTag("t", "ana", None, NewTag(1, "green_tint", 2, note="Ü\ud83c")), KeptTag.made),
    Kind.REGIONS: (RegionEdit(1, "ana", "t", {"a": BOX}, ("b",), {"b": BOX}), RegionEdit.made),
    Kind.WORDS: (Word("run 1: done", 1, "ana", ReviewState.DONE, "ana", "2026-01-01"), Word.made),
}


@pytest.fixture
def project(tmp_path):
    with Project.create(tmp_path / "study.b100") as project:
        yield project


@pytest.mark.parametrize("kind", Kind)
def test_each_kind_comes_back_as_it_was_and_leaves_the_others(project, own_data, kind):
    for each, (edit, _made) in EDITS.items():
        assert KeptEdits(project, each).keep([edit])
    KeptEdits(project, kind).forget()
    for each, (edit, made) in EDITS.items():
        assert KeptEdits(project, each).read(made) == ([] if each is kind else [edit])
    for each in Kind:
        KeptEdits(project, each).forget()
    assert list(own_data.rglob("*.json")) == []


def test_edits_are_of_one_project_and_not_of_its_copies(project, tmp_path):
    edit, made = EDITS[Kind.REGIONS]
    KeptEdits(project, Kind.REGIONS).keep([edit])
    project.close()
    (tmp_path / "copy.b100").write_bytes((tmp_path / "study.b100").read_bytes())
    with Project.open(tmp_path / "copy.b100") as copy:
        assert KeptEdits(copy, Kind.REGIONS).read(made) == []


@pytest.mark.parametrize(
    "text", ["", "{", "3", '{"regions": 3}', '{"regions": [3, "x"]}', '{"regions": [{}]}']
)
def test_what_cannot_be_understood_is_nothing(project, own_data, text):
    KeptEdits(project, Kind.REGIONS).keep([EDITS[Kind.REGIONS][0]])
    (file,) = own_data.rglob("*.json")
    file.write_text(text, "utf-8")
    assert KeptEdits(project, Kind.REGIONS).read(RegionEdit.made) == []


def test_tags_kept_when_nothing_else_was_are_still_read(project, own_data):
    tag, made = EDITS[Kind.TAGS]
    KeptEdits(project, Kind.TAGS).keep([tag])
    (file,) = own_data.rglob("*.json")
    file.write_text(json.dumps(json.loads(file.read_text("utf-8"))["tags"]), "utf-8")
    assert KeptEdits(project, Kind.TAGS).read(made) == [tag]
