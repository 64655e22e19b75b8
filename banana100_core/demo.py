"""The demo study: photographs that come with scikit-image, edited by the two embedded editors."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from importlib.util import find_spec
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from PIL import Image

from banana100_core.catalog.models import editor_models
from banana100_core.errors import ImageError, OlderProjectError, ProjectError, ProviderError
from banana100_core.generation.executor import Executor
from banana100_core.generation.plan import Plan, PlannedRun, add_plan, make_plan
from banana100_core.imaging.decode import Purpose, decode, inspect
from banana100_core.project import Project
from banana100_core.project.images import NewImage, add_initial_image
from banana100_core.project.records import RunState
from banana100_core.project.runs import runs
from banana100_core.scoring.pool import ScoringPool

if TYPE_CHECKING:
    from collections.abc import Callable

    from banana100_core.progress import Progress
    from banana100_core.project.records import Run

METRICS = ("piqe", "brisque", "niqe")  # those that need no download
STEPS = 20
REPEATS = 2
SEED = 100

_TURN_SECONDS = 0.2

_PHOTOGRAPHS = {
    "Coffee": ("coffee.png", "Rachel Michetti, courtesy of Pikolo Espresso Bar (CC0)"),
    "Astronaut": ("astronaut.png", "Eileen Collins, NASA (public domain)"),
    "Chelsea": ("chelsea.png", "Stéfan van der Walt (CC0)"),
    "Rocket": ("rocket.jpg", "SpaceX (public domain)"),
}
_LARGE = "Deep field"
_LARGE_FILE = "hubble_deep_field.jpg"
_LARGE_CREDIT = "Hubble eXtreme Deep Field, NASA and ESA (public domain), mirrored and tiled"
_LARGE_SIZE = 3500, 2310  # 8 megapixels and more, also when cropped to multiples of 16


@dataclass(frozen=True, slots=True)
class DemoImage:
    """An initial image of the demo study, and whom to thank for it."""

    name: str
    data: bytes
    credit: str


def demo_images() -> list[DemoImage]:
    """The initial images, the last one large; ImageError when scikit-image's are not in their place."""
    return [
        *(DemoImage(name, _photograph(file), credit) for name, (file, credit) in _PHOTOGRAPHS.items()),
        DemoImage(_LARGE, _tiled(_photograph(_LARGE_FILE)), _LARGE_CREDIT),
    ]


def create_demo(path: Path) -> Project:
    """Make the demo project with its runs planned, or open one that is there; nothing is generated yet.

    A project of another study is opened and left as it is. Raises what `Project.create` and `open` raise.
    """
    project = Project.open(path) if path.exists() else Project.create(path)
    try:
        _fill(project)
    except BaseException:
        project.close()
        raise
    return project


def need_demo(path: Path) -> None:
    """Raise ProjectError when `path` is a project of another study: going on with its runs may cost money."""
    if not path.exists():
        return
    with suppress(OlderProjectError), Project.open(path, read_only=True) as project:
        if runs(project) and not _own_runs(project):
            raise ProjectError(
                f"{path} is a study of your own, not the demo study. Open it with `banana100 open`, or name "
                "a file that is not there yet."
            )


def build_demo(path: Path, progress: Progress | None = None, stop: Callable[[], bool] | None = None) -> None:
    """Make and score all that `create_demo` planned; goes on where it was ended before.

    Runs that were added to the study are left as they are. Returns early when `stop` says so. Raises
    ProviderError with the reasons when a run can't be finished, ProjectError for another study.
    """
    need_demo(path)
    with create_demo(path) as project:
        executor, pool = Executor(project), ScoringPool(project, metrics=METRICS)
        furthest = 0
        try:
            pool.start()
            pool.request_missing()
            executor.start(planned_runs(project))
            for work in (executor, pool):
                # In short turns, so that progress is told and a wish to stop is heard.
                while not work.wait(timeout=_TURN_SECONDS):
                    if stop is not None and stop():
                        return
                    if progress is not None:
                        done, total, what = _how_far(project, executor, pool)
                        # A step and the scores that it still needs are not counted in the same moment.
                        furthest = max(furthest, done)
                        progress(furthest, total, what)
        finally:
            executor.close()
            pool.close()
        if reasons := [run.state_reason for run in _own_runs(project) if run.state_reason]:
            raise ProviderError(f"The demo study is not complete. {' '.join(reasons)}")


def planned_runs(project: Project) -> list[int]:
    """The demo study's own runs that have steps left; what else is planned may cost money."""
    return [run.id for run in _own_runs(project) if run.state is RunState.PLANNED]


def _how_far(project: Project, executor: Executor, pool: ScoringPool) -> tuple[int, int, str]:
    """Steps and scores that are done and planned; each image to come will be scored."""
    planned = runs(project)
    made, scored = executor.progress(), pool.progress()
    steps_left = made.steps_planned - made.steps_done
    scores_left = scored.total - scored.done + steps_left * len(METRICS)
    images = sum(run.steps_planned for run in planned) + len({run.initial_image for run in planned})
    total = images + images * len(METRICS)
    return total - steps_left - scores_left, total, made.message if made.running else "scoring"


def _own_runs(project: Project) -> list[Run]:
    """The runs of the project that are the demo study's."""
    wanted = {_key(run) for run in _plan()}
    return [run for run in runs(project) if _key(run) in wanted]


def _key(run: Run | PlannedRun) -> tuple[str, str, int]:
    return run.initial_image, run.provider, run.repeat


def _fill(project: Project) -> None:
    """Add the initial images and those runs that are missing, unless the project is of another study."""
    wanted = {_key(run): run for run in _plan()}
    present = {_key(run) for run in runs(project)}
    if present - wanted.keys():
        return
    missing = tuple(run for key, run in wanted.items() if key not in present)
    if missing:
        for image in demo_images():
            described = inspect(image.data, name=image.name)
            add_initial_image(project, image.name, NewImage(described, data=image.data), image.credit)
        add_plan(project, Plan(missing))


def _plan() -> list[PlannedRun]:
    """All first repeats before any second; the large picture last, since the others show more, and sooner."""
    restoration_loop, codec_loss = editor_models()[:2]
    runs = [
        run
        for images, model in (([*_PHOTOGRAPHS], restoration_loop), ([_LARGE], codec_loss))
        for run in make_plan(images, "replicate", model.provider, model.key, STEPS, REPEATS, SEED).runs
    ]
    return sorted(runs, key=lambda run: run.repeat)


def _photograph(file: str) -> bytes:
    # Found without an import, which would take half a second.
    found = find_spec("skimage")
    for folder in (found.submodule_search_locations or []) if found else []:
        path = Path(folder) / "data" / file
        if path.is_file():
            return path.read_bytes()
    raise ImageError(
        f"The photograph {file} of scikit-image is missing from this installation. Install the program again"
    )


def _tiled(data: bytes) -> bytes:
    """Give a large JPEG of a picture and its mirror images side by side, which meet without seams."""
    tile = decode(data, Purpose.DISPLAY).pixels
    row = np.concatenate([tile, tile[:, ::-1]], axis=1)
    block = np.concatenate([row, row[::-1]], axis=0)
    width, height = _LARGE_SIZE
    across, down = -(-width // block.shape[1]), -(-height // block.shape[0])
    out = BytesIO()
    large = Image.fromarray(np.tile(block, (down, across, 1))[:height, :width])
    large.save(out, "JPEG", quality=95, subsampling=0)
    return out.getvalue()
