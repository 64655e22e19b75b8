"""The menu Score."""

from __future__ import annotations

from app.actions.action import Action

SCORE: tuple[Action, ...] = (
    Action("score.missing", "&Score what is missing", "Score", "F9", "Score every picture without a score"),
    Action(
        "score.selected",
        "Score the selected r&uns",
        "Score",
        "Shift+F9",
        "Score the pictures without a score of the runs chosen in the list",
    ),
    Action("score.pause", "&Pause scoring", "Score", "", "Wait after the picture in work", icon="pause"),
    Action("score.resume", "&Resume scoring", "Score", "", "Go on with the next picture", icon="play"),
    Action("score.cancel", "&Cancel scoring", "Score", "", "Stop; scores made are kept", icon="stop"),
    Action(
        "score.retry_failed",
        "Re&try failed scores",
        "Score",
        "",
        "Forget failures and score them again",
        section=True,
    ),
    Action(
        "score.save_gaps",
        "Save &gaps…",
        "Score",
        "",
        "Write the heat map of score gaps as SVG, PNG or CSV",
        icon="export",
        section=True,
    ),
    Action(
        "score.terms",
        "Ter&ms of pyiqa…",
        "Score",
        "",
        "Read and accept what the metrics that run through pyiqa ask for",
        section=True,
    ),
)
