"""Plans: all is known before anything is made."""

from __future__ import annotations

import pytest

from banana100_core.catalog.protocols import Protocol
from banana100_core.catalog.settings import RunSettings, SeedMode
from banana100_core.errors import ProjectError, ProviderError
from banana100_core.generation.plan import Plan, PlannedRun, add_plan, make_plan, step_seed, unlike_repeats
from banana100_core.project.records import Outcome, RunState
from banana100_core.project.runs import run, runs, steps

EDITOR = ("codec_loss", "jpeg-webp")
PROMPT = "Produce an exact replica of the provided image, with no alterations."


def test_a_plan_has_every_prompt_and_seed_before_anything_is_made() -> None:
    plan = make_plan(["one", "two"], "replicate", *EDITOR, steps=3, repeats=2, seed=40)
    assert [(run.initial_image, run.repeat, run.seed) for run in plan.runs] == [
        ("one", 1, 40),
        ("two", 1, 40),
        ("one", 2, 41),
        ("two", 2, 41),
    ]
    assert plan.calls == 12
    assert plan.cost_usd == (0.0, 0.0)
    assert [plan.runs[0].step(number).prompt for number in (1, 2, 3)] == [PROMPT] * 3
    seeds = {plan.runs[0].step(number).seed for number in (1, 2, 3)}
    assert len(seeds) == 3
    assert all(0 <= seed < 2**31 for seed in seeds)


def test_the_cost_range_is_known_before(trouble) -> None:
    plan = make_plan(["one"], "replicate", "trouble", "here", steps=10, repeats=2, seed=1)
    assert plan.cost_usd == pytest.approx((4.0, 6.0))
    assert Plan(()).cost_usd == (0, 0)


def test_step_seeds_depend_on_run_seed_and_number_only() -> None:
    assert step_seed(5, 1) == step_seed(5, 1)
    assert len({step_seed(seed, number) for seed in (5, 6) for number in (1, 2, 3)}) == 6
    assert step_seed(None, 1) is None


def test_prompts_come_in_turn() -> None:
    planned = PlannedRun("one", *EDITOR, "mirror", 1, None, ("there", "back"), steps=3)
    assert [planned.step(number).prompt for number in (1, 2, 3)] == ["there", "back", "there"]


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"protocol": "nonsense"}, "replicate"),
        ({"provider": "nonsense"}, "codec_loss"),
        ({"model": "nonsense"}, "jpeg-webp"),
        ({"steps": 0}, "at least one"),
        ({"repeats": 0}, "at least one"),
        ({"initial_images": []}, "at least one"),
    ],
)
def test_what_can_not_be_planned_is_refused_with_a_way_out(changed, words) -> None:
    wanted = {
        "initial_images": ["one"],
        "protocol": "replicate",
        "provider": "codec_loss",
        "model": "jpeg-webp",
        "steps": 2,
        "repeats": 1,
        "seed": 1,
    }
    with pytest.raises(ProviderError, match=words):
        make_plan(**wanted | changed)


def test_planned_runs_are_in_the_project_with_their_initial_image(project, plan_runs) -> None:
    run_ids = plan_runs(project, images=["one", "two"], editor=EDITOR, steps=5, repeats=2)
    for run_id in run_ids:
        stored = run(project, run_id)
        assert (stored.state, stored.steps_planned, stored.steps_done) == (RunState.PLANNED, 5, 0)
        assert stored.settings == {"prompts": [PROMPT]}
        [initial] = steps(project, run_id)
        assert (initial.number, initial.outcome) == (0, Outcome.INITIAL)
        assert initial.image.sha256 == stored.initial_sha256
        planned = PlannedRun.of(stored)
        assert (planned.step(2).seed, planned.step(2).prompt) == (step_seed(stored.seed, 2), PROMPT)


def test_a_plan_without_its_initial_image_adds_nothing(project, plan_runs) -> None:
    plan_runs(project, images=["one"])
    with pytest.raises(ProjectError, match="no initial image named 'three'"):
        add_plan(project, make_plan(["one", "three"], "replicate", *EDITOR, 2, 1, seed=1))
    assert len(runs(project)) == 1


def test_repeats_go_on_after_those_that_there_are(project, plan_runs) -> None:
    plan_runs(project, images=["one"], editor=EDITOR, repeats=2)
    more = make_plan(["one", "two"], "replicate", *EDITOR, 4, 1, seed=11, existing=runs(project))
    assert [(run.initial_image, run.repeat, run.seed) for run in more.runs] == [
        ("one", 3, 13),
        ("two", 1, 11),
    ]


def test_repeats_that_are_edited_in_another_way_are_found(project, plan_runs) -> None:
    [first, second] = plan_runs(project, images=["one", "two"], editor=EDITOR)
    existing = runs(project)
    cooler = RunSettings(temperature=0.4)
    alike = make_plan(["one", "two"], "replicate", *EDITOR, 9, 2, seed=3, existing=existing)
    assert unlike_repeats(alike, existing) == []
    unlike = make_plan(["two"], "replicate", *EDITOR, 4, 1, seed=11, existing=existing, settings=cooler)
    assert [each.id for each in unlike_repeats(unlike, existing)] == [second]
    other_words = Protocol("replicate", "Replicate", ("Copy it.",), RunSettings())
    planned = make_plan(["one"], other_words, *EDITOR, 4, 1, seed=11, existing=existing)
    assert [each.id for each in unlike_repeats(planned, existing)] == [first]
    apart = Protocol("own", "Own", ("Copy it.",), cooler)
    assert unlike_repeats(make_plan(["one"], apart, *EDITOR, 4, 1, seed=11), existing) == []


def test_settings_of_each_step_follow_from_the_runs_and_are_kept_with_it(project, plan_runs) -> None:
    plan_runs(project, images=["one"], editor=EDITOR)
    fixed = RunSettings(SeedMode.FIXED, temperature=0.4, resolution="interleaved", aspect_ratio="4:3")
    own = Protocol("own", "Own", ("there", "back"), RunSettings(SeedMode.NONE))
    plans = [
        make_plan(["one"], own, *EDITOR, 4, 1, seed=5),
        make_plan(["one"], own, *EDITOR, 4, 1, seed=5, settings=fixed),
    ]
    [unseeded], [seeded] = [add_plan(project, plan) for plan in plans]
    assert PlannedRun.of(run(project, unseeded)).step(1).seed is None
    kept = PlannedRun.of(run(project, seeded))
    assert kept.settings == fixed
    assert [kept.step(number).seed for number in (1, 2)] == [5, 5]
    assert [kept.step(number).settings.resolution for number in (1, 2, 3, 4)] == ["1K", "2K", "4K", "1K"]
    assert (kept.step(4).prompt, kept.step(4).settings.temperature) == ("back", 0.4)
