"""What a merge would do or did, in words."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from app.blinding import NO_MODEL
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


def details(report: MergeReport, blinding: Blinding) -> str:
    """What is beside the counts, in lines; without names of models where these are hidden."""
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
    lines += [
        f"Run {conflict.run_id}, {conflict.annotator}: {conflict.mine} here, {conflict.theirs} in "
        f"{Path(conflict.other).name}; the later word counts: {conflict.taken}"
        for conflict in report.review_conflicts
    ]
    if report.suggestions:
        lines.append(f"{count(report.suggestions, 'suggestion')} decided on there")
    lines += [_run_line(run, blinding) for run in report.new_runs[:_SHOWN]]
    # Tags of runs that only a copy has are counted with their runs.
    left_out = [left for left in report.left_out if left.reason != UNKNOWN_RUN]
    lines += [
        f"Left out: tag {left.tag_uuid} of {Path(left.other).name}: {left.reason}"
        for left in left_out[:_SHOWN]
    ]
    if len(left_out) > _SHOWN:
        lines.append(f"… and {len(left_out) - _SHOWN:,} more left out")
    return "\n".join(lines)


def value(state: TagState | None, name: str, modes: Mapping[str, str]) -> str:
    """What one side says in a field."""
    if state is None:
        return "removed" if name == "removed" else "—"
    if name == "removed":
        return "kept"
    said = state.said[name]
    if name == "regions":
        return regions_in_words(said.values())
    if name == "failure_mode":
        return modes.get(said, said)
    if name == "end_step" and said is None:
        return "to the end"
    return f"{said:.0%}" if name == "certainty" else str(said)


def differing(conflict: Conflict) -> str:
    """The fields in which a conflict's sides differ."""
    return ", ".join(FIELDS.get(name, name) for name in conflict.fields)


def _run_line(run: OtherRun, blinding: Blinding) -> str:
    model = NO_MODEL if blinding.models else run.model
    what = f"{run.initial_image} · {run.protocol} · {model} · r{run.repeat}"
    sizes = f"{count(run.steps, 'step')}, {in_bytes(run.byte_size)}, {count(run.tags, 'tag')}"
    why = f". It can't be added: {run.reason}" if run.reason else ""
    return f"Only in {Path(run.other).name}: {what} ({sizes}){why}"
