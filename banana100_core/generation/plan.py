"""Plans: every run, step, prompt and seed, known before anything is made or paid."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from hashlib import blake2b
from typing import TYPE_CHECKING

from banana100_core.catalog.protocols import Protocol
from banana100_core.catalog.protocols import protocol as find_protocol
from banana100_core.catalog.settings import RunSettings, SeedMode, SessionMode, settings_from
from banana100_core.errors import ProjectError, ProviderError
from banana100_core.generation.editor import EditSettings
from banana100_core.generation.providers import capabilities
from banana100_core.project.images import NewImage, image_bytes, image_location, initial_images
from banana100_core.project.records import NewRun, NewStep, Outcome
from banana100_core.project.runs import add_run, add_step, made_from_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from banana100_core.generation.editor import Capabilities
    from banana100_core.project import Project
    from banana100_core.project.records import InitialImage, Run


@dataclass(frozen=True, slots=True)
class PlannedStep:
    """One edit to be asked for; `number` counts from 1."""

    number: int
    prompt: str
    settings: EditSettings

    @property
    def seed(self) -> int | None:
        """The seed that is sent."""
        return self.settings.seed


@dataclass(frozen=True, slots=True)
class PlannedRun:
    """One chain of edits; its prompts are sent in turn and begin again after the last."""

    initial_image: str
    provider: str
    model: str
    protocol: str
    repeat: int
    seed: int | None
    prompts: tuple[str, ...]
    steps: int
    usd_per_image: tuple[float, float] = (0.0, 0.0)
    settings: RunSettings = field(default_factory=RunSettings)
    initial_prompt: str = ""  # from which the editor is to make the initial image, "" when there is one

    def initial_step(self) -> PlannedStep:
        """What is asked for when the initial image is made: step 0, with the settings of the run."""
        settings = replace(self.step(1).settings, seed=step_seed(self.seed, 0))
        if self.settings.seed is SeedMode.NONE:
            settings = replace(settings, seed=None)
        return PlannedStep(0, self.initial_prompt, settings)

    def step(self, number: int) -> PlannedStep:
        """Give a step; it depends on nothing but the run's own fields."""
        prompt = self.prompts[(number - 1) % len(self.prompts)]
        seeds = {
            SeedMode.NONE: None,
            SeedMode.FIXED: self.seed,
            SeedMode.PER_STEP: step_seed(self.seed, number),
        }
        settings = EditSettings(
            seed=seeds[self.settings.seed],
            temperature=self.settings.temperature,
            resolution=self.settings.resolution_of(number),
            aspect_ratio=self.settings.aspect_ratio,
        )
        return PlannedStep(number, prompt, settings)

    @property
    def period(self) -> int:
        """After how many steps the prompts begin again."""
        return len(self.prompts) if len(set(self.prompts)) > 1 else 1

    def first_prompts(self) -> list[tuple[int, str]]:
        """Each prompt that is sent, with the first step it is sent at."""
        return list(enumerate(self.prompts[: min(self.steps, self.period)], 1))

    @classmethod
    def of(cls, run: Run) -> PlannedRun:
        """Give the plan that a stored run was made from."""
        prompts = run.settings.get("prompts") or find_protocol(run.protocol).prompts
        return cls(
            initial_image=run.initial_image,
            provider=run.provider,
            model=run.model,
            protocol=run.protocol,
            repeat=run.repeat,
            seed=run.seed,
            prompts=tuple(prompts),
            steps=run.steps_planned,
            settings=settings_from(run.settings.get("edit", {}), f"the settings of run {run.id}"),
            initial_prompt=run.settings.get("initial_prompt", ""),
        )


@dataclass(frozen=True, slots=True)
class Plan:
    """Runs to be made, in the order in which they are made."""

    runs: tuple[PlannedRun, ...]

    @property
    def calls(self) -> int:
        """Number of images to be made, without retries: edits, and initial images from prompts."""
        return sum(run.steps for run in self.runs) + len(self._firsts)

    @property
    def _firsts(self) -> list[PlannedRun]:
        """A run for each initial image that is to be made: all of its runs share it."""
        return list({run.initial_image: run for run in self.runs if run.initial_prompt}.values())

    def initial_prompts(self) -> dict[str, str]:
        """Prompts of the initial images that are to be made first, by name."""
        return {run.initial_image: run.initial_prompt for run in self._firsts}

    @property
    def cost_usd(self) -> tuple[float, float]:
        """Lowest and highest cost, without retries."""
        images = [(run.steps, run.usd_per_image) for run in self.runs]
        images += [(1, run.usd_per_image) for run in self._firsts]
        return sum(times * low for times, (low, _) in images), sum(
            times * high for times, (_, high) in images
        )


def make_plan(
    initial_images: Sequence[str],
    protocol: str | Protocol,
    provider: str,
    model: str,
    steps: int,
    repeats: int,
    seed: int | None,
    *,
    existing: Sequence[Run] = (),
    settings: RunSettings | None = None,
    from_text: Mapping[str, str] | None = None,
) -> Plan:
    """Plan runs from initial images (by name), every image's first repeat before any image's second.

    `protocol` is one that ships with the program, by its key, or one of the user's own; `settings` are the
    protocol's own if not given. Repeats go on after those of `existing`, the runs that the project has; each
    has its own seed. `from_text` are prompts, by name, of further initial images that the editor is to make
    first, each once for all of its runs.
    Raises ProviderError when the protocol, provider or model is unknown or there is nothing to do.
    """
    to_make = from_text or {}
    initial_images = [*initial_images, *to_make]
    if not initial_images or steps < 1 or repeats < 1:
        raise ProviderError("A plan needs at least one initial image, one step and one repeat.")
    edits = find_protocol(protocol) if isinstance(protocol, str) else protocol
    settings = edits.settings if settings is None else settings
    editor = capabilities(provider, model)
    if settings.session is SessionMode.SINGLE and not editor.keeps_session:
        raise ProviderError(f"{editor.title or model} keeps no session. Ask for a fresh one at each step.")
    if to_make and not editor.from_text:
        raise ProviderError(
            f"{editor.title or model} makes no picture from a prompt. Choose another editor, or a file."
        )
    usd_per_image = _mean_price(editor, settings, steps)
    made = [(run.initial_image, run.provider, run.model, run.protocol, run.repeat) for run in existing]
    runs = []
    for nth in range(1, repeats + 1):
        for image in dict.fromkeys(initial_images):
            before = [repeat for *key, repeat in made if key == [image, provider, model, edits.key]]
            repeat = max(before, default=0) + nth
            runs.append(
                PlannedRun(
                    initial_image=image,
                    provider=provider,
                    model=model,
                    protocol=edits.key,
                    repeat=repeat,
                    seed=None if seed is None else seed + repeat - 1,
                    prompts=edits.prompts,
                    steps=steps,
                    usd_per_image=usd_per_image,
                    settings=settings,
                    initial_prompt=to_make.get(image, "").strip(),
                )
            )
    return Plan(tuple(runs))


def unlike_repeats(plan: Plan, existing: Iterable[Run]) -> list[Run]:
    """Runs of `existing` that would count as repeats of planned ones though edited in another way.

    Means over repeats mix what belongs to one initial image, model and protocol; a protocol of the user's own
    keeps other prompts or settings apart.
    """
    planned = {(run.initial_image, run.provider, run.model, run.protocol): run for run in plan.runs}
    found = []
    for run in existing:
        alike = planned.get((run.initial_image, run.provider, run.model, run.protocol))
        if alike is not None:
            stored = PlannedRun.of(run)
            if (stored.prompts, stored.settings) != (alike.prompts, alike.settings):
                found.append(run)
    return found


def add_plan(project: Project, plan: Plan) -> list[int]:
    """Add a plan's runs, each with its initial image as step 0, and give their ids; no step is made yet.

    Raises ProjectError, and adds nothing, when the project lacks an initial image.
    """
    known = {initial.name: initial for initial in initial_images(project)}
    to_make = {run.initial_image for run in plan.runs if run.initial_prompt}
    if taken := to_make & known.keys():
        names = ", ".join(repr(name) for name in sorted(taken))
        raise ProjectError(
            f"{project.path} has an initial image named {names}. Give the one to be made another name."
        )
    if missing := {run.initial_image for run in plan.runs} - known.keys() - to_make:
        names = ", ".join(repr(name) for name in sorted(missing))
        raise ProjectError(
            f"{project.path} has no initial image named {names}. Add it first; nothing was planned."
        )
    run_ids = []
    for planned in plan.runs:
        changed = planned.settings.changed()
        run_id = add_run(
            project,
            NewRun(
                initial_image=planned.initial_image,
                provider=planned.provider,
                model=planned.model,
                protocol=planned.protocol,
                repeat=planned.repeat,
                steps_planned=planned.steps,
                seed=planned.seed,
                session_mode=planned.settings.session.value,
                # Kept with the run, which then stays as planned when the catalog's protocol changes.
                settings={"prompts": list(planned.prompts)}
                | ({"edit": changed} if changed else {})
                | ({"initial_prompt": planned.initial_prompt} if planned.initial_prompt else {}),
            ),
        )
        if not planned.initial_prompt:
            add_initial_step(project, run_id, known[planned.initial_image])
        run_ids.append(run_id)
    return run_ids


def add_initial_step(project: Project, run_id: int, initial: InitialImage) -> None:
    """Add an initial image of the project to a run as its step 0."""
    file = image_location(project, initial.image.sha256).file
    data = image_bytes(project, initial.image.sha256) if file is None else None
    made = made_from_text(project, initial.image.sha256)
    step = NewStep(run_id, 0, Outcome.INITIAL)
    if made is not None:  # its cost stays with the run that it was made in
        step = replace(
            step,
            prompt=made.prompt,
            reasoning=made.reasoning,
            settings=made.settings,
            declared_media_type=made.declared_media_type,
            model_version=made.model_version,
            finish_reason=made.finish_reason,
        )
    add_step(project, step, NewImage(initial.image, data=data, file=file))


def _mean_price(editor: Capabilities, settings: RunSettings, steps: int) -> tuple[float, float]:
    prices = [editor.usd(settings.resolution_of(number)) for number in range(1, steps + 1)]
    return sum(low for low, _ in prices) / steps, sum(high for _, high in prices) / steps


def step_seed(run_seed: int | None, number: int) -> int | None:
    """Give a step's seed, of 31 bits as services want it; it depends on the two numbers alone."""
    if run_seed is None:
        return None
    digest = blake2b(f"{run_seed}/{number}".encode(), digest_size=4).digest()
    return int.from_bytes(digest) >> 1
