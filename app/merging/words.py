"""What a merge would do or did, in words."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from app.blinding import NO_MODEL, NO_SUCH_STEP
from banana100_core.project.merge import UNKNOWN_RUN
from banana100_core.project.merge_sides import regions_in_words

if TYPE_CHECKING:
    from collections.abc import Mapping

    from app.blinding import Blinding
    from banana100_core.project.merge import Conflict, MergeReport
    from banana100_core.project.merge_runs import OtherRun
    from banana100_core.project.merge_sides import TagState

FIELDS = {
    "removed": "Tag",
    "failure_mode": "Failure mode",
    "annotator": "Annotator",
    "onset": "Onset",
    "end_step": "End step",
    "severity": "Severity",
    "certainty": "Certainty",
    "note": "Note",
    "review_state": "Review",
    "regions": "Regions",
}
_SHOWN = 100
_OF_STEPS = ("onset", "end_step", "regions")
_HIDDEN = "hidden"


def count(number: int, noun: str) -> str:
    """A number of things: "1 run", "1,240 runs"."""
    return f"{number:,} {noun if number == 1 else noun + 's'}"


def in_bytes(size: float) -> str:
    """A number of bytes, in megabytes from one on."""
    return f"{size / 1e6:,.1f} MB" if size >= 1e5 else f"{size / 1e3:,.0f} kB"


def summary(report: MergeReport, *, done: bool) -> str:
    """The counts, in one line."""
    parts = [
        f"{count(report.added, 'tag')} {'added' if done else 'to add'}",
        f"{report.changed:,} {'changed' if done else 'to change'}",
        f"{report.removed:,} {'removed' if done else 'to remove'}",
        f"{report.unchanged:,} the same",
    ]
    if report.runs_added:
        parts.append(f"{count(report.runs_added, 'run')} added")
    return ", ".join(parts)


def may_be_told(conflict: Conflict, blinding: Blinding, annotator: str) -> bool:
    """Whether a conflict is shown to an annotator: one of another's tag is not while these are hidden."""
    states = [state for state in (conflict.mine, conflict.theirs) if state is not None]
    return not blinding.tags or all(state.row["annotator"] == annotator for state in states)


def details(report: MergeReport, blinding: Blinding, annotator: str) -> str:
    """What is beside the counts, in lines; without what is hidden from an annotator."""
    lines = []
    if report.edits:
        lines.append(f"{count(report.edits, 'entry').replace('entrys', 'entries')} of the log of edits")
    if report.new_failure_modes:
        lines.append(f"New failure modes: {', '.join(report.new_failure_modes)}")
    lines += [
        f"Failure mode {change.name} as in {Path(change.other).name}: {', '.join(change.fields)}"
        for change in report.changed_failure_modes
    ]
    if report.reviews:
        lines.append(f"{count(report.reviews, 'review')} of runs")
    said = [each for each in report.review_conflicts if not blinding.tags or each.annotator == annotator]
    lines += [
        f"Run {conflict.run_id}, {conflict.annotator}: {conflict.mine} here, {conflict.theirs} in "
        f"{Path(conflict.other).name}; the later word counts: {conflict.taken}"
        for conflict in said
    ]
    if unsaid := len(report.review_conflicts) - len(said):
        lines.append(f"{count(unsaid, 'conflict')} between reviews of others' work; the later word counts")
    if report.suggestions:
        lines.append(f"{count(report.suggestions, 'suggestion')} decided on there")
    lines += [_run_line(run, blinding) for run in report.new_runs[:_SHOWN]]
    # Tags of runs that only a copy has are counted with their runs.
    left_out = [left for left in report.left_out if left.reason != UNKNOWN_RUN]
    lines += [
        f"Left out: tag {left.tag_uuid} of {Path(left.other).name}: "
        + (NO_SUCH_STEP if blinding.steps else left.reason)
        for left in left_out[:_SHOWN]
    ]
    if len(left_out) > _SHOWN:
        lines.append(f"… and {len(left_out) - _SHOWN:,} more left out")
    return "\n".join(lines)


def values(conflict: Conflict, name: str, modes: Mapping[str, str], *, numbered: bool) -> tuple[str, str]:
    """What this project and the copy say in a field.

    Where numbers of steps are hidden, it is told which of the two is the earlier.
    """
    mine, theirs = conflict.mine, conflict.theirs
    if numbered or name not in _OF_STEPS or mine is None or theirs is None:
        return _value(mine, name, modes, numbered=numbered), _value(theirs, name, modes, numbered=numbered)
    here, there = mine.said[name], theirs.said[name]
    if name == "regions":
        told = _value(mine, name, modes, numbered=False), _value(theirs, name, modes, numbered=False)
        same = told[0] == told[1] and here != there
        return (told[0], f"{told[1]}, at other steps") if same else told
    return _beside(here, there), _beside(there, here)


def _beside(step: int | None, other: int | None) -> str:
    """How a step stands to another; none is the end of the run."""
    if step is None:
        return "to the end"
    if step == other:
        return _HIDDEN
    if other is None:
        return "before the end"
    return "the earlier step" if step < other else "the later step"


def _value(state: TagState | None, name: str, modes: Mapping[str, str], *, numbered: bool) -> str:
    if name == "removed":
        return "removed" if state is None else "kept"
    if state is None:
        return "—"
    said = state.said[name]
    match name:
        case "regions":
            text = regions_in_words(said.values(), numbered=numbered)
        case "failure_mode":
            text = modes.get(said, said)
        case "certainty":
            text = f"{said:.0%}"
        case "end_step" if said is None:
            text = "to the end"
        case "onset" | "end_step" if not numbered:
            text = _HIDDEN
        case _:
            text = str(said)
    return text


def differing(conflict: Conflict) -> str:
    """The fields in which a conflict's sides differ."""
    return ", ".join(FIELDS.get(name, name) for name in conflict.fields)


def _run_line(run: OtherRun, blinding: Blinding) -> str:
    model = NO_MODEL if blinding.models else run.model
    what = f"{run.initial_image} · {run.protocol} · {model} · r{run.repeat}"
    parts = (
        "" if blinding.steps else count(run.steps, "step"),
        in_bytes(run.byte_size),
        "" if blinding.tags else count(run.tags, "tag"),
    )
    sizes = ", ".join(part for part in parts if part)
    why = f". It can't be added: {run.reason}" if run.reason else ""
    return f"Only in {Path(run.other).name}: {what} ({sizes}){why}"
