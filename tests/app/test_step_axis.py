"""The axis of steps below curves."""

from __future__ import annotations

import pytest

from app.plots.curves import StepAxis


@pytest.mark.parametrize(("last", "width"), [(1, 1200), (6, 1200), (20, 1200), (100, 900), (6, 200)])
def test_only_whole_steps_are_numbered(qapp, last, width):
    places = [place for _spacing, ticks in StepAxis("bottom").tickValues(0, last, width) for place in ticks]
    assert places
    assert all(float(place).is_integer() for place in places)
