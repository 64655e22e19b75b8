"""The pictures of the window: each is of actions that there are, and the page shows them all."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest

from app.actions import ACTIONS

TOOL = Path(__file__).parents[2] / "packaging" / "screenshots.py"


@pytest.fixture(scope="module")
def screenshots():
    spec = importlib.util.spec_from_file_location("screenshots", TOOL)
    module = sys.modules["screenshots"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    yield module
    del sys.modules["screenshots"]


def test_every_picture_is_of_actions_that_there_are(screenshots):
    keys = {action.key for action in ACTIONS}
    for shot in screenshots.SHOTS:
        assert {shot.action, *shot.actions} <= keys


def test_the_page_shows_every_picture_in_dark_and_light_with_its_key(screenshots, tmp_path):
    page = screenshots.write_page(tmp_path / "tour")
    text = page.read_text("utf-8")
    assert page.name == "tour.md"
    for shot in screenshots.SHOTS:
        assert f'src="tour/{shot.name}-dark.webp"' in text
        assert f'srcset="tour/{shot.name}-light.webp"' in text
    assert "## Wipe (F3)" in text
