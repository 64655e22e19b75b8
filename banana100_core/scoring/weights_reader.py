"""Reading weights without running what may be hidden in them. Only workers import this module.

A pickle can hold a program, and so can TorchScript. A file is let through unread only if its whole SHA-256 is
known and right; of any other only tensors and plain values are taken, or arithmetic on tensors. MATLAB's
files, which SciPy reads, can hold neither.
"""

from __future__ import annotations

import ast
import os
import pickle
import re
import zipfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from banana100_core.errors import WeightsError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from banana100_core.scoring.weights import FoundWeights

_WHOLE_DIGEST = 64  # hexadecimal digits

# What TorchScript may call: ARNIQA's regressor is linear. torch.save and torch.from_file reach files.
_ARITHMETIC = re.compile(
    r"abs|add_?|addmm|bmm|cat|clamp|contiguous|detach|div|dim|expand|expand_as|flatten|linear|matmul|mean|mm"
    r"|mul_?|neg|ones|permute|pow|relu|reshape|rsub|select|sigmoid|size|slice|softmax|sqrt|squeeze|stack|sub|sum|t"
    r"|tanh|tensor|to|transpose|unsqueeze|view|zeros"
)
_PLAIN = frozenset({"annotate", "bool", "float", "int", "len", "range", "unchecked_cast"})


@contextmanager
def guarded(weights: Iterable[FoundWeights]) -> Iterator[None]:
    """Guard all that is loaded through torch meanwhile; WeightsError where a file holds more than it may."""
    import torch

    known = {found.path.resolve(): found for found in weights}
    load, load_script = torch.load, torch.jit.load

    def guarded_load(file: Any, *arguments: Any, **options: Any) -> Any:  # noqa: ANN401 - torch is not typed here
        try:
            return load(file, *arguments, **options | {"weights_only": True})
        except pickle.UnpicklingError as error:
            if not _vouched_for(file, known):
                raise WeightsError(_refusal(file, known, _what_was_refused(error))) from error
        if hasattr(file, "seek"):
            file.seek(0)
        return load(file, *arguments, **options | {"weights_only": False})

    def guarded_load_script(file: Any, *arguments: Any, **options: Any) -> Any:  # noqa: ANN401
        if not _vouched_for(file, known) and (found := _calls_beyond_arithmetic(file)):
            raise WeightsError(_refusal(file, known, f"calls {found}, which is more than arithmetic"))
        return load_script(file, *arguments, **options)

    torch.load, torch.jit.load = guarded_load, guarded_load_script
    try:
        yield
    finally:
        torch.load, torch.jit.load = load, load_script


def _path_of(file: object) -> Path | None:
    named = file if isinstance(file, str | os.PathLike) else getattr(file, "name", None)
    return Path(named).resolve() if isinstance(named, str | os.PathLike) else None


def _vouched_for(file: object, known: dict[Path, FoundWeights]) -> bool:
    path = _path_of(file)
    found = known.get(path) if path is not None else None
    return found is not None and len(found.file.sha256 or "") == _WHOLE_DIGEST


def _refusal(file: object, known: dict[Path, FoundWeights], what: str) -> str:
    path = _path_of(file)
    found = known.get(path) if path is not None else None
    source = f" from {found.file.source}" if found is not None else ""
    return (
        f"{path or 'A weights file'} was not loaded: it {what}, and its SHA-256 is not one"
        f" that is known. Remove it and get the file anew{source}."
    )


def _what_was_refused(error: Exception) -> str:
    """Name what torch found beside tensors, in its own words as far as they name it."""
    words = str(error).split("Unsupported global: GLOBAL ", 1)
    name = words[1].split(" ", 1)[0] if len(words) > 1 else ""
    return f"holds {name or 'more than tensors'}, which could be a program"


def _calls_beyond_arithmetic(file: object) -> str:
    """Name a call in a TorchScript archive that is not known to be arithmetic; empty if there is none."""
    try:
        with zipfile.ZipFile(file) as archive:  # type: ignore[call-overload]
            code = [archive.read(entry) for entry in archive.infolist() if entry.filename.endswith(".py")]
        trees = [ast.parse(text) for text in code]
    except (OSError, ValueError, SyntaxError, zipfile.BadZipFile):
        return "what can't be read"
    finally:
        if hasattr(file, "seek"):
            file.seek(0)
    calls = (node.func for tree in trees for node in ast.walk(tree) if isinstance(node, ast.Call))
    return next((ast.unparse(call) for call in calls if not _is_arithmetic(call)), "")


def _is_arithmetic(call: ast.expr) -> bool:
    if isinstance(call, ast.Name):
        return call.id in _PLAIN
    if not isinstance(call, ast.Attribute):
        return False
    if isinstance(call.value, ast.Name) and call.value.id == "torch":
        return _ARITHMETIC.fullmatch(call.attr) is not None
    return call.attr == "forward"  # of a module within, whose code is looked at too
