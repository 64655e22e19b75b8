"""API keys: from the environment or the system's keyring, held in memory only."""

from __future__ import annotations

import os
import re
from typing import Any, Protocol, cast

from banana100_core.errors import ProviderError
from banana100_core.installation import how_to_add

SERVICE = "banana100"
IN_KEYRING = "the system's keyring"
_VARIABLES = {"gemini": ("GOOGLE_API_KEY", "GEMINI_API_KEY")}
_TOKEN = re.compile(r"\bya29\.[\w.-]+|(?<=Bearer )[\w.~+/=-]+")
_VERTEX = "GOOGLE_GENAI_USE_VERTEXAI"


class _Keyring(Protocol):
    def get_password(self, service_name: str, username: str) -> str | None: ...
    def set_password(self, service_name: str, username: str, password: str) -> None: ...


def api_key(provider: str) -> str:
    """The key for a provider; ProviderError says where one can be put."""
    for variable in _VARIABLES[provider]:
        if key := os.environ.get(variable, "").strip():
            return whole_key(key, variable)
    if key := _from_keyring(provider):
        return whole_key(key, "the system's keyring")
    raise ProviderError(
        f"There is no API key for {provider}. Set the environment variable "
        f"{' or '.join(_VARIABLES[provider])}, or store it in the system's keyring with: keyring set "
        f"{SERVICE} {provider}. Then start the run again."
    )


def whole_key(key: str, place: str) -> str:
    """Give a key back that can be one; ProviderError for another: clients would quote it in their errors."""
    if key.isascii() and key.isprintable() and " " not in key:
        return key
    raise ProviderError(
        f"The API key in {place} holds a space, a line break or a letter that no key has. "
        "Copy it again, whole."
    )


def key_place(provider: str) -> str:
    """Where the key for a provider comes from, in words; "" when there is none. The key is not told."""
    for variable in _VARIABLES.get(provider, ()):
        if os.environ.get(variable, "").strip():
            return f"the environment variable {variable}"
    if provider == "gemini" and os.environ.get(_VERTEX, "").lower() in {"1", "true"}:
        return f"the account of Vertex ({_VERTEX})"
    return IN_KEYRING if _from_keyring(provider) else ""


def store_key(provider: str, key: str) -> None:
    """Put a key into the system's keyring; ProviderError, without the key in it, when that can't be done."""
    if not key.strip():
        raise ProviderError("The key is empty. Nothing was stored.")
    keyring = _keyring()
    if keyring is None:
        raise ProviderError(f"The system's keyring can't be used without a package. {how_to_add('keyring')}.")
    try:
        keyring.set_password(SERVICE, provider, key.strip())
    except Exception as error:  # noqa: BLE001 - each system's keyring fails in its own way
        why = without_key(str(error), key.strip()) or type(error).__name__
        variable = _VARIABLES.get(provider, ("an environment variable",))[0]
        raise ProviderError(
            f"The system's keyring did not take the key: {why} Set {variable} instead, before the start."
        ) from None


def without_key(text: str, key: str) -> str:
    """Give `text` with the key taken out, and an account's token: what a service says may quote them."""
    return _TOKEN.sub("[token]", text.replace(key, "[API key]") if key else text)


def _from_keyring(provider: str) -> str:
    keyring = _keyring()
    if keyring is None:
        return ""
    try:
        return (keyring.get_password(SERVICE, provider) or "").strip()
    except Exception:  # noqa: BLE001 - a machine without a keyring says so in many ways
        return ""


def _keyring() -> _Keyring | None:
    try:
        import keyring
    except ImportError:
        return None
    return cast("_Keyring", cast("Any", keyring))
