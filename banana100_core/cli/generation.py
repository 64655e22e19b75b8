"""Commands that make runs: generate, resume."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from banana100_core.catalog.faults import Fault
from banana100_core.catalog.models import editor_models
from banana100_core.catalog.protocols import protocols
from banana100_core.catalog.settings import SeedMode, SessionMode
from banana100_core.cli.console import AsJson, complain, count, note, plain, say, say_json
from banana100_core.cli.display import WorkDisplay, wait_for
from banana100_core.cli.exits import Exit
from banana100_core.cli.options import ProjectFile, Runs
from banana100_core.cli.planning import in_usd, need_sizes, note_unheeded, note_unlike_repeats, say_plan
from banana100_core.errors import ImageError, ProviderError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from banana100_core.catalog.protocols import Protocol
    from banana100_core.generation.editor import Capabilities
    from banana100_core.generation.executor import GenerationProgress
    from banana100_core.generation.limits import Limits
    from banana100_core.project import Project
    from banana100_core.project.images import NewImage

_PROVIDERS = tuple(dict.fromkeys(model.provider for model in editor_models()))

CallRate = Annotated[
    float | None,
    typer.Option(
        min=0.01, metavar="N", help="Calls a minute to a service, all runs together.", show_default=False
    ),
]


def generate(
    project: ProjectFile,
    initial: Annotated[
        list[str] | None,
        typer.Option(
            metavar="IMAGE",
            help="An image file, NAME=FILE, or the name of an initial image of the project; can be repeated.",
            show_default=False,
        ),
    ] = None,
    initial_prompt: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=TEXT",
            help="An initial image that the editor is to make from a text first; can be repeated.",
            show_default=False,
        ),
    ] = None,
    protocol: Annotated[
        str,
        typer.Option(
            metavar="PROTOCOL",
            help=f"How runs edit: a TOML file of one's own, or one of {', '.join(protocols())}.",
        ),
    ] = "replicate",
    provider: Annotated[
        str | None,
        typer.Option(
            metavar="PROVIDER",
            help=f"The editor: {', '.join(_PROVIDERS)}, or that of a package.",
            show_default=_PROVIDERS[0],
        ),
    ] = None,
    model: Annotated[
        str | None,
        typer.Option(metavar="MODEL", help="The editor's model; its first if not given.", show_default=False),
    ] = None,
    steps: Annotated[int, typer.Option(min=1, metavar="N", help="Steps of each run.")] = 20,
    repeats: Annotated[int, typer.Option(min=1, metavar="N", help="Runs of each initial image.")] = 1,
    seed: Annotated[
        int, typer.Option(metavar="N", help="Seed of the first repeat; the next has the next.")
    ] = 0,
    seed_mode: Annotated[
        SeedMode | None, typer.Option(help="Which seed each step is given.", show_default="per-step")
    ] = None,
    temperature: Annotated[
        float | None,
        typer.Option(min=0, max=2, metavar="T", help="The editor's own if not given.", show_default=False),
    ] = None,
    resolution: Annotated[
        str | None,
        typer.Option(
            metavar="SIZE", help="512, 1K, 2K, 4K, or interleaved: 1K, 2K and 4K in turn.", show_default=False
        ),
    ] = None,
    aspect_ratio: Annotated[
        str | None,
        typer.Option(metavar="W:H", help="As the image's if not given.", show_default=False),
    ] = None,
    session: Annotated[
        SessionMode | None,
        typer.Option(help="A session for each step, or one for all of a run.", show_default="fresh"),
    ] = None,
    budget: Annotated[
        float | None,
        typer.Option(
            min=0,
            metavar="USD",
            help="Refuse a plan that may cost more; retries count too.",
            show_default=False,
        ),
    ] = None,
    rate: CallRate = None,
    dry_run: Annotated[
        bool,
        typer.Option(
            "--dry-run", help="Show the plan with every prompt and what it takes, and change nothing."
        ),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Make runs.

    Each step is stored before the next is asked for. Given the same options again it makes further
    repeats; `resume` goes on with runs that were interrupted.
    """
    from banana100_core.catalog.settings import settings_from
    from banana100_core.generation.forecast import forecast
    from banana100_core.generation.limits import Limits
    from banana100_core.generation.plan import add_plan, make_plan
    from banana100_core.project import Project
    from banana100_core.project.images import add_initial_image, initial_images
    from banana100_core.project.runs import runs

    editor = _editor(provider, model)
    edits = _protocol(protocol)
    asked = {
        "seed": seed_mode,
        "temperature": temperature,
        "resolution": resolution,
        "aspect_ratio": aspect_ratio,
        "session": session,
    }
    given = {name: value for name, value in asked.items() if value is not None}
    settings = settings_from(edits.settings.changed() | given, "the options")
    if not initial and not initial_prompt:
        raise ProviderError(
            "A plan needs at least one initial image. Name one with --initial, or have one made with "
            "--initial-prompt."
        )
    need_sizes(editor, settings, steps)
    with Project.open(project, read_only=dry_run) as opened:
        names, images = _initial_images(opened, initial or ())
        plan = make_plan(
            names,
            edits,
            editor.provider,
            editor.model,
            steps,
            repeats,
            seed,
            existing=runs(opened),
            settings=settings,
            from_text=_from_text(initial_prompt or ()),
        )
        if budget is not None and plan.cost_usd[1] > budget:
            raise ProviderError(
                f"The plan may cost {in_usd(plan.cost_usd)} and the budget is ${budget:.2f}. "
                "Ask for fewer steps or repeats, or raise --budget."
            )
        if not dry_run:
            _need_key(editor)
        note_unheeded(editor, given)
        note_unlike_repeats(plan, runs(opened))
        known = {each.name: each.image for each in initial_images(opened)}
        known |= {name: each.image for name, each in images.items()}
        takes = forecast(opened, plan, known, calls_per_minute=rate)
        if dry_run:
            say_plan(plan, takes, editor, as_json=as_json)
            return
        if not as_json:
            say_plan(plan, takes, editor, as_json=False)
        for name, image in images.items():
            add_initial_image(opened, name, image)
        limits = Limits(budget_usd=budget, calls_per_minute=rate)
        _execute(opened, add_plan(opened, plan), limits, as_json=as_json)


def resume(
    project: ProjectFile,
    run: Runs = None,
    model: Annotated[
        str | None,
        typer.Option(
            metavar="MODEL",
            help="Go on with this model of the editor, when the runs' own was retired.",
            show_default=False,
        ),
    ] = None,
    budget: Annotated[
        float | None,
        typer.Option(min=0, metavar="USD", help="Stop before more than this is spent.", show_default=False),
    ] = None,
    rate: CallRate = None,
    as_json: AsJson = False,
) -> None:
    """Go on with every run that has steps left.

    Runs that stopped or were cancelled wait for a decision: they go on when they are named with --run.
    """
    from banana100_core.generation.limits import Limits
    from banana100_core.generation.providers import capabilities
    from banana100_core.project import Project
    from banana100_core.project.records import RunState
    from banana100_core.project.runs import runs, set_run_model

    if model is not None and not run:
        raise ProviderError("--model needs --run: name the runs that are to go on with another model.")
    with Project.open(project) as opened:
        known = runs(opened)
        planned = [each.id for each in known if each.state is RunState.PLANNED]
        if model is not None:
            for each in known:
                if each.id in (run or ()):
                    capabilities(each.provider, model)
                    set_run_model(opened, each.id, model)
        _execute(opened, run or planned, Limits(budget_usd=budget, calls_per_minute=rate), as_json=as_json)
        waiting = [each for each in known if each.state in {RunState.STOPPED, RunState.CANCELLED}]
    for each in () if run else waiting:
        note(f"run {each.id} is {each.state}: {plain(each.state_reason)} To go on with it: --run {each.id}")


def fake_gemini(
    port: Annotated[int, typer.Option(min=0, max=65535, metavar="PORT", help="0: any free one.")] = 0,
    faults: Annotated[
        str,
        typer.Option(metavar="LIST", help=f"Faults by name, with commas, or all: {', '.join(Fault)}."),
    ] = "",
) -> None:
    """Answer as Gemini would, with no key, cost or image model.

    A stand-in to try runs with. It works until it is interrupted.
    """
    from banana100_core.catalog.faults import LASTING
    from banana100_core.generation.fake_gemini import FakeGemini

    names = [name.strip() for name in faults.split(",") if name.strip()]
    if names == ["all"]:
        names = [fault for fault in Fault if fault not in LASTING]
    if strange := [name for name in names if name not in list(Fault)]:
        raise ProviderError(f"There is no fault {strange[0]!r}. There are: {', '.join(Fault)}.")
    try:
        server = FakeGemini(port, [Fault(name) for name in names])
    except OSError as error:
        raise ProviderError(
            f"It can't answer at port {port}: {error.strerror or error}. Choose another, or 0 for a free one."
        ) from None
    say(f"A stand-in for Gemini, no image model, answers at {server.url}")
    say(f"To use it: GOOGLE_GEMINI_BASE_URL={server.url} GEMINI_API_KEY=any banana100 generate ...")
    try:
        threading.Event().wait()
    finally:
        server.close()


def _editor(provider: str | None, model: str | None) -> Capabilities:
    from banana100_core.generation.providers import SHIPPED, capabilities, first_model

    provider = provider or SHIPPED[0]
    return capabilities(provider, model or first_model(provider))


def _need_key(editor: Capabilities) -> None:
    """Raise ProviderError when there is no key: a plan that can't begin is better not kept."""
    from banana100_core.generation.keys import api_key, key_place
    from banana100_core.generation.providers import SHIPPED

    if editor.needs_key and editor.provider in SHIPPED and not key_place(editor.provider):
        api_key(editor.provider)  # says where one can be put


def _protocol(asked: str) -> Protocol:
    from banana100_core.catalog.protocols import load_protocol, protocol

    return load_protocol(Path(asked)) if asked.lower().endswith(".toml") else protocol(asked)


def _from_text(asked: Sequence[str]) -> dict[str, str]:
    """Prompts of the initial images that are to be made, by name."""
    prompts: dict[str, str] = {}
    for wish in asked:
        name, _, prompt = (part.strip() for part in wish.partition("="))
        if not name or not prompt:
            raise ProviderError(f"{wish!r} is not of the form NAME=TEXT, as in Fog='A misty forest'.")
        if name in prompts:
            raise ProviderError(f"Two initial images are to be named {name!r}. Name one otherwise.")
        prompts[name] = prompt
    return prompts


def _initial_images(project: Project, asked: Sequence[str]) -> tuple[list[str], dict[str, NewImage]]:
    """Names of the initial images asked for, and those of them that are files not yet in the project."""
    from banana100_core.imaging.decode import Purpose, decode, inspect
    from banana100_core.project.images import NewImage, initial_images

    known = {image.name: image.image.sha256 for image in initial_images(project)}
    names: list[str] = []
    new: dict[str, NewImage] = {}
    for wish in asked:
        if wish in known:
            names.append(wish)
            continue
        file, name = Path(wish), Path(wish).stem
        if not file.is_file() and "=" in wish:
            name, _, place = wish.partition("=")
            file = Path(place)
        if not file.is_file():
            there = f" It has: {', '.join(map(repr, known))}." if known else ""
            raise ImageError(f"{wish!r} is neither an image file nor an initial image of the project.{there}")
        data = file.read_bytes()
        decode(data, Purpose.SCORING, name=wish)  # a file cut short is told now, not after the first step
        image = inspect(data, name=wish)
        if known.get(name, image.sha256) != image.sha256:
            raise ImageError(
                f"{wish!r}: the project has another initial image named {name!r}. Choose another: NAME=FILE."
            )
        names.append(name)
        if name not in known:
            known[name] = image.sha256
            new[name] = NewImage(image, data=data)
    return names, new


def _execute(project: Project, run_ids: Sequence[int], limits: Limits, *, as_json: bool) -> None:
    from banana100_core.generation.executor import Executor
    from banana100_core.project.records import RunState
    from banana100_core.project.runs import run as find_run

    with WorkDisplay("generating") as display:
        executor = Executor(project, limits=limits)

        def show(progress: GenerationProgress) -> None:
            display(
                progress.steps_done,
                progress.steps_planned,
                progress.message,
                seconds_left=progress.seconds_left,
            )

        unsubscribe = executor.subscribe(show)
        try:
            executor.start(run_ids)
            wait_for(executor)
        finally:
            unsubscribe()
            executor.close()

    made = [find_run(project, run_id) for run_id in run_ids]
    unfinished = [run for run in made if run.state is not RunState.DONE]
    if as_json:
        say_json(
            [
                {
                    "run_id": run.id,
                    "initial_image": run.initial_image,
                    "repeat": run.repeat,
                    "state": run.state,
                    "reason": run.state_reason,
                    "steps_done": run.steps_done,
                    "steps_failed": run.steps_failed,
                    "steps_planned": run.steps_planned,
                }
                for run in made
            ]
        )
    else:
        steps = sum(run.steps_done for run in made)
        say(f"{count(len(made) - len(unfinished), 'run')} done, {count(steps, 'step')}")
    for run in unfinished:
        reason = run.state_reason or "it has steps left"
        complain(f"run {run.id} ({run.initial_image}, repeat {run.repeat}) is {run.state}: {reason}")
    if unfinished:
        raise typer.Exit(Exit.SOME_FAILED)
