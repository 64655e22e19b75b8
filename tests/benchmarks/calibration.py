"""How often suggestions are wrong: `python -m tests.benchmarks.calibration` prints what it measured.

Photographs that come with scikit-image go through edits whose outcome is known: done as asked, not done, or
worn by a known amount from a known step on. Each picture passes through JPEG, as received ones do. Other
pictures can be named instead: `python -m tests.benchmarks.calibration PICTURE...`.
"""

from __future__ import annotations

import io
import sys
from collections import defaultdict
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from PIL import Image as Pillow

from banana100_core.analysis.measures import measure
from banana100_core.analysis.suggestions import Looked, findings
from banana100_core.catalog.protocols import protocols
from banana100_core.generation.editor import EditSettings
from banana100_core.generation.providers import editor, restoration_loop
from banana100_core.imaging.colour_spaces import to_lab
from banana100_core.imaging.decode import Purpose, decode

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

PHOTOGRAPHS = (
    *("astronaut.png", "chelsea.png", "coffee.png", "rocket.jpg"),
    *("ihc.png", "retina.jpg", "hubble_deep_field.jpg", "motorcycle_left.png"),
)
SIDE = 512  # pixels are cut out, not resampled: that would take noise away
STEPS = 12
ONSET = 6
MODES = (
    *("aspect_ratio", "monochrome_failure", "mirroring_failure", "rotation_failure"),
    *("green_tint", "persistent_noise"),
)
REPLICATE, MIRROR, ROTATE = (protocols()[key].prompts[0] for key in ("replicate", "mirror", "rotate"))
GREY, COLOUR = protocols()["colourise"].prompts


@dataclass(frozen=True, slots=True)
class Case:
    """A run whose truth is known: it has `mode` from `onset` on, or with None nothing at all."""

    kind: str
    photograph: str
    looked: list[Looked]
    mode: str | None = None
    onset: int = 0


def photograph(name: str) -> np.ndarray:
    """A photograph of scikit-image's, or one by its path; its middle where it is large."""
    found = find_spec("skimage")
    assert found is not None
    assert found.origin is not None
    # Joining leaves an absolute path as it is.
    pixels = decode((Path(found.origin).parent / "data" / name).read_bytes(), Purpose.DISPLAY).pixels
    height, width = pixels.shape[:2]
    top, left = max(0, (height - SIDE) // 2), max(0, (width - SIDE) // 2)
    # Odd sides would be another aspect ratio once they are halved.
    return pixels[top : top + SIDE, left : left + SIDE][: height // 2 * 2, : width // 2 * 2]


def through_jpeg(pixels: np.ndarray, quality: int = 90) -> np.ndarray:
    """A picture as it comes back from a service."""
    stream = io.BytesIO()
    Pillow.fromarray(np.ascontiguousarray(pixels)).save(stream, "JPEG", quality=quality)
    return np.asarray(Pillow.open(stream).convert("RGB"))


def grey(pixels: np.ndarray, left: float = 0.0) -> np.ndarray:
    """Without colour, or with a share of it left."""
    plain = np.asarray(Pillow.fromarray(pixels).convert("L").convert("RGB")).astype(float)
    return np.clip(plain + left * (pixels - plain), 0, 255).astype(np.uint8)


def noisy(pixels: np.ndarray, sigma: float, seed: int) -> np.ndarray:
    """With Gaussian noise, the same in all channels."""
    noise = np.random.default_rng(seed).normal(0, sigma, (*pixels.shape[:2], 1))
    return np.clip(pixels + noise, 0, 255).astype(np.uint8)


def greener(pixels: np.ndarray, drift: float) -> np.ndarray:
    """With a mean a* lower by `drift`."""
    before = to_lab(pixels)[..., 1].mean()
    low, high = 0.0, 60.0
    shifted = pixels
    for _ in range(12):
        middle = (low + high) / 2
        push = np.array([-middle / 2, middle / 2, -middle / 2])
        shifted = np.clip(pixels + push, 0, 255).astype(np.uint8)
        low, high = (low, middle) if before - to_lab(shifted)[..., 1].mean() > drift else (middle, high)
    return shifted


def worn_from_onset(wear: Callable[[int], np.ndarray], start: np.ndarray) -> list[tuple[str, np.ndarray]]:
    """Faithful replicas before the onset; `wear` gets 1 at the onset and one more at each later step."""
    return [(REPLICATE, start if step < ONSET else wear(step - ONSET + 1)) for step in range(1, STEPS + 1)]


def alternating(
    prompt: str, change: Callable[[np.ndarray], np.ndarray], start: np.ndarray, fails: int
) -> list[tuple[str, np.ndarray]]:
    """The same edit at each step, which is not made at step `fails`; 0 for never."""
    steps, there = [], start
    for step in range(1, STEPS + 1):
        there = there if step == fails else change(there)
        steps.append((prompt, there))
    return steps


def edited(start: np.ndarray) -> Iterator[tuple[str, str | None, int, list[tuple[str, np.ndarray]]]]:
    """Kind, failure mode, onset, and prompt and picture of each step."""
    random = np.random.default_rng(7)
    same = [(REPLICATE, start)] * STEPS
    yield "faithful replicas", None, 0, same
    light = [np.clip(start * random.uniform(0.94, 1.06), 0, 255).astype(np.uint8) for _ in range(STEPS)]
    yield "brightness wavers by 6 %", None, 0, [(REPLICATE, each) for each in light]
    warm = [np.clip(start + np.array([d, 0, -d]), 0, 255).astype(np.uint8) for d in range(STEPS)]
    yield "colours get warmer", None, 0, [(REPLICATE, each) for each in warm]
    yield "noise of 1.5 throughout", None, 0, [(REPLICATE, noisy(start, 1.5, n)) for n in range(STEPS)]
    better = [through_jpeg(start, 75 if n < ONSET - 1 else 98) for n in range(STEPS)]
    yield "JPEG quality from 75 to 98", None, 0, [(REPLICATE, each) for each in better]
    flip, turn = (lambda picture: picture[:, ::-1]), (lambda picture: np.rot90(picture, -1))
    yield "mirrored as asked", None, 0, alternating(MIRROR, flip, start, 0)
    yield "turned as asked", None, 0, alternating(ROTATE, turn, start, 0)
    yield "monochrome as asked", None, 0, [(GREY, grey(start)), (COLOUR, start)] * (STEPS // 2)
    yield "not mirrored once", "mirroring_failure", 4, alternating(MIRROR, flip, start, 4)
    yield "not turned once", "rotation_failure", 4, alternating(ROTATE, turn, start, 4)
    counter = alternating(ROTATE, turn, start, 0)
    counter[3:] = [(ROTATE, np.rot90(picture, 2)) for _, picture in counter[3:]]
    yield "turned the other way once", "rotation_failure", 4, counter
    for share in (0.1, 0.25, 0.5, 1.0):
        steps = [(GREY, grey(start, share if n >= 2 else 0)) for n in range(STEPS // 2)]
        done = [each for step in steps for each in (step, (COLOUR, start))]
        yield f"{share:.0%} of the colour left", "monochrome_failure", 5, done
    for drift in (2.0, 4.0, 5.0, 8.0):
        tinted = greener(start, drift)
        yield f"a* lower by {drift:g}", "green_tint", ONSET, worn_from_onset(lambda _, t=tinted: t, start)
    for sigma in (2, 3, 4, 6, 10):
        worn = worn_from_onset(lambda n, s=sigma: noisy(start, s, n), start)
        yield f"noise of {sigma} from the onset", "persistent_noise", ONSET, worn
    yield (
        "sides cut by 2 %",
        "aspect_ratio",
        ONSET,
        worn_from_onset(lambda _: start[: round(start.shape[0] * 0.98)], start),
    )


def by_editor(start: np.ndarray, provider: str, model: str, steps: int = 20) -> list[tuple[str, np.ndarray]]:
    """What an embedded editor makes of a picture."""
    chosen = editor(provider, model)
    stream = io.BytesIO()
    Pillow.fromarray(start).save(stream, "PNG")
    data, made = stream.getvalue(), []
    for step in range(1, steps + 1):
        data = chosen.edit(data, REPLICATE, EditSettings(seed=100 + step)).data
        made.append((REPLICATE, decode(data, Purpose.DISPLAY).pixels))
    return made


def cases(names: Sequence[str] = PHOTOGRAPHS) -> Iterator[Case]:
    """All runs of known truth, measured."""
    for name in names:
        start = photograph(name)
        for kind, mode, onset, made in edited(start):
            looked = [Looked(0, "", measure(start))]
            looked += [
                Looked(number, prompt, measure(picture if "JPEG" in kind else through_jpeg(picture)))
                for number, (prompt, picture) in enumerate(made, start=1)
            ]
            yield Case(kind, name, looked, mode, onset)


def main(names: Sequence[str] = PHOTOGRAPHS) -> None:
    """Print how each kind of run was judged, then sums for each failure mode."""
    false, missed, right = defaultdict(int), defaultdict(int), defaultdict(list)
    kinds: dict[str, list[str]] = defaultdict(list)
    for case in cases(names):
        found = {each.failure_mode: each.onset for each in findings(case.looked)}
        words = [f"{mode} {onset}" for mode, onset in found.items()]
        kinds[case.kind].append(", ".join(words) or "-")
        for mode in MODES:
            false[mode] += mode in found and mode != case.mode
            missed[mode] += mode not in found and mode == case.mode
            if mode == case.mode and mode in found:
                right[mode].append(abs(found[mode] - case.onset))
    for kind, words in kinds.items():
        print(f"{kind:<30} {' | '.join(words)}")
    runs = sum(map(len, kinds.values()))
    print(f"\n{'failure mode':<22}{'false alarms':>16}{'missed':>12}{'onset off by':>14}")
    for mode in MODES:
        have = missed[mode] + len(right[mode])
        off = f"{np.mean(right[mode]):.2f}" if right[mode] else "-"
        print(f"{mode:<22}{f'{false[mode]} of {runs - have}':>16}{f'{missed[mode]} of {have}':>12}{off:>14}")
    print()
    for provider, model in (("codec_loss", None), ("restoration_loop", None)):
        for name in names:
            start = photograph(name)
            chosen = model or _first_model(provider)
            made = by_editor(start, provider, chosen)
            looked = [Looked(n, p, measure(pixels)) for n, (p, pixels) in enumerate([("", start), *made])]
            found = [(each.failure_mode, each.onset, each.figure) for each in findings(looked)]
            noise = f"{looked[1].measured.noise:.1f} to {looked[-1].measured.noise:.1f}"
            drift = looked[-1].measured.a_star - looked[1].measured.a_star
            print(f"{provider:<18}{name:<24} noise {noise:<14} a* {drift:+.1f}  {found or '-'}", flush=True)


def _first_model(provider: str) -> str:
    from banana100_core.generation.providers import codec_loss

    module = {"codec_loss": codec_loss, "restoration_loop": restoration_loop}[provider]
    return module.capabilities()[0].model


if __name__ == "__main__":
    main([str(Path(name).resolve()) for name in sys.argv[1:]] or PHOTOGRAPHS)
