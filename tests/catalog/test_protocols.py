"""The catalog's protocols and editor models."""

from __future__ import annotations

import pytest

from banana100_core.catalog.models import editor_models
from banana100_core.catalog.protocols import Protocol, protocol, protocols
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
