"""Which metrics can score here, by which backend, and under which method version; torch is not imported."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from typing import TYPE_CHECKING

from banana100_core.catalog.metrics import Metric, metric, metrics
from banana100_core.errors import MetricError
from banana100_core.installation import how_to_add
from banana100_core.scoring import terms
from banana100_core.scoring.native.score import NATIVE_METRICS, native_version, shipped_digest
from banana100_core.scoring.vision_language import ADAPTED, lack, method_version
from banana100_core.scoring.vision_language.model_folder import fingerprint
from banana100_core.scoring.weights import explain, find

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from banana100_core.scoring.weights import FoundWeights

NATIVE = "native"
PYIQA = "pyiqa"
ADAPTER = "adapter"

GET_LEARNED_METRICS = how_to_add("metrics")

# Modules that pyiqa imports for some metrics without saying so in its own requirements.
_UNDECLARED = {
    "clipiqa": ("pkg_resources",),
    "liqe": ("pkg_resources",),
    "qualiclip": ("pkg_resources",),
    "qalign": ("icecream",),
}

# Where it is not float32 by pyiqa and torch alone.
_LIBRARIES = {"qalign": ("pyiqa", "transformers", "torch")}
_PRECISIONS = {"qalign": "float16"}


class State(StrEnum):
    """Whether a metric can score here."""

    READY = "ready"
    WEIGHTS_MISSING = "weights missing"
    WEIGHTS_WRONG = "weights wrong"
    LIBRARY_MISSING = "library missing"
    TERMS = "terms not accepted"


@dataclass(frozen=True, slots=True)
class MetricStatus:
    """Whether a metric can score here; if not, the reason and the way out, which may have several lines.

    `method_version` covers implementation, weights, preprocessing and precision; None when it can't score.
    `fetchable`: what it lacks are weights that can be fetched.
    """

    metric: str
    state: State
    backend: str
    method_version: str | None
    reason: str = ""
    way_out: str = ""
    fetchable: bool = False


def statuses(
    backends: Mapping[str, str] | None = None, catalog: Mapping[str, Metric] | None = None
) -> dict[str, MetricStatus]:
    """Status of all metrics; `backends` asks for others than the default, as in `{"brisque": "pyiqa"}`.

    `catalog`: another than ours, which may want other weights. Raises MetricError for a backend that a metric
    doesn't have.
    """
    chosen = chosen_backends(backends)
    return {key: _status(each, chosen[key]) for key, each in (catalog or metrics()).items()}


def ready_methods(
    metrics: Sequence[str] | None = None,
    backends: Mapping[str, str] | None = None,
    catalog: Mapping[str, Metric] | None = None,
) -> dict[str, str]:
    """Method versions of the metrics that can score here, in the order of Table 2; of all, or of some."""
    for key in metrics or ():
        metric(key)
    return {
        key: status.method_version
        for key, status in statuses(backends, catalog).items()
        if status.method_version is not None and (metrics is None or key in metrics)
    }


def chosen_backends(backends: Mapping[str, str] | None = None) -> dict[str, str]:
    """Backend of every metric: the one asked for, or the default."""
    for key, backend in (backends or {}).items():
        metric(key)
        if backend not in available_backends(key):
            raise MetricError(
                f"{key} has no backend {backend!r}. It has: {', '.join(available_backends(key))}."
            )
    return {key: (backends or {}).get(key, available_backends(key)[0]) for key in metrics()}


def available_backends(key: str) -> tuple[str, ...]:
    """Backends that know a metric, the default first."""
    if key in ADAPTED:
        return (ADAPTER,)
    return (NATIVE, PYIQA) if key in NATIVE_METRICS else (PYIQA,)


def _status(each: Metric, backend: str) -> MetricStatus:
    if backend == NATIVE:
        return MetricStatus(each.key, State.READY, backend, native_version(each.key))
    if backend == ADAPTER:
        return _adapter_status(each)
    return _pyiqa_status(each)


def _adapter_status(each: Metric) -> MetricStatus:
    absent = _absent("torch", "transformers", "accelerate")
    if absent:
        return MetricStatus(each.key, State.LIBRARY_MISSING, ADAPTER, None, absent, GET_LEARNED_METRICS)
    lacking = lack(each.key)
    if lacking is not None:
        state = State.WEIGHTS_WRONG if lacking.wrong else State.WEIGHTS_MISSING
        return MetricStatus(
            each.key, state, ADAPTER, None, lacking.reason, lacking.way_out, lacking.fetchable
        )
    return MetricStatus(each.key, State.READY, ADAPTER, method_version(each.key))


def _pyiqa_status(each: Metric) -> MetricStatus:
    absent = _absent("torch", "pyiqa", *_UNDECLARED.get(each.key, ()))
    if absent:
        return MetricStatus(each.key, State.LIBRARY_MISSING, PYIQA, None, absent, GET_LEARNED_METRICS)
    if each.key in NATIVE_METRICS:
        digest = shipped_digest(each.key)
    else:
        found = [find(file) for file in each.weights]
        unusable = [file for file in found if not file.usable]
        if unusable:
            wrong = any(file.sha256 for file in unusable)
            return MetricStatus(
                each.key,
                State.WEIGHTS_WRONG if wrong else State.WEIGHTS_MISSING,
                PYIQA,
                None,
                " ".join(dict.fromkeys(explain(file) for file in unusable)),
                f"Type: banana100 weights fetch {each.key} (or bring the files in a folder: "
                "`banana100 metrics` says which, from where)",
                fetchable=True,
            )
        digest = "+".join(_digest(file) for file in found)
    if not terms.accepted():
        return MetricStatus(each.key, State.TERMS, PYIQA, None, terms.REASON, terms.WAY_OUT)
    libraries = ";".join(f"{name}-{_version(name)}" for name in _LIBRARIES.get(each.key, ("pyiqa", "torch")))
    precision = _PRECISIONS.get(each.key, "float32")
    return MetricStatus(each.key, State.READY, PYIQA, f"{libraries};weights={digest};{precision}")


def _digest(found: FoundWeights) -> str:
    """Give the first digits of the digest of what was found; of a repository's it takes samples."""
    return fingerprint([found.path.parent]) if found.file.is_repository else (found.sha256 or "")[:8]


def _absent(*modules: str) -> str:
    """Name the modules that are not installed, in a sentence; empty where all are."""
    absent = [name for name in modules if find_spec(name) is None]
    return f"{' and '.join(absent)} {'is' if len(absent) == 1 else 'are'} not installed." if absent else ""


def _version(distribution: str) -> str:
    try:
        return version(distribution)
    except PackageNotFoundError:
        return "unknown"
