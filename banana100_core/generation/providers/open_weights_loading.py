"""Loading a pipeline of diffusers: from where, onto which device, with how much of it there at a time."""

from __future__ import annotations

import os
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from banana100_core.errors import ProviderError
from banana100_core.installation import how_to_add

if TYPE_CHECKING:
    from collections.abc import Mapping

    from banana100_core.catalog.models import EditorModel, Weights

_SPARE = 1.25  # memory beside the weights, as a share of them


class Offload(StrEnum):
    """How much of the model is on the graphics card at a time."""

    AUTO = "auto"  # all of it where the card's memory has room, else model by model
    NONE = "none"
    MODEL = "model"  # text encoder, transformer and decoder in turn
    SEQUENTIAL = "sequential"  # layer by layer: little memory, very slow


@dataclass(frozen=True, slots=True)
class Options:
    """How pipelines are loaded on this machine; each is an environment variable."""

    MODELS: ClassVar[str] = "BANANA100_DIFFUSERS_MODELS"
    DOWNLOAD: ClassVar[str] = "BANANA100_DIFFUSERS_DOWNLOAD"
    OFFLOAD: ClassVar[str] = "BANANA100_DIFFUSERS_OFFLOAD"
    DEVICE: ClassVar[str] = "BANANA100_DIFFUSERS_DEVICE"
    STEPS: ClassVar[str] = "BANANA100_DIFFUSERS_STEPS"

    models: Path | None = None  # a folder with a folder for each model; else the Hugging Face cache
    download: bool = False
    offload: Offload = Offload.AUTO
    device: str = ""  # "cuda", "mps" or "cpu"; the best there is if not given
    steps: int | None = None  # denoising steps, the model's own if not given

    @classmethod
    def from_environment(cls, environment: Mapping[str, str] | None = None) -> Options:
        """Read them; ProviderError names a value that can't be."""
        known = os.environ if environment is None else environment

        def value(name: str) -> str:
            return known.get(name, "").strip()

        offload, steps = value(cls.OFFLOAD) or Offload.AUTO.value, value(cls.STEPS)
        if offload not in list(Offload):
            raise ProviderError(f"{cls.OFFLOAD} is {offload!r}. It must be one of: {', '.join(Offload)}.")
        if steps and not (steps.isdecimal() and int(steps) > 0):
            raise ProviderError(f"{cls.STEPS} is {steps!r}. It must be a number from 1.")
        return cls(
            models=Path(value(cls.MODELS)) if value(cls.MODELS) else None,
            download=value(cls.DOWNLOAD).lower() in {"1", "true", "yes"},
            offload=Offload(offload),
            device=value(cls.DEVICE),
            steps=int(steps) if steps else None,
        )


@dataclass(frozen=True, slots=True)
class Loaded:
    """A pipeline, the version of what it is, and how it was loaded: for a step's settings."""

    pipeline: Any  # of a library without types
    version: str
    used: Mapping[str, Any]


def load(model: EditorModel, weights: Weights, options: Options) -> Loaded:
    """Load a pipeline; ProviderError says what is missing and how to get it.

    Nothing is downloaded unless the options allow it.
    """
    try:
        import diffusers
        import torch
    except ImportError as error:
        raise ProviderError(f"{model.title} needs diffusers and torch. {how_to_add('diffusers')}.") from error

    device = options.device or _best_device(torch)
    dtype = torch.bfloat16 if device != "cpu" else torch.float32
    source, arguments = _source(model, weights, options)
    if weights.four_bit:
        arguments["quantization_config"] = _four_bit(diffusers, torch, device, model)
    arguments |= dict.fromkeys(weights.without)
    diffusers.utils.logging.disable_progress_bar()
    try:
        pipeline = getattr(diffusers, weights.pipeline).from_pretrained(source, dtype=dtype, **arguments)
        offload = _place(pipeline, weights, options, device, torch)
    except torch.OutOfMemoryError as error:
        raise ProviderError(
            f"{model.title} does not fit the graphics card. Set {Options.OFFLOAD}=model or =sequential, "
            "or take the model's 4-bit build."
        ) from error
    except (OSError, ValueError, ImportError, RuntimeError) as error:
        raise ProviderError(_why_not(model, weights, options, error)) from error
    pipeline.set_progress_bar_config(disable=True)
    used = {
        "device": device,
        "dtype": str(dtype).removeprefix("torch."),
        "offload": offload.value,
        "four_bit": weights.four_bit,
        "diffusers": diffusers.__version__,
    }
    return Loaded(pipeline, f"{_version(source, options)}, diffusers {diffusers.__version__}", used)


def _version(source: str, options: Options) -> str:
    """The model's repository with its commit, or the name of the folder that it was read from."""
    if options.models is not None:
        return Path(source).name
    from huggingface_hub import snapshot_download

    try:
        commit = Path(snapshot_download(source, local_files_only=True)).name
    except (OSError, ValueError):
        return source
    return f"{source}@{commit[:12]}"


def _source(model: EditorModel, weights: Weights, options: Options) -> tuple[str, dict[str, Any]]:
    if options.models is not None:
        folder = options.models / model.key.removesuffix(weights.suffix)
        if not (folder / "model_index.json").is_file():
            raise ProviderError(
                f"{folder} is no folder of {model.title}: it has no model_index.json. Put the files of "
                f"{weights.repository} there, or unset {Options.MODELS}."
            )
        return str(folder), {"local_files_only": True}
    return weights.repository, {"local_files_only": not options.download}


def _why_not(model: EditorModel, weights: Weights, options: Options, error: Exception) -> str:
    name = type(error).__name__
    terms = f" Accept its licence at huggingface.co/{weights.repository} and log in with hf auth login first."
    if name == "GatedRepoError":
        return f"{model.title} is gated.{terms} Then start the run again."
    missing = isinstance(error, OSError) and not options.download and options.models is None
    if missing or name == "LocalEntryNotFoundError":
        return (
            f"{model.title} is not on this machine. Get it with: hf download {weights.repository} "
            f"(about {weights.download_gb:g} GB), or set {Options.DOWNLOAD}=1 to let the run get it."
            f"{terms if weights.gated else ''}"
        )
    return f"{model.title} can't be loaded: {name}: {str(error)[:500]}"


def _best_device(torch: Any) -> str:  # noqa: ANN401 - of a library without types
    if torch.cuda.is_available():
        return "cuda"
    return "mps" if torch.backends.mps.is_available() else "cpu"


def _four_bit(diffusers: Any, torch: Any, device: str, model: EditorModel) -> Any:  # noqa: ANN401
    if device != "cuda":
        raise ProviderError(
            f"{model.title} needs a graphics card that CUDA knows. Take the model that is not of 4 bits."
        )
    return diffusers.PipelineQuantizationConfig(
        quant_backend="bitsandbytes_4bit",
        quant_kwargs={
            "load_in_4bit": True,
            "bnb_4bit_quant_type": "nf4",
            "bnb_4bit_compute_dtype": torch.bfloat16,
        },
        components_to_quantize=["transformer", "text_encoder"],
    )


def _place(pipeline: Any, weights: Weights, options: Options, device: str, torch: Any) -> Offload:  # noqa: ANN401
    """Put the pipeline on the device, all of it or in turn."""
    offload = options.offload
    if device == "cpu":
        offload = Offload.NONE
    elif offload is Offload.AUTO:
        memory = torch.cuda.get_device_properties(0).total_memory / 1e9 if device == "cuda" else 0.0
        offload = Offload.NONE if memory >= weights.memory_gb * _SPARE else Offload.MODEL
    match offload:
        case Offload.MODEL:
            pipeline.enable_model_cpu_offload(device=device)
        case Offload.SEQUENTIAL:
            pipeline.enable_sequential_cpu_offload(device=device)
        case _:
            pipeline.to(device)
    return offload
