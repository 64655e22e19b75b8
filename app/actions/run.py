"""The menu Run: steps, playing, generation."""

from __future__ import annotations

from app.actions.action import Action

RUN: tuple[Action, ...] = (
    Action("run.next_step", "&Next step", "Run", "Right", "Look at the next step", icon="caret-right"),
    Action(
        "run.previous_step", "&Previous step", "Run", "Left", "Look at the step before", icon="caret-left"
    ),
    Action(
        "run.first_step", "&First step", "Run", "Home", "Look at the first step", icon="caret-double-left"
    ),
    Action("run.last_step", "&Last step", "Run", "End", "Look at the last step", icon="caret-double-right"),
    Action(
        "run.play",
        "Pla&y",
        "Run",
        "Ctrl+Space",
        "Step after step to the end",
        icon="play",
        checkable=True,
        section=True,
    ),
    Action("run.play_faster", "Play faster", "Run", "Ctrl+Shift+Up", "More steps a second"),
    Action("run.play_slower", "Play slower", "Run", "Ctrl+Shift+Down", "Fewer steps a second"),
    Action(
        "run.set_reference",
        "&Compare against this step",
        "Run",
        "Ctrl+R",
        "Put this step in the left pane",
        section=True,
    ),
    Action("run.next_reference", "Ne&xt reference step", "Run", "Shift+Right", "Left pane one step on"),
    Action(
        "run.previous_reference", "Pre&vious reference step", "Run", "Shift+Left", "Left pane one step back"
    ),
    Action(
        "run.go_to_reference",
        "Go to the refe&rence step",
        "Run",
        "Ctrl+Shift+R",
        "Look at the reference step",
    ),
    Action("run.next_run", "Next r&un", "Run", "Ctrl+Down", "Look at the next run of the list", section=True),
    Action("run.previous_run", "Previous run", "Run", "Ctrl+Up", "Look at the run before"),
    Action(
        "generate.start", "&Generate…", "Run", "Ctrl+G", "Plan runs and start them", icon="play", section=True
    ),
    Action("generate.pause", "Pause generation", "Run", "", "Wait after the step in work", icon="pause"),
    Action("generate.resume", "Resume generation", "Run", "", "Go on with the next step", icon="play"),
    Action("generate.cancel", "Cancel generation", "Run", "", "Stop; finished steps are kept", icon="stop"),
    Action(
        "reasoning.find",
        "Find in reasoning su&mmaries…",
        "Run",
        "Ctrl+Shift+J",
        "Words in what models said of their pictures, across the study",
        section=True,
    ),
    Action(
        "reasoning.contradictions",
        "C&ontradictions",
        "Run",
        "",
        "Runs whose evaluation claims success while a tag or the scores say failure",
    ),
    Action(
        "reasoning.judge",
        "&Judge reasoning summaries…",
        "Run",
        "Ctrl+J",
        "Find the step from which they admit degradation",
    ),
)
