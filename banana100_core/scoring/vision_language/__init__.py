"""VisualQuality-R1 and RALI, which pyiqa lacks: through transformers, from local model folders."""

from __future__ import annotations

from banana100_core.scoring.vision_language.availability import ADAPTED, Lack, lack, method_version

__all__ = ["ADAPTED", "Lack", "lack", "method_version"]
