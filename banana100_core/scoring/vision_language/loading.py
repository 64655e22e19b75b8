"""Loading models through transformers, from local folders only, and only if every weight is there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from banana100_core.errors import WeightsError

if TYPE_CHECKING:
    from pathlib import Path

_NAMED = 3  # weights that an error names


def load(model_class: Any, folder: Path, device: Any, dtype: Any) -> Any:  # noqa: ANN401 - torch is not typed here
    """Load a model of a class of transformers for inference; WeightsError where it can't be.

    transformers only warns of weights that are missing and draws them at random: here that is an error.
    """
    try:
        model, found = model_class.from_pretrained(
            folder,
            dtype=dtype,
            device_map=device,
            local_files_only=True,
            trust_remote_code=False,
            output_loading_info=True,
        )
    except Exception as error:
        raise WeightsError(f"The model in {folder} can't be loaded: {error}") from error
    missing = sorted(found["missing_keys"]) + sorted(str(key) for key in found["mismatched_keys"])
    if missing:
        some = ", ".join(missing[:_NAMED]) + (" ..." if len(missing) > _NAMED else "")
        raise WeightsError(
            f"The model in {folder} lacks {len(missing)} of its weights ({some}). Get the folder anew."
        )
    return model.eval()
