"""The panel of reasoning: a step's summary by section, search, contradictions, and the judge at work."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QMainWindow

from app.actions import ActionRegistry
from app.reasoning.lines import Line
from app.reasoning.panel import ReasoningPanel
from app.reasoning.search import around_the_first
from app.session import Session
from banana100_core.catalog.faults import Fault
from banana100_core.catalog.judge import judge_model, judge_prompt
from banana100_core.generation.fake_gemini import FakeGemini
from banana100_core.imaging.decode import inspect
from banana100_core.project import Project
from banana100_core.project.images import NewImage, add_initial_image
from banana100_core.project.records import NewRun, NewStep, NewTag, Outcome, RunState
from banana100_core.project.runs import add_run, add_steps
from banana100_core.project.tags import add_tag
from banana100_core.project.verdicts import verdicts

GOOD = (
    "**Planning**\n\nI keep the <b>colours</b> of {run}.\n\n"
    "**Assessing Quality**\n\nA faithful replica without noise."
)
BAD = "**Planning**\n\nI keep it.\n\n**Assessing Quality**\n\nClose, yet I notice noise."
STEPS = 6


@pytest.fixture
def reasoned(tmp_path, make_png):
    """Two repeats of one image: the first admits noise from step 3 on, the second from 5 on."""
    path = tmp_path / "study.b100"
    with Project.create(path) as project:
        data = make_png(16, 16, 0)
        image = NewImage(inspect(data), data=data)
        add_initial_image(project, "coffee", image)
        for repeat, from_step in ((1, 3), (2, 5)):
            run_id = add_run(
                project,
                NewRun(
                    "coffee", "gemini", "gemini-3-pro-image", "replicate", repeat, STEPS, state=RunState.DONE
                ),
            )
            new = [(NewStep(run_id, 0, Outcome.INITIAL), image)]
            for step in range(1, STEPS + 1):
                made = make_png(16, 16, 10 * repeat + step)
                said = GOOD.format(run=f"run {run_id}") if step < from_step else BAD
                new.append(
                    (NewStep(run_id, step, Outcome.DONE, reasoning=said), NewImage(inspect(made), data=made))
                )
            add_steps(project, new)
        add_tag(project, "Ada", NewTag(2, "persistent_noise", 2))
    return path


class Desk:
    def __init__(self, qtbot, path):
        self.qtbot = qtbot
        self.window = QMainWindow()
        qtbot.addWidget(self.window)
        self.registry = ActionRegistry(self.window)
        self.session = Session(self.window)
        self.panel = ReasoningPanel(self.session, self.registry)
        self.window.setCentralWidget(self.panel)
        self.window.resize(1200, 400)
        self.window.show()
        qtbot.waitExposed(self.window)
        self.session.adopt_project(Project.open(path))

    def until(self, condition):
        self.qtbot.waitUntil(condition)

    def find(self, words):
        self.registry.qaction("reasoning.find").trigger()
        self.panel.search.field.setText(words)
        self.until(lambda: self.panel.search.settled)
        return self.panel.search.list.lines.lines

    def show_judge(self):
        self.registry.qaction("reasoning.judge").trigger()
        self.until(lambda: self.panel.judge.settled and self.panel.judge.plan is not None)
        return self.panel.judge


@pytest.fixture
def desk(qtbot, reasoned):
    desk = Desk(qtbot, reasoned)
    yield desk
    desk.session.close_project()


@pytest.fixture
def service(monkeypatch):
    server = FakeGemini(retry_delay=0.05, every=1)
    monkeypatch.setenv("GOOGLE_GEMINI_BASE_URL", server.url)
    monkeypatch.setenv("GEMINI_API_KEY", "any")
    monkeypatch.delenv("GOOGLE_API_KEY", raising=False)
    yield server
    server.close()


# The summary


def test_the_summary_of_the_step_is_shown_by_section_as_plain_text(desk) -> None:
    desk.session.choose_step(1)
    summary = desk.panel.summary
    assert summary.title.text == "Step 1 · coffee · r1"
    assert summary.text.splitlines() == [
        "Planning",
        "I keep the <b>colours</b> of run 1.",
        "Assessing Quality   evaluates the result",
        "A faithful replica without noise.",
    ]
    assert summary.verdict.text() == "Not judged"
    desk.session.choose_step(0)
    assert summary.text == ""
    assert "initial image" in summary._text.placeholderText()


# The search


def test_words_are_found_in_all_runs_and_a_click_goes_there(desk) -> None:
    found = desk.find("notice noise")
    assert [(line.run_id, line.step) for line in found] == [(1, 3), (1, 4), (1, 5), (1, 6), (2, 5), (2, 6)]
    assert found[0].title == "coffee · r1 · step 3"
    assert found[0].note == "Nano Banana Pro · replicate"
    assert [text for text, marked in found[0].pieces if marked] == ["notice", "noise"]
    assert "**" not in found[0].text
    assert desk.panel.search.count.text() == "6 steps"
    view = desk.panel.search.list
    QTest.mouseClick(
        view.viewport(), Qt.MouseButton.LeftButton, pos=view.visualRect(view.lines.index(4)).center()
    )
    assert (desk.session.run.id, desk.session.step) == (2, 5)
    desk.panel.search.selected_only.setChecked(True)
    desk.until(lambda: desk.panel.search.count.text() == "2 steps")
    assert desk.find("giraffe") == []
    assert desk.panel.search.count.text() == "Nothing found"


def test_enter_goes_to_the_first_that_was_found(desk) -> None:
    desk.find('"run 2"')
    QTest.keyClick(desk.panel.search.field, Qt.Key.Key_Return)
    assert (desk.session.run.id, desk.session.step) == (2, 1)


def test_markup_in_what_was_found_stays_text(desk) -> None:
    (line, *_) = desk.find("colours")
    assert "<b>colours</b>" in line.text
    tip = desk.panel.search.list.lines.index(0).data(Qt.ItemDataRole.ToolTipRole)
    assert "&lt;b&gt;" in tip


def test_a_line_begins_near_what_was_found() -> None:
    pieces = (("so much was said before that " * 5, False), ("noise", True), (" came", False))
    (before, marked), *rest = around_the_first(pieces)
    assert before.startswith("…")
    assert len(before) < 65
    assert not marked
    assert tuple(rest) == pieces[1:]


# Contradictions


def test_a_claim_of_success_against_a_tag_is_listed_and_opens_the_run_there(desk) -> None:
    desk.registry.qaction("reasoning.contradictions").trigger()
    view = desk.panel.contradictions
    desk.until(lambda: len(view.list.lines.lines) == 1)
    (line,) = view.list.lines.lines
    assert (line.run_id, line.step) == (2, 2)
    assert line.title == "coffee · r2 · 3 steps from 2"
    assert line.text.startswith("Persistent noise · claims: A faithful replica without noise.")
    assert line.note.endswith("by words")
    view.list.chosen.emit(line)
    assert (desk.session.run.id, desk.session.step) == (2, 2)
    add_tag(desk.session.project, "Ada", NewTag(1, "green_tint", 1))
    desk.until(lambda: [each.run_id for each in view.list.lines.lines] == [1, 2])
    assert view.state.text().startswith("2 runs. ")


# The judge


def test_the_plan_comes_first_then_verdicts_figures_and_marks(desk, service) -> None:
    judge = desk.show_judge()

    def texts():
        items = [judge.results.topLevelItem(row) for row in range(judge.results.topLevelItemCount())]
        return [item.text(column) for item in items for column in range(4)]

    assert judge.takes.text().startswith("6 calls, $0.00 to $0.")
    judge.runs.setCurrentIndex(1)
    desk.until(lambda: judge.settled and judge.plan.calls == 12)
    assert service.accepted == 0
    judge.start.click()
    desk.until(lambda: not judge.bench.sits)
    assert judge.told.text() == "12 summaries judged, $0.01 spent."
    assert service.accepted == 12
    desk.until(lambda: texts()[-1:] == ["12"])
    group = judge.results.topLevelItem(0)
    assert texts() == ["coffee · Nano Banana Pro · replicate", "4.0 ± 1.4", "4.0 ± 1.4", "12"]
    assert [group.child(row).text(1) for row in range(2)] == ["3", "5"]
    judge.results.itemClicked.emit(group.child(1), 1)
    assert (desk.session.run.id, desk.session.step) == (2, 5)
    assert desk.panel.summary.verdict.text() == f"{judge_model()}: admits degradation"
    desk.until(lambda: judge.takes.text().startswith("All 12 summaries are judged"))
    assert not judge.start.isEnabled()


def test_another_prompt_is_another_version_and_judges_anew(desk, service) -> None:
    judge = desk.show_judge()
    assert judge.fold.button.text() == f"Its prompt, version {judge_prompt().version}"
    judge.prompt.setPlainText("Does it admit anything at all?")
    assert judge.fold.button.text().startswith("Its prompt, version own-")
    desk.until(lambda: judge.settled and judge.plan.prompt.text == "Does it admit anything at all?")
    judge.start.click()
    desk.until(lambda: not judge.bench.sits)
    assert {each.prompt_version for each in verdicts(desk.session.project)} == {judge.plan.prompt.version}
    judge.prompt.setPlainText(" ")
    desk.until(lambda: judge.takes.text() == "Write what the judge is to be asked.")
    assert not judge.start.isEnabled()
    judge.restore.click()
    desk.until(lambda: judge.settled and judge.plan.prompt == judge_prompt())
    assert judge.plan.calls == 6


def test_a_judge_that_is_stopped_keeps_what_it_found(desk, service) -> None:
    service.faults = (Fault.RATE_LIMITED,)
    service.retry_delay = 30.0
    judge = desk.show_judge()
    judge.start.click()
    desk.until(lambda: service.accepted >= 1)
    assert judge.stop.isVisible()
    judge.stop.click()
    desk.until(lambda: not judge.bench.sits)
    assert judge.told.text().startswith("Stopped. ")
    assert judge.start.isVisible()


def test_a_refused_key_is_told_with_the_way_out(desk, service) -> None:
    service.faults = (Fault.UNAUTHORISED,)
    judge = desk.show_judge()
    judge.start.click()
    desk.until(lambda: not judge.bench.sits)
    assert "Check the API key" in judge.told.text()
    assert judge.told.property("error")
    assert verdicts(desk.session.project) == []


def test_closing_the_project_ends_the_judge(desk, service) -> None:
    service.faults = (Fault.RATE_LIMITED,)
    service.retry_delay = 30.0
    judge = desk.show_judge()
    judge.start.click()
    desk.until(lambda: service.accepted >= 1)
    desk.session.close_project()
    assert not judge.bench.sits
    assert desk.panel.summary.text == ""
    assert desk.panel.search.list.lines.lines == []


def test_lines_are_equal_by_what_they_say() -> None:
    line = Line(1, 2, "a", "b", (("c  d", False), (" e", True)))
    assert line.text == "c d e"
