"""The editors there are: those that ship with the program, and those that installed packages add.

A package adds editors through an entry point of the group `banana100.editors`, named as the provider, that
loads to a module (or object) with the two functions of `Provider`.
"""

from __future__ import annotations

from importlib.metadata import EntryPoint, entry_points
from typing import TYPE_CHECKING, Protocol, cast

from banana100_core.errors import ProviderError
from banana100_core.generation.providers import codec_loss, gemini, open_weights, restoration_loop

if TYPE_CHECKING:
    from collections.abc import Sequence

    from banana100_core.generation.editor import Capabilities, Editor

ENTRY_POINTS = "banana100.editors"


class Provider(Protocol):
    """Where editors come from; a module is enough."""

    def capabilities(self) -> Sequence[Capabilities]:
        """One for each model."""
        ...

    def editor(self, chosen: Capabilities) -> Editor:
        """Make the editor for one of `capabilities()`."""
        ...


_SHIPPED: dict[str, Provider] = {
    "restoration_loop": restoration_loop,
    "codec_loss": codec_loss,
    gemini.PROVIDER: gemini,
    open_weights.PROVIDER: open_weights,
}
SHIPPED = tuple(_SHIPPED)  # the first is the default


def providers() -> list[str]:
    """Names of all providers; those of installed packages come last and are not loaded."""
    return [*SHIPPED, *_added()]


def offered() -> tuple[list[Capabilities], list[str]]:
    """All editors, and why those of some packages can't be offered."""
    found: list[Capabilities] = []
    problems: list[str] = []
    for name in providers():
        try:
            found += _provider(name).capabilities()
        except ProviderError as error:
            problems.append(str(error))
        except Exception as error:  # noqa: BLE001 - a stranger's package must not take the others away
            problems.append(f"The editor {name!r} can't say what it is: {error!r}. Tell its makers.")
    return found, problems


def capabilities(provider: str, model: str) -> Capabilities:
    """What an editor is; ProviderError names those there are."""
    offered = _provider(provider).capabilities()
    for one in offered:
        if one.model == model:
            return one
    if provider == gemini.PROVIDER and (unknown := gemini.other(model)):
        return unknown
    known = ", ".join(one.model for one in offered)
    raise ProviderError(f"The editor {provider!r} has no model {model!r}. It has: {known}.")


def first_model(provider: str) -> str:
    """The model of a provider that is taken when none is named; ProviderError names the providers."""
    offered = _provider(provider).capabilities()
    return offered[0].model if offered else ""


def editor(provider: str, model: str) -> Editor:
    """Make an editor; ProviderError names those there are."""
    return _provider(provider).editor(capabilities(provider, model))


def _added() -> dict[str, EntryPoint]:
    return {entry.name: entry for entry in entry_points(group=ENTRY_POINTS) if entry.name not in SHIPPED}


def _provider(name: str) -> Provider:
    if name in _SHIPPED:
        return _SHIPPED[name]
    entry = _added().get(name)
    if entry is None:
        raise ProviderError(
            f"There is no editor {name!r}. There are: {', '.join(providers())}. "
            f"Others come with packages that have an entry point {ENTRY_POINTS!r}."
        )
    try:
        return cast("Provider", entry.load())
    except Exception as error:
        # Whatever a stranger's package does at import, it must not end a run of another editor.
        raise ProviderError(f"The editor {name!r} ({entry.value}) can't be loaded: {error!r}.") from error
