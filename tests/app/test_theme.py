"""The look: text reads on every surface, in dark and in light."""

from __future__ import annotations

import pytest
from PySide6.QtGui import QColor

from app import theme
from banana100_core.catalog.failure_modes import Level

READS = 4.5  # WCAG 2, AA, for text
SHOWS = 3.0  # for marks and edges


def luminance(name: str) -> float:
    channels = QColor(name).getRgbF()[:3]
    linear = [each / 12.92 if each <= 0.04045 else ((each + 0.055) / 1.055) ** 2.4 for each in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    darker, lighter = sorted((luminance(one), luminance(other)))
    return (lighter + 0.05) / (darker + 0.05)


@pytest.mark.parametrize("shown", [theme.DARK, theme.LIGHT], ids=["dark", "light"])
def test_text_reads_on_every_surface(shown):
    for ink in ("text", "muted", "warning", "error", "link"):
        for surface in ("window", "panel", "field", "hover"):
            found = contrast(getattr(shown, ink), getattr(shown, surface))
            assert found >= READS, f"{ink} on {surface}: {found:.2f}"
    for ink in ("text", "muted"):
        assert contrast(getattr(shown, ink), shown.selected) >= READS


@pytest.mark.parametrize("shown", [theme.DARK, theme.LIGHT], ids=["dark", "light"])
def test_the_accent_shows_on_surfaces_and_carries_white_text(shown):
    for surface in ("window", "panel", "field"):
        assert contrast(shown.accent, getattr(shown, surface)) >= SHOWS
    assert contrast(shown.on_accent, shown.accent) >= READS


@pytest.mark.parametrize("shown", [theme.DARK, theme.LIGHT], ids=["dark", "light"])
def test_surfaces_have_no_hue(shown):
    for surface in (shown.window, shown.panel, shown.field, shown.hover, shown.selected, shown.line):
        assert QColor(surface).saturation() == 0
    assert QColor(theme.CANVAS_GREY).getRgb()[:3] == (128, 128, 128)


@pytest.mark.parametrize("level", list(Level))
def test_a_letter_reads_on_the_colour_of_its_level(level):
    colour = theme.level_colour(level)
    assert contrast(theme.ink_on(colour).name(), colour.name()) >= READS
