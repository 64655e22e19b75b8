"""The taxonomy of failure modes."""

from __future__ import annotations

from banana100_core.catalog.failure_modes import Level, failure_modes


def test_taxonomy_has_the_modes_of_section_3_at_their_levels():
    by_level = {
        level: {key for key, mode in failure_modes().items() if mode.level is level} for level in Level
    }
    assert by_level[Level.SUB_OBJECT] == {"simplification_bias"}
    assert {"counting_failure", "replacement", "background_degradation"} <= by_level[Level.OBJECT]
    assert {
        "aspect_ratio",
        "persistent_noise",
        "clean_context",
        "monochrome_failure",
        "mirroring_failure",
        "rotation_failure",
    } <= by_level[Level.IMAGE]


def test_each_shortcut_is_one_letter_and_used_once():
    shortcuts = [mode.shortcut for mode in failure_modes().values()]
    assert all(len(shortcut) == 1 and "A" <= shortcut <= "Z" for shortcut in shortcuts)
    assert len(set(shortcuts)) == len(shortcuts)


def test_a_parent_comes_before_its_children_at_the_same_level():
    modes = failure_modes()
    order = list(modes)
    for mode in modes.values():
        if mode.parent is not None:
            assert order.index(mode.parent) < order.index(mode.key)
            assert modes[mode.parent].level is mode.level


def test_every_mode_is_explained():
    assert all(mode.name and mode.definition and mode.example for mode in failure_modes().values())
