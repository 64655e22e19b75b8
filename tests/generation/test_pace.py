"""The time that is left, where editors differ in what a pixel costs them."""

from __future__ import annotations

import pytest

from banana100_core.generation.pace import Pace


def test_nothing_is_said_before_a_step():
    assert Pace().seconds_for([("restoration_loop", 10, 1000)]) is None


def test_an_editor_that_was_seen_is_judged_by_its_pixels():
    pace = Pace()
    pace.saw("restoration_loop", 1000, 2.0)
    pace.saw("restoration_loop", 3000, 6.0)
    assert pace.seconds_for([("restoration_loop", 5, 500)]) == pytest.approx(5.0)


def test_an_editor_that_was_not_seen_is_judged_by_its_steps():
    pace = Pace()
    pace.saw("restoration_loop", 1000, 2.0)
    assert pace.seconds_for([("codec_loss", 3, 1_000_000)]) == pytest.approx(6.0)
