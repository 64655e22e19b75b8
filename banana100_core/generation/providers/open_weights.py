"""Open-weight editors through diffusers, on this machine; what they do unasked is kept with each step."""

from __future__ import annotations

import secrets
from dataclasses import asdict
from io import BytesIO
from typing import TYPE_CHECKING, Any

from banana100_core.catalog.models import editor_models
from banana100_core.errors import ImageError, ProviderError
from banana100_core.generation.editor import Capabilities, EditResult, EditSettings, NoAnswerError, Trouble
from banana100_core.generation.providers.open_weights_loading import Loaded, Options, load
from banana100_core.generation.providers.resizes import watched_resizes
from banana100_core.imaging.decode import Purpose, decode

if TYPE_CHECKING:
    from PIL.Image import Image

    from banana100_core.catalog.models import EditorModel, Weights

PROVIDER = "diffusers"
PNG_COMPRESSION = 4


class OpenWeights:
    """Edits with one pipeline, which is loaded at the first edit."""

    def __init__(self, capabilities: Capabilities, options: Options | None = None) -> None:
        self.capabilities = capabilities
        self._model = _catalog_model(capabilities.model)
        self._options = options or Options.from_environment()
        self._loaded: Loaded | None = None

    @property
    def _weights(self) -> Weights:
        weights = self._model.weights
        if weights is None:
            raise ProviderError(f"The catalog doesn't say where {self._model.key} is.")
        return weights

    def edit(self, image: bytes, prompt: str, settings: EditSettings) -> EditResult:
        """Give the edited picture as PNG, or one of the prompt alone; all that was done to it is noted."""
        picture = _picture(image) if image else None
        if self._loaded is None:
            self._loaded = load(self._model, self._weights, self._options)
        seed = secrets.randbits(31) if settings.seed is None else settings.seed
        given = self._given(picture)
        with watched_resizes() as resizes:
            made = self._run(self._loaded, prompt, given, seed)
        sent = None if picture is None else picture.size
        details = {
            "seed": seed,
            "call": {name: value for name, value in given.items() if name != "image"},
            "resizes": [asdict(each) for each in resizes],
            "sizes": {"sent": sent, "made": made.size},
            **self._loaded.used,
        }
        return EditResult(
            data=_png(made),
            declared_media_type="image/png",
            model_version=self._loaded.version,
            notes=tuple(_notes(sent, made.size, details)),
            details=details,
        )

    def _given(self, picture: Image | None) -> dict[str, Any]:
        """What the pipeline is called with, besides prompt and seed."""
        weights = self._weights
        given = dict(weights.call)
        if self._options.steps is not None:
            given["num_inference_steps"] = self._options.steps
        if picture is not None:
            given["image"] = [picture] if weights.as_list else picture
            if weights.takes_size:  # it would make a square of any picture otherwise
                given |= {"width": picture.width, "height": picture.height}
        return given

    def _run(self, loaded: Loaded, prompt: str, given: dict[str, Any], seed: int) -> Image:
        import torch

        generator = torch.Generator("cpu").manual_seed(seed)  # the same noise on every device
        try:
            made: Image = loaded.pipeline(prompt=prompt, generator=generator, **given).images[0]
        except torch.OutOfMemoryError as error:
            torch.cuda.empty_cache()
            raise NoAnswerError(
                f"{self._model.title} needs more memory than the graphics card has. Close what else uses it, "
                f"set {Options.OFFLOAD}=model or =sequential, or take the model's 4-bit build.",
                Trouble.FINAL,
            ) from error
        except ValueError as error:
            # Pictures that are too small or too long are refused in words.
            raise NoAnswerError(f"{self._model.title} refused: {error}", Trouble.FINAL) from error
        return made


def capabilities() -> list[Capabilities]:
    """The models of this provider."""
    return [
        Capabilities(
            PROVIDER,
            model.key,
            model.title,
            model.note,
            ("image/png",),
            deterministic=False,  # kernels of graphics cards differ from run to run
            from_text=model.weights is not None and model.weights.from_text,
            alone=True,
            effort=model.effort,
        )
        for model in editor_models()
        if model.provider == PROVIDER
    ]


def editor(chosen: Capabilities) -> OpenWeights:
    """Make the editor for one of `capabilities()`."""
    return OpenWeights(chosen)


def _catalog_model(key: str) -> EditorModel:
    return next(model for model in editor_models() if (model.provider, model.key) == (PROVIDER, key))


def _picture(data: bytes) -> Image:
    from PIL import Image as Pillow

    try:
        return Pillow.fromarray(decode(data, Purpose.DISPLAY).pixels)
    except ImageError as error:
        raise ImageError(f"The picture can't be edited: {error}") from error


def _png(picture: Image) -> bytes:
    out = BytesIO()
    picture.convert("RGB").save(out, "PNG", compress_level=PNG_COMPRESSION)
    return out.getvalue()


def _notes(sent: tuple[int, int] | None, made: tuple[int, int], details: dict[str, Any]) -> list[str]:
    notes = [
        f"{each['how']} {_size(each['before'])} to {_size(each['after'])}" for each in details["resizes"]
    ]
    if sent is not None and sent != made:
        notes.append(f"sent {_size(sent)}, made {_size(made)}")
    return notes


def _size(size: tuple[int, int]) -> str:
    return f"{size[0]}x{size[1]}"
