from __future__ import annotations

import string
from collections import Counter
from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel, QLineEdit, QMainWindow, QPlainTextEdit, QSpinBox, QWidget

from app.actions import ACTIONS, ActionRegistry, Context
from app.keys import KeysSheet, sections
from app.menus import fill_menus
from app.palette import Choice, Palette, action_choices, match
from banana100_core.catalog.failure_modes import failure_modes

if TYPE_CHECKING:
    from PySide6.QtGui import QKeySequence

WITH_KEYS = [action for action in ACTIONS if action.shortcut]
PLAIN = [
    (action.key, sequence)
    for action in WITH_KEYS
    for sequence in action.sequences
    if not sequence[0].keyboardModifiers()
    & (Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.AltModifier)
    and not Qt.Key.Key_F1 <= sequence[0].key() <= Qt.Key.Key_F35
]


@pytest.fixture
def bare(qtbot):
    """A window with nothing but the actions, each of which notes that it ran."""
    window = QMainWindow()
    window.setCentralWidget(QWidget())
    qtbot.addWidget(window)
    registry = ActionRegistry(window)
    ran: list[str] = []
    for action in ACTIONS:
        registry.connect(action.key, lambda *_state, key=action.key: ran.append(key))
    fill_menus(window.menuBar(), registry)
    window.show()
    qtbot.waitActive(window)
    return window, registry, ran


def _press(widget: QWidget, sequence: QKeySequence) -> None:
    combination = sequence[0]
    QTest.keyClick(widget, combination.key(), combination.keyboardModifiers())


def test_keys_of_the_table_are_unique():
    assert len({action.key for action in ACTIONS}) == len(ACTIONS)


def test_no_two_actions_share_a_key_in_one_context():
    taken = Counter(
        (sequence.toString(), context)
        for action in WITH_KEYS
        for sequence in action.sequences
        # A key of the window is heard in every panel too.
        for context in (list(Context) if action.context is Context.WINDOW else [action.context])
    )
    assert [key for key, count in taken.items() if count > 1] == []


def test_single_letters_are_left_to_the_failure_modes():
    keys = {sequence.toString() for action in WITH_KEYS for sequence in action.sequences}
    assert keys.isdisjoint(string.ascii_uppercase)
    assert {mode.shortcut.upper() for mode in failure_modes().values()} <= set(string.ascii_uppercase)


def test_every_shortcut_is_a_key_that_qt_knows():
    for action in WITH_KEYS:
        for sequence in action.sequences:
            assert sequence.toString(), action.key
            assert sequence.count() == 1


@pytest.mark.parametrize("context", Context)
def test_a_key_pressed_in_the_window_runs_its_action(bare, qtbot, context):
    window, registry, ran = bare
    target = window.centralWidget()
    target.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
    if context is not Context.WINDOW:
        registry.attach(context, target)
    target.setFocus()
    qtbot.waitUntil(target.hasFocus)
    for action in WITH_KEYS:
        for sequence in action.sequences if action.context is context else ():
            ran.clear()
            _press(target, sequence)
            assert ran == [action.key]


@pytest.mark.parametrize("kind", [QLineEdit, QPlainTextEdit, QSpinBox])
def test_no_plain_key_runs_an_action_while_text_is_typed(bare, qtbot, kind):
    window, registry, ran = bare
    field = kind()
    window.setCentralWidget(field)
    for context in set(Context) - {Context.WINDOW}:
        registry.attach(context, field)
    field.setFocus()
    qtbot.waitUntil(field.hasFocus)  # until then nobody keeps keys for it
    for key, sequence in PLAIN:
        _press(field, sequence)
        assert ran == [], key
    QTest.keyClicks(field, string.ascii_letters + string.digits + "?!.,;-")
    assert ran == []


def test_undo_in_a_text_field_undoes_typing_and_no_tag(bare):
    window, _registry, ran = bare
    field = QLineEdit()
    window.setCentralWidget(field)
    field.setFocus()
    QTest.keyClicks(field, "noise?")
    assert field.text() == "noise?"
    QTest.keyClick(field, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    assert ran == []
    assert field.text() != "noise?"


def test_plain_keys_work_again_when_the_field_is_left(bare):
    window, _registry, ran = bare
    field, other = QLineEdit(), QWidget()
    other.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
    window.setCentralWidget(other)
    field.setParent(window)
    field.show()
    field.setFocus()
    QTest.keyClick(field, Qt.Key.Key_Right)
    assert ran == []
    other.setFocus()
    QTest.keyClick(other, Qt.Key.Key_Right)
    assert ran == ["run.next_step"]


def test_an_action_is_disabled_until_somebody_does_it(qtbot):
    window = QMainWindow()
    qtbot.addWidget(window)
    registry = ActionRegistry(window)
    assert not any(registry.qaction(action.key).isEnabled() for action in ACTIONS)
    registry.set_enabled("tag.undo", enabled=True)
    assert not registry.qaction("tag.undo").isEnabled()
    registry.connect("tag.undo", lambda: None)
    assert registry.qaction("tag.undo").isEnabled()


def test_whether_an_action_is_on_shows_in_menus(bare):
    _window, registry, _ran = bare
    assert not registry.qaction("view.outlines").isIconVisibleInMenu()  # it would take the mark's place
    assert registry.qaction("view.zoom_in").isIconVisibleInMenu()


def test_checkable_actions_hand_over_their_state_and_others_nothing(bare, qtbot):
    window = QMainWindow()
    qtbot.addWidget(window)
    registry = ActionRegistry(window)
    got: list[tuple[object, ...]] = []
    registry.connect("view.link_panes", lambda *state: got.append(state))
    registry.connect("run.next_step", lambda *state: got.append(state))
    registry.qaction("view.link_panes").trigger()
    registry.qaction("run.next_step").trigger()
    assert got == [(True,), ()]


def test_menus_hold_every_action(bare):
    window, _registry, _ran = bare
    found: set[str] = set()

    def walk(menu) -> None:
        for action in menu.actions():
            if action.menu() is not None:
                walk(action.menu())
            else:
                found.add(action.objectName())

    walk(window.menuBar())
    assert found >= {action.key for action in ACTIONS}


def test_access_keys_of_a_menu_differ():
    letters: dict[str, Counter[str]] = {}
    for action in ACTIONS:
        if "&" in action.text:
            letter = action.text[action.text.index("&") + 1].casefold()
            letters.setdefault(action.menu, Counter())[letter] += 1
    doubled = {
        menu: [letter for letter, count in found.items() if count > 1] for menu, found in letters.items()
    }
    assert not any(doubled.values()), doubled


def test_the_keys_sheet_shows_every_key(qtbot):
    shown = [key for _title, rows in sections() for _text, keys in rows for key in keys]
    expected = [sequence.toString() for action in WITH_KEYS for sequence in action.sequences]
    expected += [mode.shortcut.upper() for mode in failure_modes().values() if mode.shortcut]
    assert sorted(shown) == sorted(expected)
    sheet = KeysSheet()
    qtbot.addWidget(sheet)
    sheet.show()
    QTest.keyClick(sheet, Qt.Key.Key_Escape)
    assert not sheet.isVisible()


def test_keys_are_found_by_words_and_by_keys(qtbot):
    sheet = KeysSheet()
    qtbot.addWidget(sheet)
    sheet.show()
    QTest.keyClicks(sheet.field, "f12")
    assert sheet.shown() == ["Done, and next", "Nothing found, and next"]
    sheet.field.setText("blink SLOWER")
    assert sheet.shown() == ["Blink slower"]
    visible = {label.text() for label in sheet.findChildren(QLabel) if label.isVisible()}
    assert visible == {"View · Compare", "Blink slower", "Shift+F5"}
    sheet.field.setText("no such thing")
    assert sheet.shown() == []
    assert "No key does anything of that name." in {
        label.text() for label in sheet.findChildren(QLabel) if label.isVisible()
    }
    sheet.field.clear()
    assert len(sheet.shown()) == sum(len(rows) for _title, rows in sections())


# The palette


@pytest.mark.parametrize(
    ("query", "text"),
    [("np", "Next panel"), ("nextstep", "Next step"), ("SCORE miss", "Score what is missing"), ("", "x")],
)
def test_letters_in_order_match(query, text):
    assert match(query, text) is not None


@pytest.mark.parametrize(
    ("query", "text"), [("panelnext", "Next panel"), ("nexxt", "Next step"), ("z", "Next step")]
)
def test_letters_out_of_order_do_not(query, text):
    assert match(query, text) is None


def test_word_beginnings_and_runs_of_letters_count_more():
    assert match("np", "Next panel") > match("np", "Open project")
    assert match("step", "Next step") > match("step", "Score the picture")


@pytest.fixture
def palette(bare):
    window, registry, ran = bare
    box = Palette(window)
    registry.set_enabled("tag.redo", enabled=False)
    box.ask(action_choices(registry), "Find an action")
    return box, window.focusWidget(), ran


def test_the_palette_holds_every_action_but_itself(palette):
    box, _field, _ran = palette
    assert sorted(box.shown()) == sorted(action.title for action in ACTIONS if action.key != "help.palette")


def test_the_palette_is_used_with_the_keyboard_alone(palette):
    box, field, ran = palette
    QTest.keyClicks(field, "last step")
    assert box.shown()[0] == "Last step"
    QTest.keyClick(field, Qt.Key.Key_Return)
    assert ran == ["run.last_step"]
    assert not box.isVisible()


def test_arrows_move_in_the_palette(palette):
    box, field, ran = palette
    QTest.keyClicks(field, "step")
    second = box.shown()[1]
    QTest.keyClick(field, Qt.Key.Key_Down)
    QTest.keyClick(field, Qt.Key.Key_Return)
    assert [action.key for action in ACTIONS if action.title == second] == ran


def test_an_action_is_found_by_its_menu_before_its_name_too(palette):
    box, field, _ran = palette
    QTest.keyClicks(field, "theme dark")
    assert box.shown()[0] == "Dark"


def test_the_palette_is_as_high_as_what_it_found(palette):
    box, field, _ran = palette
    box.window().resize(1000, 800)
    QTest.keyClicks(field, "e")
    high = box.height()
    field.clear()
    QTest.keyClicks(field, "theme dark")
    few = box.height()
    assert few < high
    field.selectAll()
    QTest.keyClicks(field, "zzzz")
    assert box.shown() == []
    assert box.height() <= few


def test_escape_leaves_the_palette_and_does_nothing(palette):
    box, field, ran = palette
    QTest.keyClick(field, Qt.Key.Key_Escape)
    assert not box.isVisible()
    assert ran == []


def test_a_disabled_action_is_shown_and_not_run(palette):
    box, field, ran = palette
    QTest.keyClicks(field, "redo tag edit")
    assert box.shown()[0] == "Redo tag edit"
    QTest.keyClick(field, Qt.Key.Key_Return)
    assert ran == []


def test_names_from_outside_are_plain_text_in_the_palette(bare, qtbot):
    window, _registry, _ran = bare
    box = Palette(window)
    box.ask([Choice("<b>bold</b>\n.b100", "/tmp", "", lambda: None)], "Recent projects")
    assert box.shown() == ["<b>bold</b>\n.b100"]
    box.grab()
    assert box.rect().contains(QPoint(1, 1))
