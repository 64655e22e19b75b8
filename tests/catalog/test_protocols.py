"""The catalog's protocols and editor models."""

from __future__ import annotations

import pytest

from banana100_core.catalog.initial_images import matching, paper_images
from banana100_core.catalog.models import editor_models
from banana100_core.catalog.protocols import Protocol, load_protocol, protocol, protocols
from banana100_core.catalog.settings import RunSettings, SeedMode, settings_from
from banana100_core.errors import ProviderError


def test_replicate_sends_the_papers_prompt_at_every_step() -> None:
    replicate = protocols()["replicate"]
    wording = "Produce an exact replica of the provided image, with no alterations."
    assert {replicate.prompt(step) for step in range(1, 101)} == {wording}


def test_prompts_come_in_turn_and_begin_again() -> None:
    mirror = Protocol("mirror", "Mirror", ("there", "and", "back"))
    assert [mirror.prompt(step) for step in range(1, 8)] == ["there", "and", "back"] * 2 + ["there"]


def test_an_unknown_protocol_is_refused_with_those_there_are() -> None:
    with pytest.raises(ProviderError, match="replicate"):
        protocol("nonsense")


def test_the_embedded_models_say_what_they_are_and_cost_nothing() -> None:
    models = {model.provider: model for model in editor_models()}
    assert next(iter(models)) == "restoration_loop"
    assert "Real-ESRGAN" in models["restoration_loop"].title
    assert "JPEG" in models["codec_loss"].title
    for provider in ("restoration_loop", "codec_loss"):
        assert models[provider].note
        assert not models[provider].needs_key
        assert models[provider].usd_per_image == (0.0, 0.0)


def test_the_papers_protocols_are_there_with_their_periods() -> None:
    periods = {key: len(each.prompts) for key, each in protocols().items()}
    assert sum(key.startswith("replicate") for key in periods) == 6
    rephrased = {protocols()[f"replicate-{n}"].prompts for n in (2, 3, 4, 5)} | {
        protocol("replicate").prompts
    }
    assert len(rephrased) == 5
    assert {key: periods[key] for key in ("mirror", "rotate", "colourise", "reconstruct", "add-apples")} == {
        "mirror": 2,
        "rotate": 4,
        "colourise": 2,
        "reconstruct": 3,
        "add-apples": 1,
    }
    fruits = protocol("add-100-fruits").prompts
    assert len(set(fruits)) == 100
    assert fruits[:2] == (
        "Add an apple to the table, and change nothing else.",
        "Add a banana to the table, and change nothing else.",
    )


def test_a_protocol_of_ones_own_is_read_with_its_settings(tmp_path) -> None:
    file = tmp_path / "hats.toml"
    file.write_text(
        'title = "Hats"\nprompt = "Add {item}."\nitems = ["a hat", "two hats"]\n'
        '[settings]\nseed = "fixed"\ntemperature = 0\nresolution = "interleaved"\naspect_ratio = "4:3"\n'
    )
    own = load_protocol(file)
    assert (own.key, own.title, own.prompts) == ("hats", "Hats", ("Add a hat.", "Add two hats."))
    assert own.settings == RunSettings(SeedMode.FIXED, 0.0, "interleaved", "4:3")
    assert [own.settings.resolution_of(step) for step in (1, 2, 3, 4)] == ["1K", "2K", "4K", "1K"]
    assert settings_from(own.settings.changed(), "") == own.settings
    assert RunSettings().changed() == {}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("prompts = [", "is no TOML"),
        ("", "either prompts"),
        ('prompts = "one"', "prompts must be a list"),
        ("prompts = []", "at least one"),
        ('prompts = ["a", " "]', "number 2"),
        ('prompts = ["a"]\nprompt = "b"', "either prompts"),
        ('prompt = "b"\nitems = ["c"]', "{item}"),
        ('prompt = "{item}"', "items must be a list"),
        ('prompts = ["a"]\nsteps = 3', "no field 'steps'"),
        ('prompts = ["a"]\ntitle = 3', "title must be text"),
        ('prompts = ["a"]\nsettings = 3', "a table"),
        ('prompts = ["a"]\n[settings]\nspeed = 3', "no setting 'speed'"),
        ('prompts = ["a"]\n[settings]\nseed = "often"', "none, fixed, per-step"),
        ('prompts = ["a"]\n[settings]\ntemperature = 3', "from 0 to 2"),
        ('prompts = ["a"]\n[settings]\ntemperature = true', "from 0 to 2"),
        ('prompts = ["a"]\n[settings]\nresolution = "8K"', "interleaved"),
        ('prompts = ["a"]\n[settings]\naspect_ratio = "7:1"', "21:9"),
    ],
)
def test_what_is_wrong_with_a_protocol_of_ones_own_is_said(tmp_path, text, words) -> None:
    file = tmp_path / "own.toml"
    file.write_text(text)
    with pytest.raises(ProviderError) as told:
        load_protocol(file)
    assert words in str(told.value)
    assert str(file) in str(told.value)


def test_a_protocol_file_is_refused_that_is_gone_no_text_or_named_as_a_shipped_one(tmp_path) -> None:
    with pytest.raises(ProviderError, match="can't be read"):
        load_protocol(tmp_path / "gone.toml")
    (tmp_path / "latin.toml").write_bytes(b'prompts = ["\xff"]')
    with pytest.raises(ProviderError, match="UTF-8"):
        load_protocol(tmp_path / "latin.toml")
    (tmp_path / "mirror.toml").write_text('prompts = ["a"]')
    with pytest.raises(ProviderError, match="Rename"):
        load_protocol(tmp_path / "mirror.toml")


def test_the_papers_initial_images_are_listed_and_matched_by_name_and_size() -> None:
    images = paper_images()
    assert len(images) == 13
    assert next(iter(images)) == "Building"
    assert (images["Holi"].width, images["Holi"].height) == (5632, 3072)
    assert all(image.content and image.challenge for image in images.values())
    assert matching("kokoro", 1664, 2432) == images["Kokoro"]
    assert matching("kokoro", 64, 48) is None
