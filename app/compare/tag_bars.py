"""Tags and suggestions of a run as bars below its steps, each in a lane."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from app import theme
from banana100_core.project.records import Suggestion

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from banana100_core.catalog.failure_modes import FailureMode
    from banana100_core.project.records import Tag

TAG_LANES = 4
SUGGESTION_LANES = 2  # below those of tags, so that these never take all
_NO_LANE = -1


@dataclass(frozen=True, slots=True)
class Bar:
    """A tag or a suggestion as it is drawn: from a place of the slider to another, in a lane."""

    uuid: str
    text: str
    told: str  # of what stands behind it
    suggested: bool
    colour: str
    first: int
    last: int
    open_end: bool
    lane: int

    @property
    def shown(self) -> bool:
        """Whether there was a lane for it."""
        return self.lane != _NO_LANE


def lay_out(
    tags: Sequence[Tag],
    numbers: Sequence[int],
    modes: Mapping[str, FailureMode],
    suggestions: Sequence[Suggestion] = (),
    *,
    numbered: bool = True,
    annotator: str | None = None,
) -> list[Bar]:
    """Give each tag a bar in the topmost lane that is free, in order of onset; suggestions after all tags.

    Those of others than the `annotator`, where one is named, say whose they are.
    """
    if not numbers:
        return []
    in_order = sorted(tags, key=lambda tag: (tag.onset, tag.created_at))
    ends: list[int] = []
    bars = []
    for tag in in_order:
        bar = _bar(tag, numbers, modes, numbered=numbered)
        if annotator not in {None, tag.annotator}:
            bar = replace(bar, text=f"{bar.text} · {tag.annotator}")
        bars.append(_in_lane(bar, ends, TAG_LANES))
    most = len(ends) + SUGGESTION_LANES
    return bars + [
        _in_lane(_bar(each, numbers, modes, numbered=numbered), ends, most) for each in suggestions
    ]


def lanes_of(bars: Sequence[Bar]) -> int:
    """How many lanes there are bars in."""
    return 1 + max((bar.lane for bar in bars), default=-1)


def nearest_place(numbers: Sequence[int], number: int) -> int:
    """The place of the step whose number is nearest to another."""
    return min(range(len(numbers)), key=lambda place: abs(numbers[place] - number))


def _bar(
    each: Tag | Suggestion, numbers: Sequence[int], modes: Mapping[str, FailureMode], *, numbered: bool
) -> Bar:
    suggested = isinstance(each, Suggestion)
    end_step = None if isinstance(each, Suggestion) else each.end_step
    mode = modes.get(each.failure_mode)
    until = "?" if suggested else "" if end_step is None else f" to {end_step}"
    name = mode.name if mode else each.failure_mode
    return Bar(
        uuid=each.uuid,
        text=f"{name} from {each.onset}{until}" if numbered else name,
        told=_told(each),
        suggested=suggested,
        colour=theme.level_colour(mode.level).name() if mode else theme.CURVE_COLOURS[-1],
        first=nearest_place(numbers, each.onset),
        last=len(numbers) - 1 if end_step is None else nearest_place(numbers, end_step),
        open_end=end_step is None,
        lane=_NO_LANE,
    )


def _in_lane(bar: Bar, ends: list[int], most: int) -> Bar:
    """Put a bar in a lane, if there is one left; `ends` has the last place taken in each."""
    lane = next((lane for lane, end in enumerate(ends) if end < bar.first), len(ends))
    if lane >= most:
        return bar
    ends[lane : lane + 1] = [bar.last]
    return replace(bar, lane=lane)


def _told(each: Tag | Suggestion) -> str:
    if isinstance(each, Suggestion):
        return f"Suggested, not yet a tag.\n{each.reason}"
    note = f"\n{each.note}" if each.note else ""
    return f"by {each.annotator}, severity {each.severity}{note}"
