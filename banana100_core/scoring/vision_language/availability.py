"""Whether VisualQuality-R1 and RALI can score here, and under which method version; torch is not imported."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING

from banana100_core.catalog.metrics import metric
from banana100_core.scoring.vision_language import rali, visualquality_r1
from banana100_core.scoring.vision_language.model_folder import (
    CONFIG,
    broken_files,
    fingerprint,
    missing_files,
    model_folder,
    model_type,
)

if TYPE_CHECKING:
    from pathlib import Path

ADAPTED = (visualquality_r1.KEY, rali.KEY)


@dataclass(frozen=True, slots=True)
class Lack:
    """What a model folder lacks; `wrong` if it is there, but not what it should be.

    `fetchable` unless all is there, and something else has to be done with it.
    """

    reason: str
    way_out: str
    wrong: bool = False
    fetchable: bool = True


def lack(key: str) -> Lack | None:
    """Say what keeps a metric from loading its weights, None if nothing does."""
    if key == visualquality_r1.KEY:
        folder = model_folder(key)
        return _lack_of_model(
            key, folder, visualquality_r1.MODEL_TYPE, f"Type: banana100 weights fetch {key}"
        )
    files = rali.Files.of(model_folder(key))
    get = f"Type: banana100 weights fetch {key}"
    lacking = _lack_of_model(key, files.model, rali.MODEL_TYPE, get)
    if lacking is not None:
        return lacking
    absent = [path.name for path in (files.preprocessor, files.basis) if not path.is_file()]
    if absent:
        return Lack(f"{files.folder} has no {' and no '.join(absent)}.", get)
    if files.pca.is_file():
        return None
    if files.pickle.is_file():
        return Lack(
            f"{files.pickle} is a pickle, which is never loaded by itself.",
            "Convert it once. Type: banana100 weights convert-rali",
            fetchable=False,
        )
    return Lack(f"{files.folder} has neither {files.pca.name} nor {files.pickle.name}.", get)


def method_version(key: str) -> str:
    """Name the method behind a score: libraries, weights, settings and precision; asks for no `lack`."""
    libraries = f"transformers-{_version('transformers')};torch-{_version('torch')}"
    if key == visualquality_r1.KEY:
        weights = fingerprint([model_folder(key)])
        settings = visualquality_r1.Settings.from_environment()
        return f"{libraries};weights={weights};{settings.version};{visualquality_r1.PRECISION}"
    files = rali.Files.of(model_folder(key))
    weights = fingerprint([files.model, files.pca, files.basis])
    return f"{rali.VERSION};{libraries};weights={weights};{rali.PRECISION}"


def _lack_of_model(key: str, folder: Path, kind: str, get: str) -> Lack | None:
    way_out = f"{get}, or set {metric(key).weights[0].variable} to the folder that holds it."
    if not (folder / CONFIG).is_file():
        return Lack(f"There is no model in {folder}.", way_out)
    absent = missing_files(folder)
    if absent:
        return Lack(f"{folder} lacks {', '.join(absent)}.", way_out)
    broken = broken_files(folder)
    if broken:
        return Lack(f"{', '.join(broken)} in {folder} is not whole.", way_out, wrong=True)
    found = model_type(folder)
    if found != kind:
        reason = f"The model in {folder} is of the type {found or 'unknown'}, and should be {kind}."
        return Lack(reason, way_out, wrong=True)
    return None


def _version(distribution: str) -> str:
    try:
        return version(distribution)
    except PackageNotFoundError:
        return "unknown"
