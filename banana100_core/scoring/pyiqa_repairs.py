"""What pyiqa 0.1.16 needs before it makes some metrics: no downloads, nothing unverified, no gaps.

Only workers import this module; each repair changes pyiqa's modules in their process.
"""

from __future__ import annotations

import importlib
from contextlib import contextmanager
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from banana100_core.catalog.metrics import Place

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from banana100_core.scoring.weights import FoundWeights

# Without these imports first, pyiqa imports all of its architectures to find one.
_ARCHITECTURES = {"topiq_nr": "topiq_arch", "pi": "nrqm_arch", "ilniqe": "niqe_arch"}


@contextmanager
def repaired(metric: str, weights: Iterable[FoundWeights]) -> Iterator[None]:
    """Repair what a metric needs while it is made, from weights that are verified."""
    if metric in _ARCHITECTURES:
        _architecture(_ARCHITECTURES[metric])
    for found in weights:
        if found.file.place is Place.CLIP:
            _trust_clip(found)
    if metric == "qalign":
        _complete_qalign()
    if metric == "liqe":
        with _no_kept_text_features():
            yield
    else:
        yield


def _architecture(name: str) -> Any:  # noqa: ANN401 - pyiqa is not typed
    return importlib.import_module(f"pyiqa.archs.{name}")


def _trust_clip(found: FoundWeights) -> None:
    """Let pyiqa take CLIP's file as verified: one that its own list doesn't know it would fetch anew."""
    models = _architecture("clip_model")._MODELS  # noqa: SLF001 - there is no other way in
    for model, address in models.items():
        if address.endswith(f"/{found.file.name}"):
            models[model] = f"verified:/{found.sha256}/{found.file.name}"


@contextmanager
def _no_kept_text_features() -> Iterator[None]:
    """Keep LIQE from the text features in pyiqa's folder: any weights may have made them, or any program."""
    module = _architecture("liqe_arch")
    kept = module.DEFAULT_CACHE_DIR
    with TemporaryDirectory(prefix="banana100-") as folder:
        module.DEFAULT_CACHE_DIR = folder
        try:
            yield
        finally:
            module.DEFAULT_CACHE_DIR = kept


def _complete_qalign() -> None:
    """Give Q-Align the method that transformers 5 has no longer, as transformers 4 had it.

    pyiqa lets its repository bring code of its own for generation, which is not needed and must not run.
    """
    import torch

    model = _architecture("q_align.modeling_mplug_owl2").MPLUGOwl2LlamaForCausalLM
    model.load_custom_generate = _no_code_of_its_own
    abstractor = _architecture("q_align.visual_encoder").MplugOwlVisualAbstractorModel
    if hasattr(abstractor, "invert_attention_mask"):
        return

    def invert_attention_mask(self: Any, mask: Any) -> Any:  # noqa: ANN401 - torch is not typed here
        return (1 - mask[:, None, None, :].to(self.dtype)) * torch.finfo(self.dtype).min

    abstractor.invert_attention_mask = invert_attention_mask


def _no_code_of_its_own(_model: Any, *_arguments: Any, **_options: Any) -> None:  # noqa: ANN401 - as above
    raise OSError("no code of a repository is run")  # which transformers takes for: there is none
