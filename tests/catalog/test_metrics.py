"""The catalog of metrics against the paper's Table 2 and pyiqa's own list."""

from __future__ import annotations

import importlib.util

import pytest

from banana100_core.catalog.metrics import Place, metric, metrics
from banana100_core.errors import MetricError

# Table 2 of the paper, row by row: title, typical range, "higher is better?".
TABLE_2 = [
    ("ARNIQA", 0, 1, "Yes"),
    ("BRISQUE", 0, 150, "No"),
    ("CLIPIQA", 0, 1, "Yes"),
    ("CNNIQA", 0, 1, "Yes"),
    ("DBCNN", 0, 1, "Yes"),
    ("HyperIQA", 0, 1, "Yes"),
    ("ILNIQE", 0, 100, "No"),
    ("LIQE", 1, 5, "Yes"),
    ("MANIQA", 0, 1, "Yes"),
    ("MUSIQ", 0, 100, "Yes"),
    ("NIMA", 0, 10, "Yes"),
    ("NIQE", 0, 100, "No"),
    ("NRQM", 0, 10, "Yes"),
    ("PaQ-2-PiQ", 0, 100, "Yes"),
    ("PI", 0, 10, "No"),  # the table says "0 and up"; 10 is ours
    ("PIQE", 0, 100, "No"),
    ("Q-Align", 1, 5, "Yes"),
    ("QualiCLIP", 0, 1, "Yes"),
    ("TOPIQ NR", 0, 1, "Yes"),
    ("TReS", 0, 100, "Yes"),
    ("WaDIQaM", -1, 0.1, "Yes"),
    ("VisualQuality-R1", 1, 5, "Yes"),
    ("RALI", 1, 5, "Yes"),
]


def test_the_catalog_is_table_2() -> None:
    rows = [
        (each.title, each.low, each.high, "No" if each.lower_is_better else "Yes")
        for each in metrics().values()
    ]
    assert rows == TABLE_2


def test_every_metric_can_be_read_about() -> None:
    for key, each in metrics().items():
        assert each.key == key
        assert each.measures.endswith(".")
        assert each.paper.endswith(")")
        assert each.finding.endswith(".")
    assert "10" in metric("pi").range_note


def test_normalising_maps_the_range_and_never_clips() -> None:
    brisque = metric("brisque")
    assert (brisque.normalise(150), brisque.normalise(75), brisque.normalise(0)) == (0, 50, 100)
    assert brisque.normalise(-9.8) == pytest.approx(100 * (1 + 9.8 / 150))
    assert metric("wadiqam_nr").normalise(0.1) == pytest.approx(100)
    assert metric("visualquality_r1").normalise(0.5) == pytest.approx(-12.5)


def test_an_unknown_metric_is_told_with_those_there_are() -> None:
    with pytest.raises(MetricError, match=r"'brisk'.*brisque"):
        metric("brisk")


def test_digests_agree_with_file_names() -> None:
    for each in metrics().values():
        for weights in each.weights:
            assert weights.sha256 is None or len(weights.sha256) in {8, 64}
            beginning = weights.name.rsplit(".", 1)[0].rsplit("-", 1)[-1]
            if weights.place is not Place.HUGGINGFACE and len(beginning) == 8 and beginning.isalnum():
                assert weights.sha256 is not None
                assert weights.sha256.startswith(beginning)
            assert weights.source.startswith("https://")


@pytest.mark.skipif(importlib.util.find_spec("pyiqa") is None, reason="pyiqa is not installed")
def test_keys_and_directions_are_pyiqas() -> None:
    from pyiqa.default_model_configs import DEFAULT_CONFIGS

    own = {"visualquality_r1", "rali"}
    for key, each in metrics().items():
        if key not in own:
            assert DEFAULT_CONFIGS[key].get("lower_better", False) == each.lower_is_better, key
