"""What the keys do, in words, while regions are drawn and changed, and why they can't be."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.compare.outlines.geometry import handles
from banana100_core.project.records import RegionKind

if TYPE_CHECKING:
    from app.compare.outlines.outline import Outline
    from app.session import ChosenTag
    from banana100_core.project.regions import Points

_READ_ONLY = "This project is open for reading only."


def hint_for(
    drawing: RegionKind | None, mode: str, outline: Outline | None, points: Points, handle: int | None
) -> str:
    """The hint for what is being done; empty when nothing is."""
    if drawing is RegionKind.BOX:
        return f"Box for {mode}: drag over the picture, or Enter for one in the middle. Esc leaves."
    if drawing is RegionKind.POLYGON:
        return (
            f"Polygon for {mode}: click its corners; Enter or a double click closes it, "
            "Backspace takes the last one back. Esc leaves."
        )
    if outline is None:
        return ""
    if not outline.own:
        return f"{outline.label} by {outline.annotator}, who alone changes it. Esc lets go."
    if handle is not None:
        more = (
            "Ins adds one, Del removes one" if outline.kind is RegionKind.POLYGON else "Tab goes to the next"
        )
        count = len(handles(outline.kind, points))
        return f"Handle {handle + 1} of {count}: arrows move it, Shift by 10. {more}. Esc goes back."
    gone = "ends it before this step" if outline.held else "removes it"
    return (
        f"{outline.label}, {_where(outline.kind, points)}: arrows move it, Shift by 10; "
        f"Enter for its handles, Del {gone}. Esc lets go."
    )


def why_not_outlined(tag: ChosenTag | None, annotator: str, *, read_only: bool) -> str:
    """Why an annotator can't outline where a tag shows; empty when they can."""
    if read_only:
        return _READ_ONLY
    if tag is None:
        return "Choose a tag first, or make one with the key of its failure mode."
    if tag.annotator != annotator:
        return f"This tag is {tag.annotator}'s; only its annotator outlines it."
    return ""


def why_not_changed(outline: Outline, *, read_only: bool) -> str:
    """Why a region can't be changed here; empty when it can."""
    if read_only:
        return _READ_ONLY
    return "" if outline.own else f"This region is {outline.annotator}'s; only its annotator changes it."


def _where(kind: RegionKind, points: Points) -> str:
    xs, ys = zip(*points, strict=True)
    what = "box" if kind is RegionKind.BOX else f"polygon of {len(points)} corners"
    return f"{what}, {max(xs) - min(xs):g} × {max(ys) - min(ys):g} at {min(xs):g}, {min(ys):g}"
