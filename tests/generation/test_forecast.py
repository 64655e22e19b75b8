"""What plans are expected to take, by the catalog and by what was measured."""

from __future__ import annotations

import pytest

from banana100_core.catalog.settings import RunSettings
from banana100_core.generation.forecast import Basis, forecast, here_side_by_side
from banana100_core.generation.plan import make_plan
from banana100_core.imaging.decode import inspect
from banana100_core.project.images import NewImage
from banana100_core.project.records import Image, NewRun, NewStep, Outcome
from banana100_core.project.runs import add_run, add_step

PRO = ("gemini", "gemini-3-pro-image")
LOOP = ("restoration_loop", "realesr-animevideov3-x2")
IMAGES = {"one": Image("0" * 64, 4000, 3000, "image/png", 1)}


def plan_of(editor, steps=10, repeats=1, **settings):
    return make_plan(["one"], "replicate", *editor, steps, repeats, 1, settings=RunSettings(**settings))


def test_a_service_takes_as_long_as_its_images_whatever_the_first_ones_size() -> None:
    takes = forecast(None, plan_of(PRO), IMAGES)
    assert takes.seconds == (10 * 20, 10 * 120)
    assert takes.disk_bytes == pytest.approx((10 * 1.05e6 * 0.3, 10 * 1.05e6 * 2))
    assert (takes.time_basis, takes.disk_basis) == (Basis.TYPICAL, Basis.TYPICAL)
    assert (takes.calls, takes.cost_usd) == (10, plan_of(PRO).cost_usd)
    assert forecast(None, plan_of(PRO, resolution="4K"), IMAGES).disk_bytes[0] == pytest.approx(
        10 * 17e6 * 0.3
    )
    interleaved = forecast(None, plan_of(PRO, steps=3, resolution="interleaved"), IMAGES).disk_bytes[1]
    assert interleaved == pytest.approx((1.05e6 + 4.2e6 + 17e6) * 2)


def test_runs_go_side_by_side_but_no_faster_than_their_steps_or_the_rate() -> None:
    plan = plan_of(PRO, repeats=10)
    assert forecast(None, plan, IMAGES).seconds == (2 * 200, 2 * 1200)
    assert forecast(None, plan, IMAGES, at_services=100).seconds == (200, 1200)
    assert forecast(None, plan, IMAGES, calls_per_minute=2).seconds == (3000, 3000)


def test_this_machine_takes_as_long_as_the_picture_is_large() -> None:
    takes = forecast(None, plan_of(LOOP, repeats=4), IMAGES)
    lanes = min(4, here_side_by_side())
    assert takes.seconds == pytest.approx((40 * 12 * 0.5 / lanes, 40 * 12 * 8.0 / lanes))


def test_an_editor_that_fills_the_machine_works_alone_and_makes_a_megapixel() -> None:
    takes = forecast(None, plan_of(("diffusers", "FLUX.2-klein-4B"), repeats=20), IMAGES)
    assert takes.seconds == (200 * 2, 200 * 60)
    assert takes.disk_bytes[0] == pytest.approx(200 * 1.05e6)


def test_an_editor_that_says_nothing_of_itself_leaves_time_open(trouble) -> None:
    takes = forecast(None, plan_of(("trouble", "here")), IMAGES)
    assert takes.seconds is None
    assert (takes.time_basis, takes.disk_basis) == (Basis.UNKNOWN, Basis.UNKNOWN)
    assert takes.disk_bytes[0] < takes.disk_bytes[1]


def test_what_was_measured_in_the_project_counts_more(project, make_png) -> None:
    data = make_png(100, 100)
    image = NewImage(inspect(data), data=data)
    run_id = add_run(project, NewRun("one", *PRO, "replicate"))
    for number in range(1, 21):
        asked = {"resolution": "4K"} if number > 10 else {}
        step = NewStep(run_id, number, Outcome.DONE, settings=asked, seconds=float(number))
        add_step(project, step, image)
    takes = forecast(project, plan_of(PRO), IMAGES)
    # The middle four fifths of those that asked for the same resolution.
    assert takes.seconds == (10 * 2, 10 * 9)
    assert forecast(project, plan_of(PRO, resolution="4K"), IMAGES).seconds == (10 * 12, 10 * 19)
    assert (takes.time_basis, takes.measured_steps) == (Basis.MEASURED, 20)
    assert takes.disk_bytes[0] == takes.disk_bytes[1] == pytest.approx(10 * 1.05e6 * len(data) / 1e4)
    assert forecast(project, plan_of(LOOP), IMAGES).time_basis is Basis.TYPICAL
