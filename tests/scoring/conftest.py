"""What scoring tests share: pyiqa's terms accepted, in settings of their own."""

from __future__ import annotations

import pytest

from banana100_core.scoring import terms


@pytest.fixture(autouse=True)
def accepted_terms(monkeypatch):
    """Accept pyiqa's terms; a test of the terms themselves takes it back."""
    monkeypatch.setenv(terms.VARIABLE, "1")


@pytest.fixture(scope="module", autouse=True)
def accepted_terms_of_modules():
    """For what a whole module shares."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(terms.VARIABLE, "1")
        yield
