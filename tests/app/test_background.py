"""Readers go on after an error, which is told once."""

from __future__ import annotations

import pytest

from app.background import Background
from app.browser.facts import Facts
from app.browser.sparklines import Sparklines
from app.generation import starting
from banana100_core.errors import BananaError
from banana100_core.project.records import NewScore, NewTag
from banana100_core.project.scores import add_scores
from banana100_core.project.tags import add_tag
from tests.app.generation_desk import Desk
from tests.app.tagging_desk import Desk as TaggingDesk
from tests.app.tagging_desk import make_study


@pytest.fixture
def background(qtbot):
    background = Background("test")
    yield background
    background.stop()


def _fail(error: Exception) -> None:
    raise error


def test_who_waits_hears_of_a_failure_before_it_is_told(qtbot, background):
    heard = []
    background.failed.connect(heard.append)
    background.do(lambda: _fail(BananaError("gone")), heard.append, lambda: heard.append("otherwise"))
    qtbot.waitUntil(lambda: len(heard) == 2)
    assert heard == ["otherwise", "gone"]
    background.do(lambda: "done", heard.append, lambda: heard.append("otherwise"))
    qtbot.waitUntil(lambda: len(heard) == 3)
    assert heard[2] == "done"


def test_the_same_failure_of_what_is_done_again_and_again_is_told_once(qtbot, background):
    told, ended = [], []
    background.failed.connect(told.append)
    with qtbot.captureExceptions() as faults:
        for _ in range(3):
            for error in (BananaError("gone"), BananaError("late"), ZeroDivisionError("gone")):
                background.do(lambda error=error: _fail(error), None, lambda: ended.append(1), once=True)
        qtbot.waitUntil(lambda: len(ended) == 9)
        assert sorted(told) == ["gone", "late"]
        assert [kind for kind, _error, _trace in faults] == [ZeroDivisionError]
    background.stop()
    background.do(lambda: _fail(BananaError("gone")), None, lambda: ended.append(1), once=True)
    qtbot.waitUntil(lambda: len(ended) == 10)
    assert sorted(told) == ["gone", "gone", "late"]


def test_what_the_user_asks_for_tells_its_failure_each_time(qtbot, background):
    told = []
    background.failed.connect(told.append)
    for _ in range(2):
        background.do(lambda: _fail(BananaError("no room")))
    qtbot.waitUntil(lambda: told == ["no room"] * 2)


@pytest.fixture
def opened(session, study):
    session.open_project(study)
    return session


def _score(session, value: float) -> None:
    add_scores(session.project, [NewScore(session.run.initial_sha256, "piqe", "test-1", value)])


def test_what_the_list_tells_of_runs_is_read_again_after_an_error(qtbot, opened, monkeypatch):
    facts = Facts(opened)
    qtbot.waitUntil(lambda: facts.settled)
    monkeypatch.setattr("app.browser.facts.run_facts", lambda _project: _fail(ZeroDivisionError("a bug")))
    with qtbot.captureExceptions() as faults:
        for number in (1, 2):
            facts._become_stale()
            qtbot.waitUntil(lambda: facts.settled)
            assert len(faults) == 1, number
    monkeypatch.undo()
    run = opened.run.id
    add_tag(opened.project, "Ada", NewTag(run, "persistent_noise", 2))
    qtbot.waitUntil(lambda: "Ada" in facts.entries(opened.runs)[0].facts.annotators)


def test_curves_are_read_again_after_an_error(qtbot, opened, monkeypatch):
    curves, run = Sparklines(opened), opened.run.id
    monkeypatch.setattr(
        "app.browser.sparklines.run_curves", lambda *_asked: _fail(ZeroDivisionError("a bug"))
    )
    with qtbot.captureExceptions() as faults:
        for other in (1, 2):  # one wish after the other
            assert curves.curve(other) is None
            qtbot.waitUntil(lambda: curves.settled)
    assert len(faults) == 1
    monkeypatch.undo()
    _score(opened, 31.0)

    def is_read() -> bool:
        found = curves.curve(run)
        return found is not None and bool(found.points)

    qtbot.waitUntil(is_read)


def test_runs_are_read_again_after_an_error(qtbot, opened, monkeypatch):
    with qtbot.captureExceptions() as faults:
        monkeypatch.setattr(
            "banana100_core.project.runs.runs", lambda _project: _fail(ZeroDivisionError("a bug"))
        )
        for onset in (1, 2):
            add_tag(opened.project, "Ada", NewTag(opened.run.id, "persistent_noise", onset))
            with qtbot.waitSignal(opened.tags_updated):
                pass
            qtbot.waitUntil(lambda: not opened._reading)
        monkeypatch.undo()
    assert len(faults) == 1
    with qtbot.waitSignal(opened.runs_updated):
        add_tag(opened.project, "Ada", NewTag(opened.run.id, "persistent_noise", 3))
    assert opened.run.tag_count == 3


READERS = (
    "app.admissions.verdicts",
    "app.browser.facts.run_facts",
    "app.browser.sparklines.run_curves",
    "app.compare.region.region_statistics",
    "app.plots.gaps.gaps",
    "app.plots.source.step_scores",
    "app.reasoning.contradictions.contradictions",
    "app.reasoning.judging.plan_judgement",
    "app.reasoning.search.search",
    "app.suggestions.section.failure_modes",
)
"""What panels read with, wherever it is read from."""


def test_no_panel_stops_for_good_when_it_can_not_read(qtbot, window, study, monkeypatch):
    failed: set[str] = set()

    def broken(reader: str):
        def read(*_asked, **_more):
            failed.add(reader)
            raise ZeroDivisionError(reader)

        return read

    def wish() -> None:
        """Have everything read that the window shows, the tabs one after another."""
        _score(session, 30.0 + len(faults))
        session.suggestions_updated.emit()
        panels["compare"].meter.measure(panels["compare"].panes.right.visible_region)
        for tab, words in enumerate(("as", "was", "it", "it was")):
            scores.tabs.setCurrentIndex(tab)
            for part in (reasoning.search, reasoning.contradictions, reasoning.judge):
                reasoning._show(part)
                reasoning.search.field.setText(words)
                reasoning.search._ask()
                qtbot.waitUntil(window.is_settled)
        qtbot.waitUntil(lambda: not panels["compare"].meter._working)

    with qtbot.waitSignal(window.session.project_opened):
        window.open_project(study)
    qtbot.waitUntil(window.is_settled)
    session, panels = window.session, window.maker.panels
    scores, reasoning = panels["scores"], panels["reasoning"]
    for reader in READERS:
        monkeypatch.setattr(reader, broken(reader))
    with qtbot.captureExceptions() as faults:
        wish()
        wish()
        session.verdicts_updated.emit()
        qtbot.waitUntil(lambda: failed == set(READERS))
        qtbot.waitUntil(window.is_settled)
        told = [str(error) for _kind, error, _trace in faults if isinstance(error, ZeroDivisionError)]
    monkeypatch.undo()
    assert scores.tabs.count() == 4
    assert sorted(told) == sorted(READERS)  # each once
    with qtbot.captureExceptions() as later:
        wish()
    assert later == []
    assert reasoning.search.list.lines.rowCount() > 0


def test_a_plan_is_estimated_and_started_after_errors(qtbot, tmp_path, make_png, monkeypatch):
    desk = Desk(qtbot, tmp_path / "new.b100")
    coffee = tmp_path / "coffee.png"
    coffee.write_bytes(make_png(96, 64, 1))

    monkeypatch.setattr(
        "app.generation.planner.forecast", lambda *_asked, **_more: _fail(ZeroDivisionError("1"))
    )
    monkeypatch.setattr(starting, "start", lambda *_asked: _fail(ZeroDivisionError("2")))
    with qtbot.captureExceptions() as faults:
        desk.add(coffee)
        desk.plan(numbers=1)
        desk.until(lambda: desk.panel.is_settled() and desk.panel.plan is not None)
        for _ in range(2):
            desk.panel.start()
            desk.until(desk.panel.is_settled)
    assert [str(error) for _kind, error, _trace in faults] == ["1", "2", "2"]  # a start tells each time
    monkeypatch.undo()

    desk.plan(numbers=2)
    desk.until(lambda: desk.panel.is_settled() and desk.panel.planner.takes is not None)
    desk.panel.start()
    desk.until_done(1)
    desk.session.close_project()


def test_tags_and_queues_are_read_again_after_an_error(qtbot, tmp_path, make_png, monkeypatch):
    make_study(tmp_path / "study.b100", make_png, 2)
    desk = TaggingDesk(qtbot, tmp_path / "study.b100")

    def broken(name: str):
        return lambda *_asked, **_more: _fail(ZeroDivisionError(name))

    monkeypatch.setattr("app.tagging.board.stored.tags", broken("tags"))
    monkeypatch.setattr("app.tagging.work.work_queue", broken("queue"))
    with qtbot.captureExceptions() as faults:
        add_tag(desk.project, "Ada", NewTag(desk.session.run.id, "persistent_noise", 3))
        qtbot.waitUntil(lambda: {str(error) for _kind, error, _trace in faults} == {"tags", "queue"})
    monkeypatch.undo()
    add_tag(desk.project, "Ada", NewTag(desk.session.run.id, "counting_failure", 4))
    qtbot.waitUntil(lambda: len(desk.panel.board.rows) == 2)
    qtbot.waitUntil(lambda: desk.panel.is_settled() and desk.panel.work.counts == (0, 2))
    desk.close()
