"""The faults that the stand-in for Gemini can be asked for."""

from __future__ import annotations

from enum import StrEnum


class Fault(StrEnum):
    """What can go wrong. `UNAUTHORISED` and `RETIRED` last; the others strike a request in turn."""

    OVERLOADED = "overloaded"  # 503, three times in a row
    RATE_LIMITED = "rate-limited"  # 429 with a retryDelay
    CUT = "cut"  # the connection ends in the middle of the body
    MISLABELLED = "mislabelled"  # JPEG bytes called PNG
    NO_IMAGE = "no-image"
    SAFETY = "safety"  # the answer is blocked
    BLOCKED = "blocked"  # the prompt is blocked: no candidate
    THOUGHT_ONLY = "thought-only"  # an image of the thinking is all there is
    UNKNOWN_FINISH = "unknown-finish"  # a finish reason that no client knows
    SLOW = "slow"
    LARGE = "large"  # an answer of 30 MB
    UNAUTHORISED = "401"
    RETIRED = "retired"  # 404 for gemini-3-pro-image


LASTING = (Fault.UNAUTHORISED, Fault.RETIRED)
