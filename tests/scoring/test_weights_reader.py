"""Weights files that hold more than numbers, read as pyiqa's loading reads them."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from banana100_core.catalog.metrics import metric
from banana100_core.errors import WeightsError
from banana100_core.scoring.weights import FoundWeights, WeightsState
from banana100_core.scoring.weights_reader import guarded

if TYPE_CHECKING:
    from pathlib import Path

torch = pytest.importorskip("torch")

LIQE = metric("liqe").weights[1]


class Trap:
    """Makes a file when it is unpickled."""

    def __init__(self, sprung: Path) -> None:
        self.sprung = sprung

    def __reduce__(self):
        return open, (str(self.sprung), "w")


class Saves(torch.nn.Module):
    """Writes a file when it is called."""

    def __init__(self, path: str) -> None:
        super().__init__()
        self.path = path

    def forward(self, x):
        torch.save(x, self.path)
        return x


class Linear(torch.nn.Module):
    """As a regression that was converted, with layers within."""

    def __init__(self) -> None:
        super().__init__()
        self.coefficients = torch.nn.Parameter(torch.randn(8, 1))
        self.layer = torch.nn.Linear(1, 1)

    def forward(self, x):
        return self.layer(torch.addmm(torch.zeros(1, 1), x, self.coefficients)).squeeze(1) * 2.0


def found(path: Path, *, known: bool = False) -> FoundWeights:
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    return FoundWeights(
        replace(LIQE, sha256=digest if known else None), path, WeightsState.UNVERIFIED, digest
    )


@pytest.fixture
def trap(tmp_path):
    path = tmp_path / "liqe_koniq.pt"
    torch.save({"params": {"weight": torch.zeros(3), "more": Trap(tmp_path / "sprung")}}, path)
    return path


def test_a_program_in_a_pickle_does_not_run_and_the_way_out_is_said(trap, tmp_path) -> None:
    with guarded([found(trap)]), pytest.raises(WeightsError) as caught:
        torch.load(str(trap), map_location="cpu", weights_only=False)
    assert not (tmp_path / "sprung").exists()
    said = str(caught.value)
    assert said.startswith(f"{trap} was not loaded: it holds io.open, which")
    assert LIQE.source in said


def test_nor_in_a_file_that_nothing_is_known_of(trap, tmp_path) -> None:
    for half in (found(trap), replace(found(trap), file=replace(LIQE, sha256="00000000"))):
        with guarded([half]), trap.open("rb") as file, pytest.raises(WeightsError):
            torch.load(file)
    with guarded([]), pytest.raises(WeightsError):
        torch.load(str(trap), weights_only=False)
    assert not (tmp_path / "sprung").exists()


def test_a_file_whose_whole_digest_is_known_may_hold_more(trap, tmp_path) -> None:
    with guarded([found(trap, known=True)]):
        loaded = torch.load(str(trap), weights_only=False)
    assert loaded["params"]["weight"].shape == (3,)
    assert (tmp_path / "sprung").exists()


def test_tensors_are_read_whatever_is_known(tmp_path) -> None:
    path = tmp_path / "tensors.pt"
    torch.save({"params": {"weight": torch.arange(3)}, "step": 7}, path)
    with guarded([found(path)]):
        loaded = torch.load(str(path), weights_only=False)
    assert loaded["params"]["weight"].tolist() == [0, 1, 2]


def test_a_script_may_only_compute(tmp_path) -> None:
    linear, saves = tmp_path / "linear.pth", tmp_path / "saves.pth"
    torch.jit.script(Linear()).save(str(linear))
    torch.jit.script(Saves(str(tmp_path / "sprung"))).save(str(saves))
    with guarded([found(linear), found(saves)]):
        assert torch.jit.load(str(linear), map_location="cpu")(torch.zeros(2, 8)).shape == (2,)
        with pytest.raises(WeightsError, match=r"it calls torch\.save, which"):
            torch.jit.load(str(saves))
        linear.write_bytes(b"no archive at all")
        with pytest.raises(WeightsError, match="calls what can't be read, which"):
            torch.jit.load(str(linear))


def test_afterwards_torch_is_as_it_was(tmp_path) -> None:
    before = torch.load, torch.jit.load
    with pytest.raises(ZeroDivisionError), guarded([]):
        raise ZeroDivisionError
    assert (torch.load, torch.jit.load) == before
