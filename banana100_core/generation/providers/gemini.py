"""Gemini's image models through google-genai: stored bytes go out, received bytes come back, untouched."""

from __future__ import annotations

import base64
import os
import re
import threading
import warnings
from typing import TYPE_CHECKING, Any

from banana100_core.catalog.models import EditorModel, editor_models
from banana100_core.errors import ImageError, ProviderError
from banana100_core.generation.editor import Capabilities, EditResult, EditSettings, NoAnswerError, Trouble
from banana100_core.generation.keys import api_key, whole_key, without_key
from banana100_core.imaging.decode import sniff_media_type
from banana100_core.project.reasoning import sections

if TYPE_CHECKING:
    from collections.abc import Sequence

    from google.genai import Client, errors, types

    from banana100_core.generation.editor import Turn

PROVIDER = "gemini"
RETIRED, CHECK_KEY = "was retired or never was", "Check the API key"  # by these words `ways_out` knows them
TIMEOUT_MS = 900_000  # one image may take minutes
_PLAIN_FINISH = {"STOP", "FINISH_REASON_UNSPECIFIED", ""}


class Service:
    """Calls one model of Gemini; what goes wrong is a NoAnswerError without the key in it."""

    def __init__(self, model: str, timeout_ms: int = TIMEOUT_MS) -> None:
        self.model = model
        self._timeout_ms = timeout_ms
        self._client: Client | None = None
        self._key = ""
        self._making = threading.Lock()

    def ask(
        self, contents: list[types.Content], config: types.GenerateContentConfig
    ) -> types.GenerateContentResponse:
        """Make one call, without retries."""
        import httpx2
        from google.auth import exceptions as auth_errors
        from google.genai import errors

        client = self._connected()
        try:
            return client.models.generate_content(model=self.model, contents=list(contents), config=config)
        except errors.APIError as error:
            raise self._refusal(error) from None  # the SDK's error holds the request, its key included
        except auth_errors.GoogleAuthError as error:
            words = without_key(str(error)[:300], self._key)
            what = f"Google did not accept the account of Vertex: {words} {CHECK_KEY} or the log-in, "
            raise NoAnswerError(f"{what}then start the run again.", Trouble.FINAL) from None
        except (httpx2.TransportError, OSError) as error:
            words = without_key(str(error) or type(error).__name__, self._key)
            what = f"The connection to Gemini failed: {words}."
            raise NoAnswerError(what, Trouble.BUSY, maybe_paid=True) from None
        except ValueError as error:
            what = f"Gemini's answer was cut or garbled: {without_key(str(error)[:300], self._key)}"
            raise NoAnswerError(what, Trouble.BUSY, maybe_paid=True) from None

    def close(self) -> None:
        """Close the connections; the next edit opens them anew."""
        with self._making:
            if self._client is not None:
                self._client.close()
                self._client = None

    def _connected(self) -> Client:
        from google.genai import Client, types

        with self._making:
            if self._client is None:
                # It warns of finish reasons that it doesn't know; they are kept, and told with the step.
                warnings.filterwarnings("ignore", ".* is not a valid ", UserWarning, r"google\.genai\.")
                options = types.HttpOptions(api_version="v1beta", timeout=self._timeout_ms)
                try:
                    if os.environ.get("GOOGLE_GENAI_USE_VERTEXAI", "").lower() in {"1", "true"}:
                        self._client, self._key = _vertex(self._timeout_ms)
                    else:
                        self._key = api_key(PROVIDER)
                        self._client = Client(api_key=self._key, http_options=options)
                except ValueError as error:
                    raise ProviderError(
                        f"Gemini can't be reached as it is set up: {without_key(str(error), self._key)}"
                    ) from None
            return self._client

    def _refusal(self, error: errors.APIError) -> NoAnswerError:
        said = without_key(str(error.message or error.status or "no reason given"), self._key)
        what = f"Gemini answered {error.code} {error.status or ''}".rstrip() + f": {said}"
        if error.code == 429 or error.code >= 500:
            return NoAnswerError(what, Trouble.BUSY, retry_after=_retry_delay(error.details))
        way_out = {
            401: f"{CHECK_KEY}, then start the run again.",
            403: f"{CHECK_KEY} and what it may use, then start the run again.",
            404: f"The model {self.model} {RETIRED}. {_successor(self.model)}",
        }.get(error.code, "Change what is refused, then start the run again.")
        return NoAnswerError(f"{what} {way_out}", Trouble.FINAL)


class Gemini:
    """Edits with one model of Gemini."""

    def __init__(self, capabilities: Capabilities) -> None:
        self.capabilities = capabilities
        self._model = _catalog_model(capabilities.model)
        self._service = Service(capabilities.model)

    def edit(self, image: bytes, prompt: str, settings: EditSettings) -> EditResult:
        """Ask for one edit, or for a picture of the prompt; NoAnswerError when it gave no image."""
        import google.genai

        media_type = sniff_media_type(image)
        if image and media_type is None:
            raise ImageError("The image to be sent is of no type that is known. It was not sent.")
        response = self._service.ask(
            _contents(image, media_type or "", prompt, settings.history),
            _config(settings, thinking=self._model.thinking),
        )
        what = f"{len(image)} bytes as {media_type}" if image else "the prompt alone"
        sent = f"sent {what} with google-genai {google.genai.__version__}"
        return _result(response, self._model, sent)

    def close(self) -> None:
        """Close the connections; the next edit opens them anew."""
        self._service.close()


def capabilities() -> list[Capabilities]:
    """The models of this provider."""
    return [_capabilities(model) for model in editor_models() if model.provider == PROVIDER]


def other(model: str) -> Capabilities | None:
    """A model that the catalog doesn't know yet, at the catalog's highest price; ids change often."""
    return _capabilities(_catalog_model(model)) if model.startswith("gemini-") else None


def editor(chosen: Capabilities) -> Gemini:
    """Make the editor for one of `capabilities()`."""
    return Gemini(chosen)


def _capabilities(model: EditorModel) -> Capabilities:
    prices = model.prices
    return Capabilities(
        PROVIDER,
        model.key,
        model.title,
        model.note,
        ("image/png", "image/jpeg"),
        deterministic=False,
        needs_key=True,
        in_worker=False,
        keeps_session=True,
        from_text=True,
        effort=model.effort,
        honours=frozenset({"seed", "temperature", "resolution", "aspect_ratio"}),
        sizes=() if prices is None else tuple(size for size, _ in prices.by_size),
        usd_per_image=model.usd_per_image,
        usd_by_size={}
        if prices is None
        else {size: prices.of_call(size, thinking=model.thinking) for size, _ in prices.by_size},
    )


def _catalog_model(key: str) -> EditorModel:
    models = [model for model in editor_models() if model.provider == PROVIDER]
    for model in models:
        if model.key == key:
            return model
    dearest = max(models, key=lambda model: model.usd_per_image[1])
    note = "A model that this program doesn't know: it is taken to cost what the dearest costs."
    return EditorModel(
        PROVIDER,
        key,
        key,
        note,
        embedded=False,
        needs_key=True,
        thinking=not key.startswith("gemini-2"),
        prices=dearest.prices,
        effort=dearest.effort,
    )


def _contents(image: bytes, media_type: str, prompt: str, history: tuple[Turn, ...]) -> list[types.Content]:
    from google.genai import types

    def content(role: str, data: bytes | None, text: str = "", signature: str = "") -> types.Content:
        parts = []
        if data is not None:
            blob = types.Blob(data=data, mime_type=sniff_media_type(data) or media_type)
            parts.append(types.Part(inline_data=blob, thought_signature=base64.b64decode(signature) or None))
        if text:
            parts.append(types.Part.from_text(text=text))
        return types.Content(role=role, parts=parts)

    contents = []
    for turn in history:
        contents.append(content("user", turn.image, turn.prompt))
        contents.append(content("model", turn.answer, signature=turn.signature))
    # The model has the image already when it made it itself in this session.
    return [*contents, content("user", None if history else image or None, prompt)]


def _config(settings: EditSettings, *, thinking: bool) -> types.GenerateContentConfig:
    from google.genai import types

    image = types.ImageConfig(aspect_ratio=settings.aspect_ratio, image_size=settings.resolution)
    return types.GenerateContentConfig(
        response_modalities=["TEXT", "IMAGE"],
        image_config=image if settings.aspect_ratio or settings.resolution else None,
        thinking_config=types.ThinkingConfig(include_thoughts=True) if thinking else None,
        seed=settings.seed,
        temperature=settings.temperature,
    )


def _result(response: types.GenerateContentResponse, model: EditorModel, sent: str) -> EditResult:
    """What an answer holds; NoAnswerError, with the rest of it, when it holds no image."""
    candidate = response.candidates[0] if response.candidates else None
    parts = (candidate.content.parts if candidate and candidate.content else None) or []
    finish = _name(candidate.finish_reason) if candidate else ""
    images = [part for part in parts if part.inline_data is not None and part.inline_data.data]
    made = [part for part in images if not part.thought] or images
    notes = [sent]
    if made and made[-1].thought:
        notes.append("the answer held an image of the reasoning only, which was taken")
    image = made[-1].inline_data if made else None
    counted = _counted(response.usage_metadata, model)
    result = EditResult(
        data=(image.data if image else None) or b"",
        declared_media_type=(image.mime_type if image else None) or "",
        reasoning=_reasoning(parts),
        evaluates_from=_evaluates_from(parts),
        model_version=response.model_version,
        finish_reason=finish or None,
        notes=tuple(notes),
        signature=base64.b64encode((made[-1].thought_signature if made else None) or b"").decode(),
        **counted,
    )
    if result.data:
        return result
    feedback = response.prompt_feedback
    if feedback is not None and feedback.block_reason is not None:
        said = feedback.block_reason_message or ""
        words = f"Gemini blocked the prompt ({_name(feedback.block_reason)}). {said}"
    else:
        spoken = " ".join(part.text.strip() for part in parts if part.text and not part.thought)
        why = "" if finish in _PLAIN_FINISH else f" ({finish})"
        said = (candidate.finish_message if candidate else None) or spoken
        words = f"Gemini gave no image{why}. {said[:300]}"
    raise NoAnswerError(words.strip(), Trouble.NO_IMAGE, result=result)


def _reasoning(parts: Sequence[types.Part]) -> str:
    return "\n\n".join(part.text.strip() for part in parts if part.thought and part.text)


def _evaluates_from(parts: Sequence[types.Part]) -> int | None:
    """How many sections of the reasoning precede an image that the model looked at while it reasoned."""
    for nth, part in enumerate(parts):
        if part.thought and part.inline_data is not None:
            before, all_of_it = sections(_reasoning(parts[:nth])), sections(_reasoning(parts))
            return len(before) if len(before) < len(all_of_it) else None
    return None


def _counted(usage: types.GenerateContentResponseUsageMetadata | None, model: EditorModel) -> dict[str, Any]:
    if usage is None:
        return {}
    sent, thoughts = usage.prompt_token_count or 0, usage.thoughts_token_count or 0
    made = usage.candidates_token_count or 0
    cost = None if model.prices is None else model.prices.of_tokens(sent, thoughts, made)
    return {"input_tokens": sent, "output_tokens": thoughts + made, "cost_usd": cost}


def _vertex(timeout_ms: int) -> tuple[Client, str]:
    """A client of Vertex: for a project, with the account that is logged in, or with a key alone."""
    from google.genai import Client, types

    options = types.HttpOptions(timeout=timeout_ms)
    project, key = (os.environ.get(name, "").strip() for name in ("GOOGLE_CLOUD_PROJECT", "GOOGLE_API_KEY"))
    if key:
        whole_key(key, "GOOGLE_API_KEY")
    location = os.environ.get("GOOGLE_CLOUD_LOCATION", "").strip() or "global"
    if project or not key:
        # Named here, although the client would find them: else it forgets them where a base URL is set.
        where = (project, location) if project else (None, None)
        return Client(vertexai=True, project=where[0], location=where[1], http_options=options), key
    return Client(vertexai=True, api_key=key, http_options=options), key


def _successor(model: str) -> str:
    """What to do about a retired model; a preview's place was taken by the model itself."""
    ids = {known.key for known in editor_models() if known.provider == PROVIDER}
    final = model.partition("-preview")[0]
    if final != model and final in ids:
        return f"{final} took its place: banana100 resume PROJECT --run RUN --model {final}."
    return "Name the one that takes its place: banana100 resume PROJECT --run RUN --model MODEL."


def _name(reason: object) -> str:
    return "" if reason is None else str(getattr(reason, "value", reason))


def _retry_delay(details: Any) -> float | None:  # noqa: ANN401 - JSON of the service
    """Seconds that the service asks to wait: `retryDelay` of one of the error's details, as in "47s"."""
    error = details.get("error", details) if isinstance(details, dict) else {}
    for detail in error.get("details") or ():
        wait = re.fullmatch(r"(\d+(?:\.\d+)?)s", str(detail.get("retryDelay", "")))
        if wait:
            return float(wait[1])
    return None
