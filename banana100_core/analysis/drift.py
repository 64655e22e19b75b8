"""Drift: how far each step has gone from step 1, by full-reference and statistical measures.

It is no part of the no-reference benchmark: the paper leaves full-reference metrics out of that. Pictures of
another size are brought to that of step 1, and those that a prompt asked to turn are turned back first.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from PIL import Image as Pillow

from banana100_core.analysis.measures import Turn, best_turn, noise_of, small_of, turned_back
from banana100_core.analysis.suggestions import TURN_MARGIN, asks_to_turn
from banana100_core.errors import ImageError
from banana100_core.imaging.colour_spaces import delta_e_2000, to_lab
from banana100_core.imaging.decode import Purpose, decode
from banana100_core.imaging.similarity import detail_of, psnr, ssim
from banana100_core.project.images import image_bytes
from banana100_core.project.runs import run as find_run
from banana100_core.project.runs import runs, steps

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from banana100_core.progress import Progress
    from banana100_core.project import Project
    from banana100_core.project.records import Run, Step

_COLOUR_SIDE = 512  # pixels; mean colours and their differences need no more
_SSIM_DEVIATION, _SSIM_REACH = 1.5, 3.5
_DETAIL_DEVIATION = 2.0
_WHITE = 255


@dataclass(frozen=True, slots=True)
class Drift:
    """A step against step 1 of its run.

    PSNR (dB, all channels) is None where the pictures are the same; SSIM (of the luma, Gaussian window of
    1.5) is None for tiny pictures. Delta E is CIEDE2000. Detail is the standard deviation of the lightness
    less its blur, relative to step 1: 1 is as much fine detail, noise included. Noise is in grey levels
    (Immerkær). `resized_from` is the size of a picture that was brought to that of step 1.
    """

    run_id: int
    initial_image: str
    model: str
    protocol: str
    repeat: int
    step: int
    width: int
    height: int
    byte_size: int
    resized_from: str
    turned: str
    psnr: float | None
    ssim: float | None
    delta_e_mean: float
    delta_e_95: float
    lightness: float
    a_star: float
    b_star: float
    chroma: float
    detail: float | None
    noise: float


@dataclass(frozen=True, slots=True)
class DriftReport:
    """The drift of runs; `unreadable` says which steps could not be measured, and why."""

    steps: tuple[Drift, ...]
    unreadable: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Reference:
    pixels: NDArray[np.uint8]
    luma: NDArray[np.uint8]
    lab: NDArray[np.float32]
    small: NDArray[np.float32]
    detail: float


def drift(
    project: Project,
    run_ids: Sequence[int] | None = None,
    *,
    progress: Progress | None = None,
    stop: Callable[[], bool] | None = None,
) -> DriftReport:
    """The drift of all steps of runs, in order. `stop` is asked between pictures."""
    chosen = runs(project) if run_ids is None else [find_run(project, run_id) for run_id in run_ids]
    wanted = [(run, [step for step in steps(project, run.id) if step.number >= 1]) for run in chosen]
    total, done = sum(len(of_run) for _run, of_run in wanted), 0
    found: list[Drift] = []
    unreadable: list[str] = []
    for run, of_run in wanted:
        reference: _Reference | None = None
        for step in of_run:
            if stop is not None and stop():
                return DriftReport(tuple(found), tuple(unreadable))
            if progress is not None:
                progress(done, total, f"step {step.number} of run {run.id}")
            done += 1
            if step.image is None:
                continue
            try:
                pixels = _pixels(project, step)
            except ImageError as error:
                unreadable.append(f"step {step.number} of run {run.id}: {error}")
                continue
            if reference is None:
                if step.number != 1:
                    unreadable.append(f"run {run.id}: step 1, which all are compared with, has no picture")
                    break
                reference = _reference(pixels)
            found.append(_measured(run, step, pixels, reference, turning=_turns(of_run)))
    if progress is not None:
        progress(total, total, "")
    return DriftReport(tuple(found), tuple(unreadable))


def _turns(of_run: list[Step]) -> bool:
    return any(asks_to_turn(step.prompt) for step in of_run)


def _pixels(project: Project, step: Step) -> NDArray[np.uint8]:
    assert step.image is not None  # noqa: S101 - the caller looked
    data = image_bytes(project, step.image.sha256)
    return decode(data, Purpose.DISPLAY, name=f"step {step.number}").pixels


def _reference(pixels: NDArray[np.uint8]) -> _Reference:
    luma = _luma(pixels)
    return _Reference(pixels, luma, _lab(pixels), small_of(pixels), detail_of(luma))


def _measured(
    run: Run, step: Step, pixels: NDArray[np.uint8], reference: _Reference, *, turning: bool
) -> Drift:
    assert step.image is not None  # noqa: S101 - the caller looked
    turn = _turn_of(pixels, reference) if turning else Turn.UNCHANGED
    there = turned_back(pixels, turn)
    height, width = reference.pixels.shape[:2]
    resized = ""
    if there.shape != reference.pixels.shape:
        resized = f"{there.shape[1]}x{there.shape[0]}"
        picture = Pillow.fromarray(np.ascontiguousarray(there))
        there = np.asarray(picture.resize((width, height), Pillow.Resampling.LANCZOS))
    luma, lab = _luma(there), _lab(there)
    apart = delta_e_2000(reference.lab, lab)
    mean_lab = lab.reshape(-1, 3).mean(axis=0)
    return Drift(
        run_id=run.id,
        initial_image=run.initial_image,
        model=run.model,
        protocol=run.protocol,
        repeat=run.repeat,
        step=step.number,
        width=step.image.width,
        height=step.image.height,
        byte_size=step.image.byte_size,
        resized_from=resized,
        turned="" if turn is Turn.UNCHANGED else turn.value,
        psnr=psnr(reference.pixels, there),
        ssim=ssim(reference.luma, luma),
        delta_e_mean=float(apart.mean()),
        delta_e_95=float(np.percentile(apart, 95)),
        lightness=float(mean_lab[0]),
        a_star=float(mean_lab[1]),
        b_star=float(mean_lab[2]),
        chroma=float(np.hypot(lab[..., 1], lab[..., 2]).mean()),
        detail=detail_of(luma) / reference.detail if reference.detail else None,
        noise=noise_of(luma),
    )


def _turn_of(pixels: NDArray[np.uint8], reference: _Reference) -> Turn:
    best, likeness = best_turn(reference.small, small_of(pixels))
    return best if likeness[best] - likeness[Turn.UNCHANGED] > TURN_MARGIN else Turn.UNCHANGED


def _luma(pixels: NDArray[np.uint8]) -> NDArray[np.uint8]:
    return np.asarray(Pillow.fromarray(np.ascontiguousarray(pixels)).convert("L"))


def _lab(pixels: NDArray[np.uint8]) -> NDArray[np.float32]:
    picture = Pillow.fromarray(np.ascontiguousarray(pixels))
    factor = max(1, max(picture.size) // _COLOUR_SIDE)
    return to_lab(np.asarray(picture.reduce(factor) if factor > 1 else picture))
