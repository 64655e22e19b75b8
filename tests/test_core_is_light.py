"""What the core imports, seen from a fresh interpreter."""

from __future__ import annotations

import json
import subprocess
import sys

HEAVY = {"torch", "torchvision", "pyiqa", "transformers", "google", "diffusers", "skimage"}
QT = {"PySide6", "shiboken6", "pyqtgraph", "qtawesome"}

IMPORT_ALL = """
import importlib, json, pkgutil, sys
import banana100_core
names = [module.name for module in pkgutil.walk_packages(banana100_core.__path__, "banana100_core.")
         if not module.name.endswith("__main__")]
for name in names:
    importlib.import_module(name)
print(json.dumps([len(names), sorted({name.partition(".")[0] for name in sys.modules})]))
"""


def test_no_module_of_the_core_imports_qt_or_what_only_some_functions_need():
    done = subprocess.run([sys.executable, "-c", IMPORT_ALL], capture_output=True, text=True, check=True)
    count, loaded = json.loads(done.stdout)
    assert count > 50
    assert not (HEAVY | QT) & set(loaded)
