"""The taxonomy's dialog: what is changed there is saved, and what can't be is refused with the reason."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from app.tagging.taxonomy_dialog import KEY_ROLE, TaxonomyDialog
from banana100_core.project.failure_modes import failure_modes
from banana100_core.project.records import NewTag
from banana100_core.project.tags import add_tag, tags
from tests.app.tagging_desk import Desk, make_study


@pytest.fixture(scope="module")
def template(tmp_path_factory, make_png):
    return make_study(tmp_path_factory.mktemp("taxonomy") / "study.b100", make_png).read_bytes()


@pytest.fixture
def desk(qtbot, tmp_path, template):
    path = tmp_path / "study.b100"
    path.write_bytes(template)
    desk = Desk(qtbot, path)
    yield desk
    desk.close()


@pytest.fixture
def dialog(desk):
    add_tag(desk.project, "ben", NewTag(1, "green_tint", 4))
    desk.qtbot.waitUntil(lambda: len(desk.panel.rows) == 1)
    desk.act("tag.taxonomy")
    dialog = desk.window.findChild(TaxonomyDialog)
    desk.qtbot.waitUntil(lambda: dialog.chosen is not None)
    desk.qtbot.waitUntil(lambda: dialog._item("green_tint").text(2) == "1")
    return dialog


def choose(dialog, key):
    dialog.list.setCurrentItem(dialog._item(key))
    assert dialog.chosen.key == key


def mode(desk, key):
    return next((each for each in failure_modes(desk.project) if each.key == key), None)


def test_all_modes_are_listed_by_level_with_kinds_below_their_parents(dialog):
    assert [item.data(0, KEY_ROLE) for item in dialog._items()][:4] == [
        "simplification_bias",
        "counting_failure",
        "replacement",
        "background_degradation",
    ]
    assert dialog._item("green_tint").parent() is dialog._item("persistent_noise")
    choose(dialog, "green_tint")
    assert dialog.used.text() == "1 tag in 1 run, by ben."
    assert dialog.form.parent_mode.currentText() == "Persistent noise"


def test_a_new_name_is_saved_when_its_field_is_left_and_shows_everywhere(desk, dialog):
    choose(dialog, "green_tint")
    dialog.form.name.setText("Green cast")
    QTest.keyClick(dialog.form.name, Qt.Key.Key_Return)
    desk.qtbot.waitUntil(lambda: mode(desk, "green_tint").name == "Green cast")
    desk.qtbot.waitUntil(lambda: dialog._item("green_tint").text(0) == "Green cast")
    desk.qtbot.waitUntil(lambda: desk.panel.rows[0].name.text() == "Green cast")
    assert desk.panel.taxonomy.buttons["green_tint"].text() == "Green cast"


def test_a_key_that_is_taken_is_refused_with_the_reason_and_the_old_one_stays(desk, dialog):
    choose(dialog, "green_tint")
    QTest.keyClick(dialog.form.letter, Qt.Key.Key_N)
    desk.qtbot.waitUntil(lambda: "The key N is taken: it tags Persistent noise" in dialog.message.text())
    assert dialog.form.letter.text() == "G"
    QTest.keyClick(dialog.form.letter, Qt.Key.Key_Q)
    desk.qtbot.waitUntil(lambda: mode(desk, "green_tint").shortcut == "Q")
    desk.qtbot.waitUntil(lambda: desk.panel.taxonomy.buttons["green_tint"].key == "Q")
    dialog.close()
    desk.window.setFocus()
    desk.at(9).press(Qt.Key.Key_Q)
    assert {(tag.annotator, tag.failure_mode, tag.onset) for tag in desk.saved()} == {
        ("ben", "green_tint", 4),
        ("ana", "green_tint", 9),
    }


def test_a_mode_is_added_and_tags_at_once(desk, dialog):
    choose(dialog, "counting_failure")
    dialog.add.click()
    dialog.form.name.setText("Floating fruit")
    QTest.keyClick(dialog.form.letter, Qt.Key.Key_Z)
    dialog.form.definition.setPlainText("Fruit hangs in the air.")
    dialog.form.add.click()
    desk.qtbot.waitUntil(lambda: mode(desk, "floating_fruit") is not None)
    desk.qtbot.waitUntil(lambda: dialog.chosen is not None and dialog.chosen.key == "floating_fruit")
    assert mode(desk, "floating_fruit").level.value == "object"
    dialog.close()
    desk.qtbot.waitUntil(lambda: "floating_fruit" in desk.panel.taxonomy.buttons)
    desk.window.setFocus()
    desk.at(3).press(Qt.Key.Key_Z)
    assert "floating_fruit" in {tag.failure_mode for tag in desk.saved()}


def test_a_mode_without_a_name_is_not_added(desk, dialog):
    before = failure_modes(desk.project)
    dialog.add.click()
    dialog.form.add.click()
    desk.qtbot.waitUntil(lambda: dialog.message.text() == "A failure mode needs a name.")
    QTest.keyClick(dialog, Qt.Key.Key_Escape)
    assert dialog.isVisible()
    assert not dialog.form.adding
    assert failure_modes(desk.project) == before


def test_a_retired_mode_leaves_the_board_keeps_its_tags_and_comes_back(desk, dialog):
    choose(dialog, "green_tint")
    dialog.retire.click()
    desk.qtbot.waitUntil(lambda: "green_tint" not in desk.panel.taxonomy.buttons)
    assert [row.name.text() for row in desk.panel.rows] == ["Green tint"]
    desk.qtbot.waitUntil(lambda: dialog.retire.text() == "Bring back")
    assert "They stay and count as before." in dialog.used.text()
    dialog.retire.click()
    desk.qtbot.waitUntil(lambda: "green_tint" in desk.panel.taxonomy.buttons)
    assert mode(desk, "green_tint").shortcut == "G"


def test_a_merge_says_what_it_does_before_it_does_it(desk, dialog):
    choose(dialog, "green_tint")
    dialog.merge.click()
    form = dialog.merge_form
    form.target.setCurrentIndex(form.target.findData("texture_loss"))
    form.target.activated.emit(form.target.currentIndex())
    desk.qtbot.waitUntil(form.confirm.isEnabled)
    assert form.plan.text().startswith("1 tag in 1 run will be of Loss of texture.")
    form.cancel.click()
    assert [tag.failure_mode for tag in tags(desk.project)] == ["green_tint"]
    dialog.merge.click()
    form.target.setCurrentIndex(form.target.findData("texture_loss"))
    form.target.activated.emit(form.target.currentIndex())
    desk.qtbot.waitUntil(form.confirm.isEnabled)
    form.confirm.click()
    desk.qtbot.waitUntil(lambda: [tag.failure_mode for tag in tags(desk.project)] == ["texture_loss"])
    desk.qtbot.waitUntil(lambda: dialog.chosen is not None and dialog.chosen.key == "texture_loss")
    choose(dialog, "green_tint")
    assert dialog.used.text() == "Merged into Loss of texture. No tags."


def test_what_is_in_a_field_when_the_dialog_closes_is_saved(desk, dialog):
    choose(dialog, "texture_loss")
    dialog.form.example.setPlainText("Bark becomes a plain brown.")
    dialog.close()
    desk.qtbot.waitUntil(lambda: mode(desk, "texture_loss").example == "Bark becomes a plain brown.")


def test_what_cannot_be_saved_when_the_dialog_closes_is_told(desk, dialog):
    choose(dialog, "texture_loss")
    dialog.form.name.setText("Green tint")
    with desk.qtbot.waitSignal(desk.session.failed) as told:
        dialog.close()
    assert "There is a failure mode Green tint already" in told.args[1]
    assert mode(desk, "texture_loss").name == "Loss of texture"
