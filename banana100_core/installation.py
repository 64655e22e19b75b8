"""How the program was installed, and how parts that it can do without are added."""

from __future__ import annotations

import sys


def is_frozen() -> bool:
    """Whether this is a build for other machines, into which nothing can be installed."""
    return bool(getattr(sys, "frozen", False))


def how_to_add(extra: str) -> str:
    """What to do to get an extra of pyproject.toml, as a sentence without its full stop."""
    if not is_frozen():
        return f"Type: pip install 'banana100-inspector[{extra}]'"
    if extra == "metrics":
        return "Use the program's full build, banana100-full"
    return f"This build comes without it: install the program from its source, with the extra {extra}"
