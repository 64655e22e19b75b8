"""What a metric says of a picture: a score, and the replies that it was read from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from banana100_core.errors import MetricError

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True, slots=True)
class Rating:
    """A score and the replies that it was read from, one a sample; none where a metric doesn't speak.

    `device` is where it was computed, if not where the scorer computes.
    """

    score: float
    replies: tuple[str, ...] = ()
    device: str | None = None


class ReplyError(MetricError):
    """A reply holds no rating; `replies` are all that there were."""

    def __init__(self, message: str, replies: Sequence[str] = ()) -> None:
        super().__init__(message, tuple(replies))
        self.replies = tuple(replies)

    def __str__(self) -> str:
        return str(self.args[0])
