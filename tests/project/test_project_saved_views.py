"""Saved views: kept by name, in the project and in what is made of it."""

from __future__ import annotations

import shutil

import pytest

from banana100_core.errors import ProjectError
from banana100_core.project import Project
from banana100_core.project.merge import merge
from banana100_core.project.pack import pack
from banana100_core.project.records import NewTag
from banana100_core.project.saved_views import SavedView, remove_view, rename_view, save_view, saved_views
from banana100_core.project.tags import add_tag

WORST = SavedView(
    "Worst by NIQE",
    "model",
    ("steps", "score:niqe"),
    "score:niqe",
    descending=True,
    filter="fog r1",
    facets={"protocol": ("replicate", "mirror"), "scores": ("missing",)},
)
ALL = SavedView("all", "none")


@pytest.fixture
def path(tmp_path, add_study):
    path = tmp_path / "study.b100"
    with Project.create(path) as project:
        add_study(project, count=3)
        for view in (WORST, ALL):
            save_view(project, view)
    return path


def test_views_come_back_as_they_were_saved_by_name(path):
    with Project.open(path, read_only=True) as project:
        assert saved_views(project) == [ALL, WORST]


def test_saving_under_a_name_again_replaces_the_view(path):
    with Project.open(path) as project:
        changed = SavedView("all", "protocol", filter="holi")
        save_view(project, changed)
        assert saved_views(project) == [changed, WORST]


def test_views_are_renamed_and_removed(path):
    with Project.open(path) as project:
        rename_view(project, "all", "  every\nrun ")
        assert [view.name for view in saved_views(project)] == ["every run", WORST.name]
        remove_view(project, "every run")
        assert saved_views(project) == [WORST]


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda project: rename_view(project, "all", WORST.name), "already"),
        (lambda project: rename_view(project, "gone", "other"), "no view gone"),
        (lambda project: remove_view(project, "gone"), "no view gone"),
        (lambda project: save_view(project, SavedView(" ", "none")), "needs a name"),
        (lambda project: rename_view(project, "all", ""), "needs a name"),
    ],
)
def test_what_can_not_be_done_changes_nothing_and_says_why(path, change, reason):
    with Project.open(path) as project:
        with pytest.raises(ProjectError, match=reason):
            change(project)
        assert saved_views(project) == [ALL, WORST]


def test_a_name_that_is_half_a_character_is_kept_as_an_escape(path):
    with Project.open(path) as project:
        save_view(project, SavedView("odd \udcff", "none"))
        assert r"odd \udcff" in [view.name for view in saved_views(project)]


def test_packing_and_merging_keep_the_views(path, tmp_path, add_study):
    returned = tmp_path / "returned.b100"
    shutil.copyfile(path, returned)
    with Project.open(returned) as project:
        remove_view(project, "all")
        add_tag(project, "Ada", NewTag(1, "wrinkles", onset=1))
    with Project.open(path) as project:
        assert merge(project, [returned]).added == 1
        assert saved_views(project) == [ALL, WORST]
        pack(project, tmp_path / "packed.b100")
    with Project.open(tmp_path / "packed.b100", read_only=True) as packed:
        assert saved_views(packed) == [ALL, WORST]
