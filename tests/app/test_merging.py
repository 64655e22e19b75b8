"""Merging copies in the window: a dry run, conflicts decided one by one, then the merge."""

from __future__ import annotations

import re

import pytest

from app.blinding import Blinding
from app.merging.dialog import MergeDialog
from banana100_core.project import Project
from banana100_core.project.merge import Prefer
from banana100_core.project.pack import pack
from banana100_core.project.records import NewRegion, NewRun, NewTag, RegionKind
from banana100_core.project.regions import add_region, edit_regions, regions
from banana100_core.project.runs import add_run, runs
from banana100_core.project.tags import add_tag, change_tag, tags


@pytest.fixture
def copies(study):
    """The study with two tags of Ada's, and the copy that Bo changed them in; their paths."""
    copy = study.with_name("bo.b100")
    with Project.open(study) as project:
        own = [add_tag(project, "Ada", NewTag(1, mode, 2)) for mode in ("green_tint", "wrinkles")]
        add_region(project, "Ada", own[0].uuid, NewRegion(2, RegionKind.BOX, ((4, 4), (20, 20))))
        pack(project, copy)
        for tag in own:
            change_tag(project, "Ada", tag.uuid, onset=3, note="here <b>")
    with Project.open(copy) as theirs:
        for tag in own:
            change_tag(theirs, "Bo", tag.uuid, onset=1)
        add_tag(theirs, "Bo", NewTag(2, "texture_loss", 4))
        run_id = add_run(theirs, NewRun("Image 1", "codec_loss", "jpeg", "mirror", steps_planned=4))
        add_tag(theirs, "Bo", NewTag(run_id, "texture_loss", 1))
    return study, copy


@pytest.fixture
def dialog(qtbot, session, copies):
    study, copy = copies
    session.adopt_project(Project.open(study))
    dialog = MergeDialog(session, [copy])
    qtbot.addWidget(dialog)
    dialog.show()
    qtbot.waitUntil(lambda: not dialog.working)
    yield dialog
    dialog.reject()


def merged(qtbot, dialog):
    with qtbot.waitSignal(dialog.finished_work) as done:
        dialog.action.click()
    return done.args[0]


def test_a_dry_run_is_shown_first_and_changes_nothing(dialog, session):
    assert dialog.heading.text() == "1 tag to add, 0 to change, 0 to remove, 0 the same"
    assert "Only in bo.b100: Image 1 · mirror · jpeg · r1 (0 steps" in dialog.text.toPlainText()
    assert dialog.conflicts.model.rowCount() == 2
    assert dialog.conflicts.model.data(dialog.conflicts.model.index(0, 3)) == "Onset, Note"
    assert [tag.onset for tag in tags(session.project)] == [3, 3]
    dialog.reject()
    assert len(tags(session.project)) == 2


def test_each_conflict_is_decided_by_itself_and_the_backup_is_named(dialog, session, qtbot):
    names = [conflict.mine.row["failure_mode"] for conflict in dialog.conflicts.model.conflicts]
    dialog.conflicts.buttons[Prefer.THEIRS].click()
    assert "1 left for later" in dialog.conflict_heading.text()
    dialog.conflicts.buttons[Prefer.BOTH].click()
    assert "All are decided" in dialog.conflict_heading.text()
    text = merged(qtbot, dialog)
    onsets = {
        name: sorted(tag.onset for tag in tags(session.project, 1) if tag.failure_mode == name)
        for name in names
    }
    assert onsets == {names[0]: [1], names[1]: [1, 3]}
    (backup,) = session.project.path.parent.glob("*.before-merge-*.bak")
    assert str(backup) in text
    assert len(runs(session.project)) == 4
    assert not dialog.action.isVisible()


def test_what_is_left_for_later_is_asked_again(dialog, session, qtbot, copies):
    dialog.conflicts.buttons[Prefer.MINE].click()
    dialog.conflicts.buttons[None].click()
    assert "1 conflict left for later" in merged(qtbot, dialog)
    assert {tag.onset for tag in tags(session.project, 1)} == {3}
    again = MergeDialog(session, [copies[1]])
    qtbot.addWidget(again)
    qtbot.waitUntil(lambda: not again.working)
    assert again.conflicts.model.rowCount() == 1
    again.reject()


def test_runs_that_only_the_copy_has_are_added_when_asked(dialog, session, qtbot):
    assert dialog.add_runs.text().startswith("Add 1 run that only a copy has")
    dialog.add_runs.setChecked(True)
    assert "1 run added" in merged(qtbot, dialog)
    assert len(runs(session.project)) == 5
    assert [tag.onset for tag in tags(session.project, 5)] == [1]


def versions(dialog):
    """What is said of both sides of the chosen conflict, by field."""
    grid = dialog.conflicts.versions.layout()
    said = {}
    for line in range(1, grid.rowCount()):
        cells = [grid.itemAtPosition(line, column) for column in range(3)]
        if all(cells):
            title, mine, theirs = (cell.widget().text() for cell in cells)
            said[title] = (mine, theirs)
    return said


def test_both_versions_are_shown_as_plain_text(dialog, qtbot):
    said = versions(dialog)
    assert said["Onset"] == ("3", "1")
    assert said["Note"] == ("here <b>", "")
    assert said["End step"] == ("to the end", "to the end")


def test_regions_that_differ_are_told_apart_and_runs_named(qtbot, session, copies):
    study, copy = copies
    for path, who, end in ((study, "Ada", None), (copy, "Bo", 4)):
        with Project.open(path) as project:
            (region,) = regions(project)
            points = region.points if end else ((4, 4), (24, 20))
            new = NewRegion(2, RegionKind.BOX, points, end)
            edit_regions(project, who, region.tag_uuid, {region.uuid: new})
    session.adopt_project(Project.open(study))
    dialog = MergeDialog(session, [copy])
    qtbot.addWidget(dialog)
    qtbot.waitUntil(lambda: not dialog.working)
    model = dialog.conflicts.model
    row = next(row for row, each in enumerate(model.conflicts) if "regions" in each.fields)
    assert model.data(model.index(row, 0)) == "Image 1 · replicate · r1"
    dialog.conflicts.table.selectRow(row)
    assert versions(dialog)["Regions"] == (
        "box, 20 × 16 at 4, 4, from step 2",
        "box, 16 × 16 at 4, 4, from step 2 to 4",
    )
    dialog.reject()


def reopened(qtbot, session, copy):
    dialog = MergeDialog(session, [copy])
    qtbot.addWidget(dialog)
    dialog.show()
    qtbot.waitUntil(lambda: not dialog.working)
    return dialog


def test_hidden_numbers_are_not_told_but_which_side_is_the_earlier(qtbot, session, copies):
    study, copy = copies
    for path, end, step in ((study, 4, 2), (copy, None, 3)):
        with Project.open(path) as project:
            tag, other = tags(project, 1)
            change_tag(project, tag.annotator, tag.uuid, end_step=end)
            box = NewRegion(step, RegionKind.BOX, ((4, 4), (20, 20)))
            add_region(project, other.annotator, other.uuid, box)
    session.adopt_project(Project.open(study))
    session.set_blinding(Blinding(steps=True))
    dialog = reopened(qtbot, session, copy)
    told = {}
    for row, conflict in enumerate(dialog.conflicts.model.conflicts):
        dialog.conflicts.table.selectRow(row)
        told[conflict.mine.row["failure_mode"]] = versions(dialog)
    assert all(said["Onset"] == ("the later step", "the earlier step") for said in told.values())
    ended, outlined = sorted(told.values(), key=lambda said: said["End step"][0] == "to the end")
    assert ended["End step"] == ("before the end", "to the end")
    assert outlined["Regions"] == ("box, 16 × 16 at 4, 4", "box, 16 × 16 at 4, 4, at other steps")
    shown = [text for said in told.values() for pair in said.values() for text in pair]
    assert not [
        text for text in (*shown, dialog.text.toPlainText()) if re.search(r"\bsteps? \d|\d steps?", text)
    ]
    session.set_blinding(Blinding())
    assert versions(dialog)["Onset"] == ("3", "1")
    dialog.reject()


def test_conflicts_of_others_tags_are_left_for_later_while_these_are_hidden(qtbot, session, copies):
    study, copy = copies
    with Project.open(study) as project:
        add_tag(project, "Cleo", NewTag(1, "static_noise", 2))
        pack(project, copy.with_name("cleo.b100"))
        for tag in tags(project, 1):
            change_tag(project, tag.annotator, tag.uuid, onset=3, severity=3)
    with Project.open(copy.with_name("cleo.b100")) as theirs:
        for tag in tags(theirs, 1):
            change_tag(theirs, tag.annotator, tag.uuid, onset=1)
    session.adopt_project(Project.open(study))
    session.annotator = "Cleo"
    session.set_blinding(Blinding(tags=True))
    dialog = reopened(qtbot, session, copy.with_name("cleo.b100"))
    (conflict,) = dialog.conflicts.model.conflicts
    assert conflict.mine.row["annotator"] == "Cleo"
    heading = dialog.conflict_heading.text()
    assert heading.startswith("1 conflict: both sides")
    assert "2 conflicts of others' tags are hidden while you tag blind, and left for later." in heading
    dialog.conflicts.buttons[Prefer.THEIRS].click()
    assert "2 conflicts left for later" in merged(qtbot, dialog)
    onsets = {tag.failure_mode: tag.onset for tag in tags(session.project, 1)}
    assert onsets == {"green_tint": 3, "wrinkles": 3, "static_noise": 1}
    session.annotator = "Ben"
    session.set_blinding(Blinding(tags=True))
    again = reopened(qtbot, session, copy)
    assert again.conflicts.isHidden()
    assert "3 tags" not in again.text.toPlainText()
    session.set_blinding(Blinding())
    assert again.conflicts.model.rowCount() == 2
    again.reject()


def test_a_file_that_is_no_copy_is_said(qtbot, session, study):
    session.adopt_project(Project.open(study))
    dialog = MergeDialog(session, [study])
    qtbot.addWidget(dialog)
    qtbot.waitUntil(lambda: not dialog.working)
    assert "is the project itself" in dialog.trouble.text()
    assert not dialog.action.isEnabled()
    dialog.reject()
