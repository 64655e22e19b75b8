"""pyiqa's terms: asked for once, and needed by what runs through pyiqa alone."""

from __future__ import annotations

import pytest

from banana100_core.errors import MetricError
from banana100_core.scoring import terms
from banana100_core.scoring.methods import State, ready_methods, statuses
from banana100_core.scoring.native.score import NATIVE_METRICS

needs_pyiqa = pytest.mark.skipif(
    statuses({"niqe": "pyiqa"})["niqe"].state is State.LIBRARY_MISSING, reason="pyiqa is not installed"
)


@pytest.fixture(autouse=True)
def nothing_accepted(accepted_terms, monkeypatch) -> None:
    monkeypatch.delenv(terms.VARIABLE)


def test_they_are_accepted_once() -> None:
    assert not terms.accepted()
    with pytest.raises(terms.TermsNotAcceptedError, match=r"noncommercial use only.* --accept-terms"):
        terms.need_terms()
    terms.accept()
    assert terms.accepted()
    terms.need_terms()


def test_a_file_that_says_something_else_accepts_nothing(tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    for content in ("", "[]", "{}", '{"version": 0}', "not json"):
        (tmp_path / "banana100").mkdir(exist_ok=True)
        (tmp_path / "banana100" / "pyiqa-terms.json").write_text(content)
        assert not terms.accepted()


def test_where_nothing_can_be_written_that_is_said(tmp_path, monkeypatch) -> None:
    (tmp_path / "config").write_bytes(b"")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    with pytest.raises(MetricError, match=f"can't be written: .* {terms.VARIABLE}=1"):
        terms.accept()
    monkeypatch.setenv(terms.VARIABLE, "1")
    assert terms.accepted()


@needs_pyiqa
def test_what_runs_through_pyiqa_waits_for_them_and_the_native_metrics_do_not() -> None:
    by_pyiqa = dict.fromkeys(NATIVE_METRICS, "pyiqa")
    assert set(ready_methods(list(NATIVE_METRICS))) == set(NATIVE_METRICS)
    status = statuses(by_pyiqa)["niqe"]
    assert (status.state, status.method_version) == (State.TERMS, None)
    assert "noncommercial" in status.reason
    assert "--accept-terms" in status.way_out
    terms.accept()
    assert set(ready_methods(list(NATIVE_METRICS), by_pyiqa)) == set(NATIVE_METRICS)
