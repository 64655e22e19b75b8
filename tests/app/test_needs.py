"""Actions that can't be done are disabled, and say what they miss."""

from __future__ import annotations

import pytest

from app.actions import ACTIONS
from app.needs import Need, need_of
from app.palette import action_choices
from banana100_core.project import Project

FREE = {"file.new", "file.open", "file.recent", "file.demo", "file.quit", "edit.settings", "help.keys"}


@pytest.mark.parametrize(
    ("key", "need"),
    [
        ("file.export_view", Need.RUN),
        ("view.fit", Need.RUN),
        ("view.theme_dark", None),
        ("view.panel_runs", Need.PROJECT),
        ("view.panel_generation", Need.PROJECT),
        ("score.missing", Need.WRITING),
        ("help.about", None),
    ],
)
def test_an_action_needs_what_the_longest_beginning_says(key, need):
    assert need_of(key) is need


def test_what_makes_no_sense_without_a_project_is_disabled_and_says_why(window):
    registry = window.registry
    enabled = {action.key for action in ACTIONS if registry.qaction(action.key).isEnabled()}
    assert enabled >= FREE
    assert not {key for key in enabled if need_of(key)}
    assert "needs a run on screen" in registry.qaction("file.export_view").toolTip()
    choices = action_choices(registry)
    unexplained = {choice.text for choice in choices if not choice.enabled and not choice.why}
    # What goes on in the background says so in its panel.
    assert unexplained <= {"Pause generation", "Resume generation", "Cancel generation"}


def test_they_come_back_with_a_project_and_a_run(qtbot, window, study, tmp_path):
    Project.create(tmp_path / "empty.b100").close()
    for path, runs in ((tmp_path / "empty.b100", False), (study, True)):
        with qtbot.waitSignal(window.session.project_opened):
            window.open_project(path)
        for key in ("file.close", "score.missing"):
            assert window.registry.qaction(key).isEnabled()
        for key in ("view.fit", "run.next_step", "tag.draw_box", "edit.copy_view"):
            assert window.registry.qaction(key).isEnabled() is runs
    assert window.registry.qaction("view.fit").toolTip() == "Show the whole picture"


def test_the_palette_lists_last_what_can_not_be_done(window):
    window.palette_box.ask(action_choices(window.registry), "Find an action")
    lines = window.palette_box._model
    shown = [lines.item(row).isEnabled() for row in range(lines.rowCount())]
    assert {True, False} == set(shown)
    assert shown == sorted(shown, reverse=True)
