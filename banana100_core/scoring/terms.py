"""pyiqa's terms, which a person accepts once before metrics that run through pyiqa are fetched or score."""

from __future__ import annotations

import contextlib
import json
import os
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from platformdirs import user_config_path

from banana100_core.errors import MetricError

if TYPE_CHECKING:
    from pathlib import Path

TERMS = """\
Eighteen of the metrics run through pyiqa, which its authors licence under the PolyForm Noncommercial Licence
1.0.0. The weights that it uses are under CC BY-NC-SA 4.0.

You may score with them for any noncommercial purpose, such as personal study and research, or the work of
charities, schools, public research bodies and governments. Commercial use is not permitted. Who passes pyiqa
or its weights on passes these terms on with them.

The terms in full:
https://polyformproject.org/licenses/noncommercial/1.0.0
https://creativecommons.org/licenses/by-nc-sa/4.0/legalcode

PIQE, BRISQUE and NIQE are computed by this program's own code, and VisualQuality-R1 and RALI by adapters of
its own: they need none of this.
"""
REASON = "It runs through pyiqa, whose terms have not been accepted: noncommercial use only."
WAY_OUT = (
    "Read and accept them in the window under Score > Terms of pyiqa, or with the option --accept-terms of "
    "`banana100 score` and `banana100 weights fetch`."
)
VARIABLE = "BANANA100_ACCEPT_PYIQA_TERMS"  # 1 accepts them where nobody can be asked, as on a cluster

_VERSION = 1  # raised whenever the terms change: then they are asked for again


class TermsNotAcceptedError(MetricError):
    """A metric's terms have not been accepted."""


def accepted() -> bool:
    """Whether this user has accepted the terms."""
    if os.environ.get(VARIABLE) == "1":
        return True
    with contextlib.suppress(OSError, ValueError, AttributeError):
        return json.loads(_file().read_text("utf-8")).get("version") == _VERSION  # type: ignore[no-any-return]
    return False


def accept() -> None:
    """Remember that this user accepts the terms; MetricError where that can't be written down."""
    file = _file()
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        now = datetime.now(UTC).isoformat(timespec="seconds")
        file.write_text(json.dumps({"version": _VERSION, "accepted_at": now}), "utf-8")
    except OSError as error:
        raise MetricError(
            f"{file} can't be written: {error.strerror}. Make its folder writable, or set {VARIABLE}=1."
        ) from error


def need_terms() -> None:
    """Raise TermsNotAcceptedError unless the terms were accepted."""
    if not accepted():
        raise TermsNotAcceptedError(
            f"pyiqa's terms have not been accepted, which allow noncommercial use only. {WAY_OUT}"
        )


def _file() -> Path:
    return user_config_path("banana100", appauthor=False) / "pyiqa-terms.json"
