"""VisualQuality-R1: a vision-language model thinks about a picture and writes its rating.

Wu et al., VisualQuality-R1: reasoning-induced image quality assessment via reinforcement learning to rank
(NeurIPS 2025). Question, generation settings and preprocessing are those of the authors' inference code.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from banana100_core.errors import MetricError, WeightsError
from banana100_core.scoring.rating import Rating, ReplyError
from banana100_core.scoring.vision_language.loading import load

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    import numpy as np
    from numpy.typing import NDArray

KEY = "visualquality_r1"
REPOSITORY = "TianheWu/VisualQuality-R1-7B"
MODEL_TYPE = "qwen2_5_vl"
PRECISION = "bfloat16"

_QUESTION = (
    "You are doing the image quality assessment task. Here is the question: "
    "What is your overall rating on the quality of this picture? "
    "The rating should be a float between 1 and 5, rounded to two decimal places, "
    "with 1 representing very poor quality and 5 representing excellent quality."
)
_THINKING = (
    " First output the thinking process in <think> </think> tags and then output the final answer with only "
    "one score in <answer> </answer> tags."
)
_NO_THINKING = " Please only output the final answer with only one score in <answer> </answer> tags."

# qwen-vl-utils brings a picture to these sizes before the model's own processor sees it.
_FACTOR = 28  # pixels; both sides become multiples
_FEWEST_PIXELS = 4 * _FACTOR**2
_MOST_PIXELS = 16384 * _FACTOR**2
_LONGEST_RATIO = 200

_ANSWER = re.compile(r"<answer>(.*?)</answer>", re.DOTALL)
_NUMBER = re.compile(r"[-+]?(?:\d+(?:\.\d*)?|\.\d+)")
_QUOTED = 200  # characters of a reply that an error quotes


@dataclass(frozen=True, slots=True)
class Settings:
    """How the model is asked; the defaults are the authors'.

    They draw one sample. The temperature is that of the model folder's generation_config.json, as they leave
    it alone; where it is close to 0, more samples say the same.
    """

    thinking: bool = True
    samples: int = 1
    top_k: int = 50
    top_p: float = 1.0
    max_new_tokens: int = 2048

    @classmethod
    def from_environment(cls, environment: Mapping[str, str] = os.environ) -> Settings:
        """Read BANANA100_VISUALQUALITY_R1_SAMPLES, 1 and up, and ..._THINKING, 0 or 1."""
        samples = environment.get("BANANA100_VISUALQUALITY_R1_SAMPLES") or "1"
        thinking = environment.get("BANANA100_VISUALQUALITY_R1_THINKING") or "1"
        if not samples.isdecimal() or int(samples) < 1:
            raise MetricError(f"BANANA100_VISUALQUALITY_R1_SAMPLES is {samples!r}. Set a number from 1 up.")
        if thinking not in {"0", "1"}:
            raise MetricError(f"BANANA100_VISUALQUALITY_R1_THINKING is {thinking!r}. Set 0 or 1.")
        return cls(thinking=thinking == "1", samples=int(samples))

    @property
    def question(self) -> str:
        """The authors' question, with or without the wish for a thinking process."""
        return _QUESTION + (_THINKING if self.thinking else _NO_THINKING)

    @property
    def generation(self) -> dict[str, Any]:
        """What the authors hand to `generate`."""
        return {
            "use_cache": True,
            "do_sample": True,
            "top_k": self.top_k,
            "top_p": self.top_p,
            "max_new_tokens": self.max_new_tokens,
        }

    @property
    def version(self) -> str:
        """The part of a method version that speaks of the question and the generation."""
        asked = json.dumps([self.question, self.generation, _FACTOR, _FEWEST_PIXELS, _MOST_PIXELS])
        digest = hashlib.sha256(asked.encode()).hexdigest()[:8]
        return f"prompt={'thinking' if self.thinking else 'plain'}-{digest};samples={self.samples}"


class VisualQualityR1:
    """The model on one device; not for two threads."""

    def __init__(self, folder: Path, device: str, settings: Settings | None = None) -> None:
        """Load from a folder as the authors publish it; WeightsError where it can't be."""
        import torch
        from transformers import AutoProcessor, Qwen2_5_VLForConditionalGeneration

        self._settings = settings or Settings()
        self._device = torch.device(device)
        self._model = load(Qwen2_5_VLForConditionalGeneration, folder, self._device, torch.bfloat16)
        try:
            self._processor = AutoProcessor.from_pretrained(
                folder, padding_side="left", local_files_only=True, trust_remote_code=False
            )
        except Exception as error:
            raise WeightsError(f"The processor in {folder} can't be loaded: {error}") from error

    def rate(self, pixels: NDArray[np.uint8], image_sha256: str) -> Rating:
        """Rate a picture, uint8 (H, W, 3) RGB: the mean over the samples, never clipped.

        Sampling is seeded by the image's SHA-256 and the number of the sample. Raises ReplyError if one of
        the replies holds no rating: a mean over the others would be of another method.
        """
        inputs = self._inputs(pixels)
        replies = [self._reply(inputs, seed(image_sha256, n)) for n in range(self._settings.samples)]
        try:
            scores = [parse_reply(reply) for reply in replies]
        except ReplyError as error:
            raise ReplyError(str(error), replies) from None
        return Rating(math.fsum(scores) / len(scores), tuple(replies))

    def _inputs(self, pixels: NDArray[np.uint8]) -> Any:  # noqa: ANN401 - transformers' own mapping
        from PIL import Image

        height, width = pixels.shape[:2]
        picture = Image.fromarray(pixels).resize(fitted_size(width, height))
        content = [{"type": "image", "image": picture}, {"type": "text", "text": self._settings.question}]
        text = self._processor.apply_chat_template(
            [{"role": "user", "content": content}],
            tokenize=False,
            add_generation_prompt=True,
            add_vision_id=True,
        )
        inputs = self._processor(text=[text], images=[picture], padding=True, return_tensors="pt")
        return inputs.to(self._device)

    def _reply(self, inputs: Any, seed: int) -> str:  # noqa: ANN401
        import torch

        devices = [self._device] if self._device.type == "cuda" else []
        with torch.inference_mode(), torch.random.fork_rng(devices):
            torch.manual_seed(seed)
            generated = self._model.generate(**inputs, **self._settings.generation)
        new = generated[:, inputs["input_ids"].shape[1] :]
        decoded: list[str] = self._processor.batch_decode(
            new, skip_special_tokens=True, clean_up_tokenization_spaces=False
        )
        return decoded[0]


def seed(image_sha256: str, sample: int) -> int:
    """Give the seed of a sample, so that it depends on neither order nor worker nor the other samples."""
    digest = hashlib.sha256(f"{image_sha256}:{sample}".encode()).digest()
    return int.from_bytes(digest[:8], "big") >> 1


def parse_reply(reply: str) -> float:
    """Read the first number of the last answer; ReplyError where there is none.

    The authors draw a random number then, and take any number of a reply without an answer.
    """
    answers = _ANSWER.findall(reply)
    if not answers:
        raise ReplyError(f"The reply holds no <answer>: {_quote(reply)}", [reply])
    number = _NUMBER.search(answers[-1])
    score = float(number.group()) if number else math.nan
    if not math.isfinite(score):
        raise ReplyError(f"The answer holds no number: {_quote(answers[-1])}", [reply])
    return score


def fitted_size(width: int, height: int) -> tuple[int, int]:
    """Give the size in pixels to which qwen-vl-utils 0.0.14 (smart_resize) brings a picture."""
    if max(width, height) > _LONGEST_RATIO * min(width, height):
        raise MetricError(
            f"{KEY} takes no picture more than {_LONGEST_RATIO} times as long as wide; "
            f"this one is {width} x {height}."
        )
    sides = [max(_FACTOR, round(side / _FACTOR) * _FACTOR) for side in (width, height)]
    if math.prod(sides) > _MOST_PIXELS:
        scale = math.sqrt(width * height / _MOST_PIXELS)
        sides = [math.floor(side / scale / _FACTOR) * _FACTOR for side in (width, height)]
    elif math.prod(sides) < _FEWEST_PIXELS:
        scale = math.sqrt(_FEWEST_PIXELS / (width * height))
        sides = [math.ceil(side * scale / _FACTOR) * _FACTOR for side in (width, height)]
    return sides[0], sides[1]


def _quote(reply: str) -> str:
    text = " ".join(reply.split())
    return f"“{text}”" if len(text) <= _QUOTED else f"“… {text[-_QUOTED:]}”"
