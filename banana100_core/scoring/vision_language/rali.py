"""RALI: CLIP features of a picture, compared with prototypes that carry ratings.

Zhao et al., Reasoning as representation: rethinking visual reinforcement learning in image quality assessment
(ICLR 2026).
"""

from __future__ import annotations

import zipfile
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from banana100_core.errors import WeightsError
from banana100_core.scoring.vision_language.loading import load
from banana100_core.scoring.vision_language.rali_pca import Pca

if TYPE_CHECKING:
    from pathlib import Path
    from typing import Self

KEY = "rali"
REPOSITORY = "ByteDance/Q-Insight"
MODEL_TYPE = "clip"
PRECISION = "float32"
TEMPERATURE = 0.07

# Raised whenever a score can change though weights and libraries don't.
VERSION = "rali-1"

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Files:
    """What RALI needs: a CLIP model with its preprocessor, a PCA, and prototypes."""

    folder: Path

    @classmethod
    def of(cls, folder: Path) -> Self:
        """Accept the folder RALI itself, or the repository that holds it."""
        return cls(folder / "RALI" if (folder / "RALI").is_dir() else folder)

    @property
    def model(self) -> Path:
        """The folder of the CLIP model."""
        return self.folder / "best"

    @property
    def preprocessor(self) -> Path:
        """How pictures are brought to 336 pixels."""
        return self.model / "preprocessor_config.json"

    @property
    def basis(self) -> Path:
        """The prototypes."""
        return self.folder / "basis.npz"

    @property
    def pca(self) -> Path:
        """The PCA, converted."""
        return self.folder / "pca.npz"

    @property
    def pickle(self) -> Path:
        """The PCA as it is published."""
        return self.folder / "pca.pkl"


@dataclass(frozen=True, slots=True)
class Basis:
    """Prototypes (count, components) and the rating that each stands for, (count,)."""

    vectors: Floats
    scores: Floats

    @classmethod
    def read(cls, path: Path) -> Basis:
        """Read basis.npz; WeightsError where it isn't what it should be."""
        try:
            with np.load(path, allow_pickle=False) as data:
                basis = cls(data["vectors"].astype(np.float64), data["scores"].astype(np.float64).ravel())
        except (OSError, KeyError, ValueError, zipfile.BadZipFile) as error:
            raise WeightsError(f"{path} can't be read: {error}. Get it anew from {REPOSITORY}.") from error
        if basis.vectors.ndim != 2 or len(basis.vectors) != len(basis.scores):
            raise WeightsError(f"{path} doesn't hold one score a vector. Get it anew from {REPOSITORY}.")
        return basis


class Rali:
    """The model on one device; not for two threads."""

    def __init__(self, folder: Path, device: str) -> None:
        """Load from the published folder, its PCA converted before; WeightsError where it can't be."""
        import torch
        from transformers import AutoImageProcessor, CLIPModel

        files = Files.of(folder)
        self._pca = Pca.read(files.pca)
        self._basis = Basis.read(files.basis)
        self._device = torch.device(device)
        self._model = load(CLIPModel, files.model, self._device, torch.float32)
        try:
            # Pillow's resizing is what the authors' version of transformers used.
            self._processor = AutoImageProcessor.from_pretrained(
                files.model, backend="pil", local_files_only=True, trust_remote_code=False
            )
        except Exception as error:
            raise WeightsError(f"{files.preprocessor} can't be loaded: {error}") from error
        features = self._model.config.projection_dim
        if self._pca.mean.size != features or self._basis.vectors.shape[1] != len(self._pca.components):
            raise WeightsError(
                f"The model, pca.npz and basis.npz in {files.folder} don't belong together: "
                f"{features} features, a PCA from {self._pca.mean.size} to {len(self._pca.components)}, "
                f"prototypes of {self._basis.vectors.shape[1]}."
            )

    def rate(self, pixels: NDArray[np.uint8]) -> float:
        """Rate a picture, uint8 (H, W, 3) RGB."""
        return rating_of(self.features(pixels), self._pca, self._basis)

    def features(self, pixels: NDArray[np.uint8]) -> Floats:
        """Give the projected CLIP features of a picture."""
        import torch
        from PIL import Image

        inputs = self._processor(images=[Image.fromarray(pixels)], return_tensors="pt").to(self._device)
        with torch.inference_mode():
            output = self._model.get_image_features(**inputs)
        features: Floats = output.pooler_output[0].cpu().double().numpy()
        return features


def rating_of(features: Floats, pca: Pca, basis: Basis) -> float:
    """Weigh the prototypes' ratings by their nearness to the features: softmax of cosine over 0.07."""
    similarity = _normalised(basis.vectors) @ _normalised(pca.transform(features))
    weights = np.exp((similarity - similarity.max()) / TEMPERATURE)
    return float(weights @ basis.scores / weights.sum())


def _normalised(vectors: Floats) -> Floats:
    length = np.linalg.norm(vectors, axis=-1, keepdims=True)
    unit: Floats = vectors / np.maximum(length, np.finfo(np.float64).tiny)
    return unit
