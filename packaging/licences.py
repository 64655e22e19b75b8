"""Gather the licence texts of all that a build bundles."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import sysconfig
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

TEXTS = Path(__file__).parent / "licences"
OWN = "banana100-inspector"
_ROOT = Path(__file__).parents[1]
_OWN_TEXTS = ("LICENSE", "resources/CREDITS.md", "resources/models/LICENSE", "resources/weights/NOTICE")
_IS_LICENCE = re.compile(r"(licen[cs]e|copying|copyright|notice|authors)", re.IGNORECASE)
_COMMON = re.compile(r"/usr/share/common-licenses/[\w.-]*\w")  # Debian's texts refer to them
_NO_TEXT = {".py", ".pyc", ".pyi", ".json", ".so"}
_QT_NOTICE = """\
Qt and Qt for Python (PySide6, shiboken6) are used under the GNU Lesser General Public License, version 3.
They are bundled as they were published, as separate shared libraries in the folder `_internal/PySide6` and
`_internal/shiboken6`: you may replace them with your own builds of the same version. Sources:
https://download.qt.io/official_releases/QtForPython/ and https://download.qt.io/official_releases/qt/
"""


class MissingTextError(Exception):
    """Something is bundled whose licence text was not found."""


def gather(sources: Iterable[str], out: Path) -> None:
    """Copy the licence of every distribution and system package that one of the bundled files is from.

    Raises MissingTextError with the names of those that have none; `packaging/licences` is for these.
    """
    distributions, system = _owners({Path(source) for source in sources if source})
    out.mkdir(parents=True)
    lines, missing = [], []
    common: set[str] = set()
    for name in sorted(distributions, key=str.lower):
        distribution = metadata.distribution(name)
        texts = list(_texts(distribution))
        title = f"{distribution.name} {distribution.version}"
        if not texts:
            missing.append(title)
        _copy(texts, out / distribution.name)
        lines.append(f"{title}: {_licence_name(distribution)}")
    python = Path(sysconfig.get_path("stdlib")) / "LICENSE.txt"
    _copy([python if python.is_file() else TEXTS / "Python" / "LICENSE.txt"], out / "Python")
    lines.append(f"Python {sys.version.split()[0]}: PSF-2.0")
    for package in sorted(system):
        text = Path("/usr/share/doc") / package / "copyright"
        if not text.is_file():
            missing.append(f"{package}, a system package")
            continue
        _copy([text], out / f"system-{package}")
        common |= set(_COMMON.findall(text.read_text("utf-8", "replace")))
        lines.append(f"{package}, from this system: see its text")
    _copy(filter(Path.is_file, map(Path, sorted(common))), out / "common-licenses")
    if missing:
        raise MissingTextError(f"No licence text was found for: {', '.join(missing)}. Add it to {TEXTS}.")
    (out / "README.txt").write_text(
        "What this program bundles, and its licences. The texts are in the folders of the same names.\n\n"
        + "\n".join(lines)
        + "\n\n"
        + _QT_NOTICE,
        encoding="utf-8",
    )


def _owners(sources: set[Path]) -> tuple[set[str], set[str]]:
    """Tell the distributions and the system's packages that files are from; Python's own are neither."""
    by_file: dict[str, str] = {}
    for distribution in metadata.distributions():
        name, root = distribution.name, Path(str(distribution.locate_file(""))).resolve()
        by_file.update((os.path.normpath(root / file), name) for file in distribution.files or ())
    python = Path(sysconfig.get_path("stdlib")).resolve(), Path(sys.base_prefix).resolve()
    distributions, elsewhere = {OWN}, set()
    for source in sources:
        resolved = source.resolve()
        if str(resolved) in by_file:
            distributions.add(by_file[str(resolved)])
            continue
        library = source.suffix == ".so" or ".so." in source.name
        if library and not any(resolved.is_relative_to(folder) for folder in python):
            elsewhere.add(resolved)
    return distributions, {package for file in elsewhere for package in _system_package(file)}


def _system_package(file: Path) -> Iterator[str]:
    if not shutil.which("dpkg-query"):
        return
    # On a merged system, packages still list some of their files by the paths of old.
    for path in (file, Path("/") / file.relative_to("/usr") if file.is_relative_to("/usr") else file):
        found = subprocess.run(
            ["dpkg-query", "-S", str(path)], capture_output=True, text=True, check=False
        ).stdout.partition(":")[0]
        if found:
            yield found
            return
    yield file.name


def _texts(distribution: metadata.Distribution) -> Iterator[Path]:
    named = [
        file
        for file in distribution.files or ()
        if _IS_LICENCE.search(file.name) and file.suffix not in _NO_TEXT
    ]
    chosen = [file for file in named if "dist-info" in file.parts[0]] or named
    found = [Path(str(distribution.locate_file(file))) for file in chosen]
    if not found:
        found = sorted((TEXTS / distribution.name).glob("*"))
    if not found and "Apache" in _licence_name(distribution):
        found = sorted((TEXTS / "Apache-2.0").glob("*"))
    if distribution.name == OWN:
        found = [_ROOT / name for name in _OWN_TEXTS]
    elif distribution.name.lower() in {"pyside6_essentials", "shiboken6"}:
        found = sorted((TEXTS / "Qt").glob("*"))
    elif distribution.name == "pyvips-binary":  # its own text is of the scripts that build it alone
        found += sorted((TEXTS / distribution.name).glob("*"))
    yield from (file for file in found if file.is_file())


def _licence_name(distribution: metadata.Distribution) -> str:
    about = distribution.metadata
    named = about.get("License-Expression") or about.get("License") or ""
    if named and "\n" not in named and len(named) < 80:
        return named
    classifiers = [
        c.rpartition(" :: ")[2] for c in about.get_all("Classifier") or () if c.startswith("License")
    ]
    return ", ".join(classifiers) or "see its text"


def _copy(texts: Iterable[Path], folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for text in texts:
        target = folder / text.name
        if target.exists():
            target = folder / f"{text.parent.name}-{text.name}"
        shutil.copyfile(text, target)
