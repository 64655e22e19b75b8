"""API keys: from the environment or the system's keyring, held in memory only."""

from __future__ import annotations

import os
from typing import Any, Protocol, cast

from banana100_core.errors import ProviderError

SERVICE = "banana100"
_VARIABLES = {"gemini": ("GOOGLE_API_KEY", "GEMINI_API_KEY")}


class _Keyring(Protocol):
    def get_password(self, service_name: str, username: str) -> str | None: ...


def api_key(provider: str) -> str:
    """The key for a provider; ProviderError says where one can be put."""
    variables = _VARIABLES[provider]
    for variable in variables:
        if key := os.environ.get(variable, "").strip():
            return key
    if key := _from_keyring(provider):
        return key
    raise ProviderError(
        f"There is no API key for {provider}. Set the environment variable {' or '.join(variables)}, or "
        f"store it in the system's keyring with: keyring set {SERVICE} {provider} "
        "(needs: pip install 'banana100-inspector[keyring]'). Then start the run again."
    )


def without_key(text: str, key: str) -> str:
    """Give `text` with the key taken out: what a service says may quote it."""
    return text.replace(key, "[API key]") if key else text


def _from_keyring(provider: str) -> str:
    try:
        import keyring
    except ImportError:
        return ""
    try:
        return (cast("_Keyring", cast("Any", keyring)).get_password(SERVICE, provider) or "").strip()
    except Exception:  # noqa: BLE001 - a machine without a keyring says so in many ways
        return ""
