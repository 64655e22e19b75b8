from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from banana100_core.exchange.guesses import Guess, guess
from banana100_core.exchange.names import read_name, steps_of


def numbers(*stems: str) -> list[int | None]:
    return [None if step is None else step.value for step in steps_of([read_name(stem) for stem in stems])]


@pytest.mark.parametrize(
    ("stem", "step"),
    [
        ("Dongpo_replicate_r1_step_012", 12),
        ("dongpo-run2-7", 7),
        ("step7", 7),
        ("Step-0042", 42),
        ("iteration 3", 3),
        ("iter.5", 5),
        ("turn12_seed_42", 12),
        ("101_attemptB_turn1", 1),
        ("0012", 12),
        ("img_7", 7),
        ("image (3)", 3),
        ("2026-03-18_step3_2816x1504", 3),
        ("step_5_of_100", 5),
        ("Fog 2K 8", 8),
        ("Fog_t0.4_8", 8),
        ("step_000", 0),
        ("Dongpo_v2_9", 9),
        ("猪_第_4", 4),
        ("Dongpo", None),
        ("r3", None),
        ("2816x1504", None),
        ("seed42", None),
        ("20260318-101530", None),
        ("", None),
    ],
)
def test_the_step_in_a_single_name(stem: str, step: int | None) -> None:
    assert numbers(stem) == [step]


def test_the_number_that_changes_is_the_step() -> None:
    assert numbers("7_Dongpo_100", "8_Dongpo_100") == [7, 8]
    assert numbers("100-fruits 1", "100-fruits 2") == [1, 2]
    assert numbers("a_1_9", "a_1_10", "a_2_9") == [9, 10, 9]


def test_numbers_in_brackets_are_copies_only_beside_a_step() -> None:
    assert read_name("step_3 (1)").is_copy
    assert numbers("step_3 (1)") == [3]
    assert not read_name("Dongpo (1)").is_copy
    assert numbers("Dongpo (1)", "Dongpo (2)") == [1, 2]


@pytest.mark.parametrize(
    "stem", ["original", "Dongpo_original", "initial image", "input", "r1-initial", "INPUT_2816x1504"]
)
def test_names_of_initial_images(stem: str) -> None:
    assert read_name(stem).says_initial


@pytest.mark.parametrize("stem", ["originality", "step_3_original", "input_7", "Dongpo", "reinitialised"])
def test_names_that_are_no_initial_image(stem: str) -> None:
    assert not read_name(stem).says_initial


separators = st.sampled_from(["_", "-", " ", "__", "_-_"])


@given(
    subject=st.sampled_from(["Dongpo", "Fog", "Œuf", "猪肉"]),
    run=st.integers(0, 9999),
    run_word=st.sampled_from(["r", "run", "Run", "rep", "repeat", "trial"]),
    step=st.integers(0, 999_999),
    width=st.integers(1, 6),
    step_word=st.sampled_from(["step", "Step", "iter", "turn", "round", ""]),
    between=separators,
)
def test_run_and_step_are_found_however_they_are_joined(
    subject: str, run: int, run_word: str, step: int, width: int, step_word: str, between: str
) -> None:
    name = read_name(between.join([subject, f"{run_word}{run}", f"{step_word}{step:0{width}}"]))
    (found,) = steps_of([name])
    assert found is not None
    assert found.value == step
    assert name.repeat == run
    assert name.words_beside(found) == [subject, f"r{run}"]


@given(st.text(max_size=60))
def test_any_text_can_be_read(stem: str) -> None:
    name = read_name(stem)
    (step,) = steps_of([name])
    assert all(field.strip() for field in name.words_beside(step))
    if step is not None:
        assert 0 <= step.value <= 999_999
        assert name.stem[step.start : step.end].endswith(str(step.value)) or step.value == 0


@given(st.lists(st.text(max_size=20), max_size=4), st.lists(st.text(max_size=20), max_size=4))
def test_any_folders_can_be_guessed_from(folders: list[str], fields: list[str]) -> None:
    guess(folders, fields)


@pytest.mark.parametrize(
    ("folders", "fields", "expected"),
    [
        (["Dongpo", "replicate", "run_1"], [], Guess("Dongpo", "replicate", repeat=1)),
        (["replicate", "Dongpo", "3"], [], Guess("Dongpo", "replicate", repeat=3)),
        (["Dongpo", "add-100-fruits", "r2"], [], Guess("Dongpo", "add-100-fruits", repeat=2)),
        (["runs", "Cat", "1"], [], Guess("Cat", repeat=1)),
        (["Cat", "blur it", "1"], [], Guess("Cat", "blur it", repeat=1)),
        ([], ["Dongpo", "replicate", "r1"], Guess("Dongpo", "replicate", repeat=1)),
        ([], ["Dongpo", "add", "100", "fruits", "r4"], Guess("Dongpo", "add_100_fruits", repeat=4)),
        ([], ["nano-banana-pro", "Fog", "r2"], Guess("Fog", model="nano-banana-pro", repeat=2)),
        (["Nano Banana Pro", "Fog"], [], Guess("Fog", model="Nano Banana Pro")),
        (["FLUX.2-dev", "Fog", "same chat"], [], Guess("Fog", model="FLUX.2-dev", session_mode="same")),
        (["Qwen", "Fog", "different chat", "left"], [], Guess("Fog", model="Qwen", branch="left")),
        (["protocol=blur", "initial=Fog", "run=2"], [], Guess("Fog", "blur", repeat=2)),
        (["Fog"], ["seed42"], Guess("Fog", seed=42)),
        (["café 🎉 photos"], [], Guess("café 🎉 photos")),
        (["table_lamp", "r1"], [], Guess("table_lamp", repeat=1)),
        ([], ["cat-replicate", "r1"], Guess("cat", "replicate", repeat=1)),
        ([], [], Guess()),
    ],
)
def test_what_folders_and_names_say(folders: list[str], fields: list[str], expected: Guess) -> None:
    assert guess(folders, fields) == expected
