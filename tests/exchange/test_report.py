"""The report: whole in itself, and whatever a text in the study says, only text."""

from __future__ import annotations

from html.parser import HTMLParser

import pytest

from banana100_core.errors import ProjectError
from banana100_core.exchange.report import as_html, write_report
from banana100_core.imaging.decode import inspect
from banana100_core.project.images import NewImage, add_initial_image
from banana100_core.project.records import NewRun, NewScore, NewStep, NewSuggestion, NewTag, Outcome
from banana100_core.project.runs import add_run, add_steps
from banana100_core.project.scores import add_scores
from banana100_core.project.suggestions import accept_suggestion, replace_suggestions, suggestions
from banana100_core.project.tags import add_tag

NASTY = "</table><script>alert(1)</script><img src=x onerror=alert(2)>"


class Reader(HTMLParser):
    """Notes every element, attribute and word."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.words: list[str] = []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs

    def handle_data(self, data):
        self.words.append(data)


@pytest.fixture
def study(project, make_png):
    """Two annotators, scores, a suggestion, and nasty names everywhere."""
    data = make_png()
    image = NewImage(inspect(data), data)
    add_initial_image(project, NASTY, image, credit=f"by {NASTY}")
    run_id = add_run(project, NewRun(NASTY, "codec_loss", NASTY, NASTY, steps_planned=5))
    for number in range(6):
        made = make_png(seed=number)
        step = NewStep(run_id, number, Outcome.DONE if number else Outcome.INITIAL)
        add_steps(project, [(step, NewImage(inspect(made), made))])
        add_scores(project, [NewScore(inspect(made).sha256, "brisque", "m", 30.0 - number)])
    add_tag(project, NASTY, NewTag(run_id, "green_tint", 2, note=NASTY))
    add_tag(project, "Bo", NewTag(run_id, "green_tint", 4))
    replace_suggestions(project, [run_id], [NewSuggestion(run_id, "wrinkles", 3, 1.0, NASTY, "t")])
    accept_suggestion(project, "Bo", suggestions(project)[0].uuid)
    return project


def read(html) -> Reader:
    reader = Reader()
    reader.feed(html)
    return reader


def test_it_has_all_parts(study):
    text = " ".join(read(as_html(study)).words)
    for part in ("Runs", "Score gaps", "Δ5", "Failure modes", "Green tint", "Agreement", "Suggestions"):
        assert part in text
    for part in ("Most disputed runs", "Credits and licences", "Neither is a generative model", "100%"):
        assert part in text


def test_texts_of_the_study_are_only_text(study):
    html = as_html(study)
    reader = read(html)
    assert NASTY in " ".join(reader.words)
    assert not {"script", "img", "iframe", "object", "link", "a"} & set(reader.tags)
    assert not [name for name, _value in reader.attributes if name.startswith("on")]
    assert not [value for name, value in reader.attributes if name in {"src", "href"}]
    policy = dict(reader.attributes)["content"]
    assert policy.startswith("default-src 'none'")


def test_an_empty_study_has_a_report(project):
    text = " ".join(read(as_html(project)).words)
    assert "There are no scores yet" in text
    assert "Nothing is tagged yet" in text


def test_it_replaces_an_older_report_and_nothing_else(study, tmp_path):
    out = tmp_path / "report.html"
    write_report(study, out)
    write_report(study, out)
    other = tmp_path / "other.html"
    other.write_text("mine", "utf-8")
    with pytest.raises(ProjectError, match="is no report"):
        write_report(study, other)
    with pytest.raises(ProjectError, match="is no report"):
        write_report(study, study.path)
    with pytest.raises(ProjectError, match="no folder"):
        write_report(study, tmp_path / "nowhere" / "x.html")
    assert other.read_text("utf-8") == "mine"
