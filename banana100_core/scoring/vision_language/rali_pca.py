"""RALI's PCA, and the conversion of its pickle, of which only arrays and scikit-learn's PCA are let in."""

from __future__ import annotations

import pickle
import zipfile
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from banana100_core.errors import WeightsError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

WARNING = (
    "A pickle can hold a program that runs when it is opened. Only NumPy's arrays and scikit-learn's PCA are "
    "let in here, and anything else is refused. Convert it only if you know where it is from."
)

Floats = NDArray[np.float64]

_ARRAYS = {
    (f"numpy.{core}.{module}", name)
    for core in ("core", "_core")
    for module, name in (("multiarray", "_reconstruct"), ("multiarray", "scalar"), ("numeric", "_frombuffer"))
} | {("numpy", "ndarray"), ("numpy", "dtype")}
_PCAS = {
    ("sklearn.decomposition._pca", "PCA"),
    ("sklearn.decomposition.pca", "PCA"),
    ("sklearn.decomposition._incremental_pca", "IncrementalPCA"),
    ("sklearn.decomposition.incremental_pca", "IncrementalPCA"),
}


@dataclass(frozen=True, slots=True)
class Pca:
    """A whitening PCA: mean (features,), components (components, features), and variance.

    A variance of the features, (features,), scales them before they meet the components; one of the
    components, (components,), scales what comes of it.
    """

    mean: Floats
    components: Floats
    feature_variance: Floats | None = None
    component_variance: Floats | None = None

    def __post_init__(self) -> None:
        count, features = self.components.shape if self.components.ndim == 2 else (0, 0)
        variance, size = self.feature_variance, features
        if variance is None:
            variance, size = self.component_variance, count
        fits = variance is not None and variance.shape == (size,) and self.mean.shape == (features,)
        if not fits or variance is None or not count:
            raise WeightsError("The mean, the components and the variance of RALI's PCA don't fit together.")
        if not all(np.isfinite(array).all() for array in (self.mean, self.components, variance)):
            raise WeightsError("RALI's PCA holds values that are no numbers.")

    def transform(self, features: Floats) -> Floats:
        """Project features, (features,), to (components,)."""
        centred = features - self.mean
        if self.feature_variance is not None:
            centred = centred / _root(self.feature_variance)
        projected: Floats = centred @ self.components.T
        return projected if self.component_variance is None else projected / _root(self.component_variance)

    @classmethod
    def read(cls, path: Path) -> Pca:
        """Read what `convert_rali_pca` wrote; WeightsError where it isn't that."""
        try:
            with np.load(path, allow_pickle=False) as data:
                arrays = {name: data[name].astype(np.float64) for name in data.files}
            return cls(**arrays)
        except (OSError, TypeError, ValueError, zipfile.BadZipFile) as error:
            raise WeightsError(
                f"{path} can't be read: {error}. Convert pca.pkl anew. Type: banana100 weights convert-rali"
            ) from error

    def write(self, path: Path) -> None:
        """Write all arrays to a npz file."""
        arrays: dict[str, Any] = {each.name: getattr(self, each.name) for each in fields(self)}
        partial = path.with_name(f"{path.stem}.partial.npz")
        try:
            np.savez(partial, **{name: array for name, array in arrays.items() if array is not None})
            partial.replace(path)
        except OSError as error:
            partial.unlink(missing_ok=True)
            raise WeightsError(f"{path} can't be written: {error.strerror}.") from error


def convert_rali_pca(source: Path, target: Path) -> Pca:
    """Convert RALI's pca.pkl to a npz file; show `WARNING` before you call this.

    Nothing of the pickle runs and scikit-learn isn't needed. Raises WeightsError for a pickle that asks for
    anything but arrays and a PCA, or doesn't hold a PCA.
    """
    pca = _pca_of(_unpickle(source), source)
    pca.write(target)
    return pca


class _Unpickler(pickle.Unpickler):
    """Builds NumPy's arrays, and of scikit-learn's PCA only what it remembers."""

    def __init__(self, file: Any) -> None:  # noqa: ANN401 - any binary file
        super().__init__(file)
        self.remembered = type("Remembered", (), {"__setstate__": _remember})

    def find_class(self, module: str, name: str) -> Any:  # noqa: ANN401
        if (module, name) in _PCAS:
            return self.remembered
        if (module, name) in _ARRAYS:
            return super().find_class(module.replace("numpy.core.", "numpy._core."), name)
        raise pickle.UnpicklingError(f"it asks for {module}.{name}")


def _remember(me: object, state: dict[str, object]) -> None:
    me.__dict__.update(state)


def _unpickle(path: Path) -> object:
    try:
        with path.open("rb") as file:
            return _Unpickler(file).load()
    except OSError as error:
        raise WeightsError(f"{path} can't be read: {error.strerror}.") from error
    except Exception as error:  # a damaged pickle can raise anything
        raise WeightsError(
            f"{path} was refused: {error}. Get pca.pkl from its authors' repository, ByteDance/Q-Insight."
        ) from error


def _pca_of(content: object, path: Path) -> Pca:
    state = content if isinstance(content, dict) else getattr(content, "__dict__", {})
    mean, components = _array(state, "mean"), _array(state, "components")
    # An incremental PCA remembers the variance of each feature too.
    of_features, of_components = _array(state, "var", "variance"), _array(state, "explained_variance")
    if mean is None or components is None or (of_features is None and of_components is None):
        raise WeightsError(f"{path} holds no PCA: mean, components and variance are needed.")
    if of_features is not None:
        return Pca(mean.ravel(), components, feature_variance=of_features.ravel())
    return Pca(mean.ravel(), components, component_variance=of_components)


def _array(state: Mapping[str, object], *names: str) -> Floats | None:
    for key in (key for name in names for key in (name, f"{name}_")):
        value = state.get(key)
        if isinstance(value, np.ndarray) and value.dtype.kind in "fiu":
            return value.astype(np.float64)
    return None


def _root(variance: Floats) -> Floats:
    root: Floats = np.sqrt(np.maximum(variance, np.finfo(np.float64).eps))
    return root
