"""Build the program for other machines: python packaging/build.py annotator|full [--no-smoke]

Makes an environment of its own, build/venv-<flavour>, from the project's dependencies alone, so that none of
the tools for development gets in; then dist/banana100-<flavour>, which is tried out at the end.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import shutil
import subprocess
import sys
import time
import venv
from pathlib import Path

ROOT = Path(__file__).parents[1]
EXTRAS = {"annotator": "package", "full": "package,keyring,metrics,parquet"}


def main() -> int:
    """Build one flavour, say how large it is and how long it took, and try it out."""
    parser = argparse.ArgumentParser(description="Build the program for other machines.")
    parser.add_argument("flavour", choices=EXTRAS)
    parser.add_argument("--no-smoke", action="store_true", help="don't try out what was built")
    chosen = parser.parse_args()
    python = prepare(chosen.flavour)
    begun = time.monotonic()
    folder = build(chosen.flavour, python)
    seconds = time.monotonic() - begun
    print(f"{folder.relative_to(ROOT)}: {size(folder) / 1e6:.0f} MB, built in {seconds:.0f} s", flush=True)
    if chosen.no_smoke:
        return 0
    return subprocess.run([sys.executable, ROOT / "packaging" / "smoke.py", folder], check=False).returncode


def prepare(flavour: str) -> Path:
    """Make or renew the environment of a flavour, and give its Python."""
    folder = ROOT / "build" / f"venv-{flavour}"
    python = folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    stamp = folder / "installed"
    wanted = hashlib.sha256((ROOT / "pyproject.toml").read_bytes()).hexdigest()
    if not stamp.is_file() or stamp.read_text() != wanted:
        shutil.rmtree(folder, ignore_errors=True)
        venv.create(folder, with_pip=True)
        _pip(python, "install", f".[{EXTRAS[flavour]}]")
        if flavour == "full":
            # As in setup.sh: facexlib brings the OpenCV build that points Qt to its own plugins.
            _pip(python, "uninstall", "--yes", "opencv-python", "opencv-python-headless")
            _pip(python, "install", "--no-deps", "opencv-python-headless")
        stamp.write_text(wanted)
    # The program itself is installed anew each time; what setuptools kept would bring back removed modules.
    for left in ("lib", *(path.name for path in (ROOT / "build").glob("bdist.*"))):
        shutil.rmtree(ROOT / "build" / left, ignore_errors=True)
    _pip(python, "install", "--no-deps", "--force-reinstall", ".")
    return python


def build(flavour: str, python: Path) -> Path:
    """Run PyInstaller and give the folder that it made."""
    subprocess.run(
        [
            *(python, "-m", "PyInstaller", "--noconfirm", "--log-level", "WARN"),
            *("--distpath", ROOT / "dist", "--workpath", ROOT / "build" / f"work-{flavour}"),
            *(ROOT / "packaging" / "banana100.spec", "--", "--flavour", flavour),
        ],
        cwd=ROOT / "build",
        check=True,
    )
    return ROOT / "dist" / f"banana100-{flavour}"


def size(folder: Path) -> int:
    """Bytes of all files in a folder; a link counts as nothing."""
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file() and not file.is_symlink())


def _pip(python: Path, *arguments: str) -> None:
    command = [python, "-m", "pip", "--quiet", "--disable-pip-version-check", *arguments]
    subprocess.run(command, cwd=ROOT, check=True)


if __name__ == "__main__":
    sys.exit(main())
