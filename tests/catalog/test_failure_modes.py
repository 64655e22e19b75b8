"""The taxonomy of failure modes."""

from __future__ import annotations

from banana100_core.catalog.failure_modes import Level, failure_modes


def test_taxonomy_has_the_modes_of_section_3_at_their_levels():
    by_level = {
        level: {mode.name for mode in failure_modes().values() if mode.level is level and mode.parent is None}
        for level in Level
    }
    assert by_level == {
        Level.SUB_OBJECT: {"Simplification bias"},
        Level.OBJECT: {
            "Counting failure",
            "Replacement instead of addition",
            "Inconsistent background degradation",
        },
        Level.IMAGE: {
            "Aspect-ratio mismatch",
            "Persistent noise",
            "Failure to reuse clean context",
            "Monochrome failure",
            "Mirroring failure",
            "Rotation failure",
            "Loss of texture",
            "Duplicated objects",
        },
        Level.ATTRIBUTE: {"Reasoning claims success"},
    }


def test_persistent_noise_has_its_four_kinds():
    kinds = {mode.name for mode in failure_modes().values() if mode.parent == "persistent_noise"}
    assert kinds == {"Static noise", "Green tint", "Scatter points", "Wrinkles along contours"}


def test_each_shortcut_is_one_letter_and_used_once():
    shortcuts = [mode.shortcut for mode in failure_modes().values()]
    assert all(len(shortcut) == 1 and "A" <= shortcut <= "Z" for shortcut in shortcuts)
    assert len(set(shortcuts)) == len(shortcuts)


def test_a_parent_comes_before_its_kinds_at_the_same_level():
    modes = failure_modes()
    order = list(modes)
    for mode in modes.values():
        if mode.parent is not None:
            assert order.index(mode.parent) < order.index(mode.key)
            assert modes[mode.parent].level is mode.level


def test_levels_come_in_order():
    levels = [list(Level).index(mode.level) for mode in failure_modes().values()]
    assert levels == sorted(levels)


def test_every_mode_is_explained():
    assert all(mode.name and mode.definition and mode.example for mode in failure_modes().values())
