"""What is said of parts that are not installed depends on how the program was."""

from __future__ import annotations

import subprocess
import sys

import pytest

from banana100_core.installation import how_to_add


def test_an_installation_names_the_line_to_type():
    assert how_to_add("parquet") == "Type: pip install 'banana100-inspector[parquet]'"


@pytest.mark.parametrize(("extra", "way"), [("metrics", "full build"), ("parquet", "from its source")])
def test_a_build_never_asks_to_install_into_itself(extra, way):
    code = "import sys; sys.frozen = True; from banana100_core.installation import how_to_add as how; "
    said = subprocess.run(
        [sys.executable, "-c", code + f"print(how({extra!r}))"], capture_output=True, text=True, check=True
    ).stdout
    assert way in said
    assert "pip install" not in said
