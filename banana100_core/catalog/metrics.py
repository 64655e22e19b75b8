"""The paper's no-reference metrics: typical range, direction, weights, and what Banana100 found of each."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from importlib.resources import files
from typing import Any

from banana100_core.errors import MetricError

PYIQA_WEIGHTS = "https://huggingface.co/chaofengc/IQA-PyTorch-Weights"
COMMON_FINDING = "One of the 21 metrics of which none saw the decay of every image (Figures 5 and 6)."


class Place(StrEnum):
    """Where pyiqa and the libraries below it look for a weights file."""

    PYIQA = "pyiqa"  # $TORCH_HOME/hub/pyiqa
    CHECKPOINTS = "checkpoints"  # $TORCH_HOME/hub/checkpoints
    CLIP = "clip"  # $TORCH_HOME/hub/clip
    HUGGINGFACE = "huggingface"  # the Hugging Face cache, a folder a repository


@dataclass(frozen=True, slots=True)
class WeightsFile:
    """A file that a metric needs.

    `name` is the file's name, or the repository's at `Place.HUGGINGFACE`; there `file` is the file in it, and
    None asks for the whole repository. `sha256` is the digest or its first eight digits, None if not known.
    `variable` names an environment variable by which the user can say where a repository's folder is. `only`
    are patterns of the files that are needed of a repository, all by default.
    """

    name: str
    place: Place
    source: str
    sha256: str | None = None
    file: str | None = None
    variable: str | None = None
    only: tuple[str, ...] = ()

    @property
    def is_repository(self) -> bool:
        """Whether it is a whole repository."""
        return self.place is Place.HUGGINGFACE and self.file is None


@dataclass(frozen=True, slots=True)
class Metric:
    """A no-reference metric of the paper's Table 2; `low` to `high` is its typical range, not a limit.

    `batches`: a picture's score is the same, to 1e-5 relative, in a batch of pictures of its size.
    """

    key: str
    title: str
    low: float
    high: float
    lower_is_better: bool
    range_note: str
    measures: str
    paper: str
    finding: str
    smallest_side: int  # pixels; smaller pictures have no score
    weights: tuple[WeightsFile, ...]
    batches: bool = False

    def normalise(self, score: float) -> float:
        """Map the typical range to [0, 100], higher is better; never clipped (section 4.1)."""
        share = (score - self.low) / (self.high - self.low)
        return 100.0 * (1.0 - share if self.lower_is_better else share)


@cache
def metrics() -> dict[str, Metric]:
    """All 23 metrics by key, in the order of Table 2."""
    data = tomllib.loads(files(__package__).joinpath("metrics.toml").read_text("utf-8"))
    weights = {name: _weights_file(name, entry) for name, entry in data["weights"].items()}
    return {
        key: Metric(
            key=key,
            title=entry["title"],
            low=entry["low"],
            high=entry["high"],
            lower_is_better=entry.get("lower_is_better", False),
            range_note=entry.get("range_note", ""),
            measures=entry["measures"],
            paper=entry["paper"],
            finding=entry.get("finding", COMMON_FINDING),
            smallest_side=entry.get("smallest_side", 1),
            weights=tuple(weights[name] for name in entry.get("weights", ())),
            batches=entry.get("batches", False),
        )
        for key, entry in data["metric"].items()
    }


def metric(key: str) -> Metric:
    """Give one metric; MetricError names those there are."""
    try:
        return metrics()[key]
    except KeyError:
        raise MetricError(f"There is no metric {key!r}. There are: {', '.join(metrics())}.") from None


def _weights_file(name: str, entry: dict[str, Any]) -> WeightsFile:
    place = Place(entry.get("place", Place.PYIQA))
    default = f"https://huggingface.co/{name}" if place is Place.HUGGINGFACE else PYIQA_WEIGHTS
    return WeightsFile(
        name,
        place,
        entry.get("source", default),
        entry.get("sha256"),
        entry.get("file"),
        entry.get("variable"),
        tuple(entry.get("only", ())),
    )
