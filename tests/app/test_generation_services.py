"""The panel with a service: keys, budgets, retired models, failed calls, settings that an editor honours."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QLineEdit

from app.generation.progress import spending
from banana100_core.catalog.faults import Fault
from banana100_core.catalog.settings import INTERLEAVED, SeedMode, SessionMode
from banana100_core.generation.fake_gemini import FakeGemini
from banana100_core.generation.limits import Limits
from banana100_core.project.records import RunState
from banana100_core.project.runs import runs, steps
from tests.app.generation_desk import Desk

SECRET = "AIza-a-secret-of-the-window"


@pytest.fixture
def service(monkeypatch):
    """Starts the local stand-in for Gemini and points the client to it."""
    servers = []

    def start(*faults):
        server = FakeGemini(faults=faults, retry_delay=0.05, slow_seconds=0.1, every=1)
        servers.append(server)
        monkeypatch.setenv("GOOGLE_GEMINI_BASE_URL", server.url)
        monkeypatch.setenv("GEMINI_API_KEY", SECRET)
        monkeypatch.delenv("GOOGLE_API_KEY", raising=False)
        return server

    yield start
    for server in servers:
        server.close()


@pytest.fixture
def desk(qtbot, tmp_path, make_png):
    desk = Desk(qtbot, tmp_path / "study.b100")
    desk.until(lambda: desk.form.editors.box.count() > 0)
    file = tmp_path / "coffee.png"
    file.write_bytes(make_png(96, 64, 5))
    desk.add(file)
    yield desk
    desk.session.close_project()


def plan(desk, model="gemini-3-pro-image", *, numbers=2, repeats=1):
    desk.form.editors.choose("gemini", model)
    desk.form.steps.setValue(numbers)
    desk.form.repeats.setValue(repeats)
    desk.until(lambda: desk.form.editors.key.present is not None)


def test_without_a_key_nothing_starts_and_one_can_be_kept_unseen(desk, monkeypatch):
    keyring = pytest.importorskip("keyring")
    before = keyring.get_keyring()  # which would else choose among the classes there are, the next one too

    class Memory(keyring.backend.KeyringBackend):
        priority = 1
        kept = None

        def get_password(self, service, username):
            return Memory.kept

        def set_password(self, service, username, password):
            Memory.kept = password

        def delete_password(self, service, username): ...

    for variable in ("GOOGLE_API_KEY", "GEMINI_API_KEY", "GOOGLE_GENAI_USE_VERTEXAI"):
        monkeypatch.delenv(variable, raising=False)
    keyring.set_keyring(Memory())
    try:
        plan(desk)
        key = desk.form.editors.key
        desk.until(lambda: key.present is False)
        assert key.state.text() == "API key: missing."
        assert desk.panel.summary.hint.text() == "Nano Banana Pro needs an API key."
        assert not desk.panel.summary.start.isEnabled()
        assert key.field.echoMode() is QLineEdit.EchoMode.Password
        key.field.setText(SECRET)
        key.store.click()
        desk.until(lambda: key.present is True)
    finally:
        keyring.set_keyring(before)
    assert Memory.kept == SECRET
    assert key.state.text() == "API key: present, from the system's keyring."
    assert key.field.text() == ""
    assert desk.panel.summary.start.isEnabled()
    assert all(SECRET not in label.text() for label in desk.window.findChildren(QLabel))


def test_only_what_the_editor_honours_can_be_set(desk, service):
    service()
    settings = desk.form.settings
    desk.choose_editor("codec_loss")
    assert settings.seed_mode.isEnabled()
    for box in (settings.temperature, settings.resolution, settings.aspect_ratio, settings.session):
        assert not box.isEnabled()
        assert box.toolTip()
    assert "temperature, resolution, aspect ratio or session" in settings.limits.text()
    plan(desk, "gemini-2.5-flash-image")
    row = settings.resolution.findText("4K")
    assert not settings.resolution.model().item(row).isEnabled()
    assert "makes no 4K" in settings.resolution.itemData(row, Qt.ItemDataRole.ToolTipRole)
    plan(desk)
    settings.resolution.choose(INTERLEAVED)
    settings.temperature.choose(0.4)
    settings.aspect_ratio.choose("16:9")
    settings.seed_mode.choose(SeedMode.FIXED)
    settings.session.choose(SessionMode.SINGLE)
    run = desk.panel.plan.runs[0]
    assert [run.step(number).settings.resolution for number in (1, 2, 3, 4)] == ["1K", "2K", "4K", "1K"]
    assert (run.settings.temperature, run.settings.aspect_ratio) == (0.4, "16:9")
    assert run.settings.session is SessionMode.SINGLE
    assert run.step(1).seed == run.step(2).seed == 1
    settings.seed_mode.choose(SeedMode.NONE)
    assert desk.panel.plan.runs[0].step(1).seed is None
    desk.choose_editor("codec_loss")  # what it lacks is not asked of it
    assert desk.panel.plan.runs[0].settings.changed() == {"seed": "none"}


def test_a_protocol_of_ones_own_comes_from_a_file_with_its_settings(desk, tmp_path, service):
    service()
    plan(desk)
    file = tmp_path / "hats.toml"
    file.write_text(
        'title = "Hats"\nprompts = ["Add a <b>hat</b>.", "Take it off."]\n[settings]\ntemperature = 0.7\n'
    )
    box = desk.form.protocol
    box.load(file)
    assert box.box.currentText() == "Hats"
    assert box.prompts.text() == "1. Add a <b>hat</b>.\n2. Take it off."
    assert box.prompts.textFormat() == Qt.TextFormat.PlainText
    assert desk.form.settings.settings.temperature == 0.7
    assert desk.panel.plan.runs[0].protocol == "hats"
    file.write_text("prompts = []")
    box.load(file)
    assert "hats.toml" in box.problem.text()
    assert box.problem.isVisible()


def test_a_paid_plan_says_its_cost_and_what_the_budget_means(desk, service):
    service()
    plan(desk, numbers=10)
    figures = desk.settled_figures()
    assert figures["Cost"].startswith("$1.34 to $")
    assert "typical" in figures["Time"]
    assert desk.panel.summary.warning.text().startswith("No budget is set: up to $")
    desk.form.budget.setValue(1.0)
    assert "more than the budget of $1.00" in desk.panel.summary.warning.text()
    desk.choose_editor("codec_loss")
    assert not desk.form.limits.isVisible()
    assert desk.form.wishes().budget_usd is None


def test_failed_calls_are_listed_while_the_run_goes_on(desk, service):
    server = service(Fault.NO_IMAGE, Fault.RATE_LIMITED)
    plan(desk)
    desk.panel.summary.start.click()
    desk.until_done(1)
    assert server.accepted == 4
    failures = desk.panel.progress.failures
    desk.until(lambda: failures.count() == 2)
    told = [failures.item(row).text() for row in range(2)]
    assert any("Gemini gave no image (NO_IMAGE)" in line for line in told)
    assert any("429 RESOURCE_EXHAUSTED" in line for line in told)
    assert all(line.startswith("coffee · r1, step ") for line in told)
    assert desk.panel.progress.failure_fold.isVisible()
    desk.until(lambda: "spent" in desk.panel.progress.spent.text())


def test_a_retired_model_asks_for_the_id_of_another(desk, service):
    service(Fault.RETIRED)
    plan(desk, repeats=2)
    desk.panel.summary.start.click()
    trouble = desk.panel.progress.trouble
    desk.until(lambda: trouble.isVisible() and len(trouble.stop.runs) == 2)
    assert trouble.must.text() == "The model was retired. Name the one that takes its place."
    assert not trouble.go.isEnabled()
    trouble.model.setEditText("gemini-9-pro-image")
    assert trouble.go.text() == "Go on with 2 runs"
    trouble.go.click()
    desk.until_done(2)
    assert {run.model for run in runs(desk.project)} == {"gemini-9-pro-image"}


def test_a_spent_budget_asks_for_a_larger_one(desk, service):
    service()
    plan(desk, numbers=4)
    desk.form.budget.setValue(0.40)
    desk.session._news._timer.setInterval(1_000)  # it stops before anything is told of it
    desk.panel.summary.start.click()
    trouble = desk.panel.progress.trouble
    desk.until(trouble.isVisible)
    (run,) = runs(desk.project)
    assert run.state is RunState.STOPPED
    assert "$0.40" in desk.panel.progress.spent.text()
    assert trouble.budget.value() == pytest.approx(0.80)
    trouble.budget.setValue(5.0)
    trouble.go.click()
    desk.until_done(1)
    assert len(steps(desk.project, run.id)) == 5
    assert "of $5.00 spent" in desk.panel.progress.spent.text()


def test_a_model_that_the_catalog_lacks_can_be_named(desk, service):
    service()
    editors = desk.form.editors
    editors.box.setCurrentText("Another Gemini model…")
    assert editors.model_id.isVisible()
    assert "Write the id" in desk.panel.summary.hint.text()
    editors.model_id.setText("gemini-9-pro-image")
    desk.until(lambda: desk.panel.plan is not None)
    assert desk.panel.plan.runs[0].model == "gemini-9-pro-image"


def test_the_papers_images_are_listed_and_found_in_a_folder(desk, tmp_path, make_png):
    pictures = desk.form.pictures
    assert pictures.paper_fold.button.text() == "The paper's 13"
    pictures.paper_fold.open()
    texts = [label.text() for label in pictures.paper.findChildren(QLabel)]
    assert "1664 × 2432\nPreservation of asymmetric design and clean stylistic colors" in texts
    folder = tmp_path / "pictures"
    folder.mkdir()
    (folder / "Kokoro.png").write_bytes(make_png(1664, 2432, 1))
    (folder / "Sand.png").write_bytes(make_png(20, 20, 1))
    desk.panel.add_paper_images(folder)
    desk.until(lambda: "Kokoro" in desk.form.wishes().images)
    assert pictures.paper_fold.button.text() == "The paper's 13 · 1 here"
    assert "Sand.png is 20 × 20" in desk.told[0][1]


def test_an_initial_image_is_made_from_a_prompt_and_kept_with_it(desk, service):
    service()
    pictures = desk.form.pictures
    pictures.list.item(0).setCheckState(Qt.CheckState.Unchecked)
    desk.choose_editor("codec_loss")
    pictures.ask_text()
    pictures.text.name.setText("hat")
    pictures.text.prompt.setPlainText("A red hat on a <b>table</b>.")
    assert not pictures.text.make.isEnabled()
    assert pictures.text.note.text().endswith("makes no picture from a prompt.")
    plan(desk, numbers=1, repeats=2)
    assert pictures.text.make.isEnabled()
    pictures.text.name.setText("coffee")  # taken
    assert not pictures.text.make.isEnabled()
    pictures.text.name.setText("hat")
    pictures.text.make.click()
    assert desk.settled_figures()["Calls"] == "3 in 2 runs"
    assert desk.form.lines.text().startswith("hat, made first: A red hat on a <b>table</b>.")
    desk.panel.summary.start.click()
    desk.until_done(2)
    desk.until(lambda: "hat" in desk.form.wishes().images)
    assert pictures.to_make.prompts == {}
    assert steps(desk.project, runs(desk.project)[1].id)[0].prompt == "A red hat on a <b>table</b>."


def test_what_took_a_previews_place_is_offered(desk, service):
    server = service()
    server.strikes = lambda model, edit: Fault.RETIRED if model.endswith("-preview") else None
    desk.form.steps.setValue(1)
    desk.form.repeats.setValue(1)
    desk.form.editors.box.setCurrentText("Another Gemini model…")
    desk.form.editors.model_id.setText("gemini-3-pro-image-preview")
    desk.until(desk.panel.summary.start.isEnabled)
    desk.panel.summary.start.click()
    trouble = desk.panel.progress.trouble
    desk.until(trouble.isVisible)
    assert trouble.model.currentText() == "gemini-3-pro-image"
    # What is left of it is told until its thread has ended.
    desk.until(lambda: desk.panel.progress.overall.text() == "0 of 1 steps · 1 run stopped")
    trouble.go.click()
    desk.until_done(1)
    assert runs(desk.project)[0].model == "gemini-3-pro-image"


def test_a_key_of_the_environment_is_not_offered_to_be_changed(desk, service):
    service()
    plan(desk)
    key = desk.form.editors.key
    assert key.state.text() == "API key: present, from the environment variable GEMINI_API_KEY."
    assert not key.change.isVisible()


def test_answers_that_were_lost_are_told_apart_from_what_was_spent():
    limits = Limits(budget_usd=5.0)
    assert spending(0.0, Limits()) == ""
    assert spending(1.2, None) == "$1.20 spent"
    limits.answered(0.27, 0.14)
    assert spending(0.14, limits) == "$0.14 of $5.00 spent"
    limits.answered(0.27, None)
    assert spending(0.14, limits) == "$0.14 of $5.00 spent, and up to $0.27 for lost answers"
