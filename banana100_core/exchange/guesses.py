"""What the folders and the name of a run say of it: initial image, protocol, model, repeat."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from banana100_core.catalog.protocols import protocols
from banana100_core.exchange.names import read_name

if TYPE_CHECKING:
    from collections.abc import Sequence

UNKNOWN = "unknown"

# The initial images of the paper's Table 1; they tell an initial image from the protocol beside it.
_KNOWN_INITIAL_IMAGES = {
    *("building", "dongpo", "ekphrasis", "fog", "holi", "kokoro", "library"),
    *("moss", "peacock", "rice", "sand", "table", "yuiman"),
}
_MODEL = re.compile(
    r"(?:gemini|nano[-_ ]?banana|flux|qwen|gpt|dall-?e|seedream|seededit|hunyuan|kontext|bagel|omnigen|step1x"
    r"|instruct-?pix2pix|imagen|midjourney|grok|firefly|longcat|hidream|stable-?diffusion|sdxl|sd3)",
    re.IGNORECASE,
)
_SESSION_MODES = {"samechat": "same", "differentchat": "fresh", "freshchat": "fresh", "newchat": "fresh"}
_BRANCHES = {"left", "right"}
_NAMED = re.compile(
    r"(initial|image|protocol|model|provider|run|repeat|seed|branch)=(.+)", re.IGNORECASE | re.DOTALL
)
_ATTRIBUTES = {"initial": "initial_image", "image": "initial_image", "run": "repeat"}
_NUMBERED = re.compile(
    r"(?<![a-z])(?:seed[-=]?(?P<seed>\d{1,18})"
    r"|(?:run|repeat|rep|trial|attempt|chain|sequence|seq|sample|r)[-.#]?(?P<repeat>\d{1,4}))$",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Guess:
    """What is known of a run before its side files are read; empty or None where nothing says."""

    initial_image: str = ""
    protocol: str = ""
    provider: str = ""
    model: str = ""
    repeat: int | None = None
    seed: int | None = None
    session_mode: str = "fresh"
    branch: str = ""


def guess(folders: Sequence[str], fields: Sequence[str]) -> Guess:
    """Guess from folder names, outermost first, and from the fields of the name that a run's files share.

    What is not clearly a protocol, model, repeat, session mode or branch names the initial image, and, where
    two parts are left, the initial image and then the protocol.
    """
    known: dict[str, Any] = {}
    left = [_read_folder(known, folder) for folder in folders]
    left.append("_".join(_read_fields(known, fields)))
    return Guess(**_with_names(known, [name for name in left if name]))


def _read_folder(known: dict[str, Any], folder: str) -> str:
    """Take into `known` what is clear in a folder's name, and return the rest."""
    if _NAMED.fullmatch(folder) and not _read_field(known, folder):
        return ""
    fields = read_name(folder).words_beside(None)
    mode = _SESSION_MODES.get(re.sub(r"[^a-z]", "", folder.lower()))
    if mode:
        known["session_mode"] = mode
        return ""
    if len(fields) == 1 and fields[0].isdecimal() and len(fields[0]) <= 4:
        known["repeat"] = int(fields[0])
        return ""
    if _MODEL.match(folder) and not any(_is_clear(field) for field in fields):
        known["model"] = folder
        return ""
    rest = _read_fields(known, fields)
    return folder if rest == fields != [] else "_".join(rest)


def _is_clear(field: str) -> bool:
    return field.lower() in _KNOWN_INITIAL_IMAGES or (not _MODEL.match(field) and not _read_field({}, field))


def _read_fields(known: dict[str, Any], fields: Sequence[str]) -> list[str]:
    return [rest for field in fields if (rest := _read_field(known, field))]


def _read_field(known: dict[str, Any], field: str) -> str:
    named = _NAMED.fullmatch(field)
    if named:
        key, value = named[1].lower(), named[2]
        if key in {"run", "repeat", "seed"} and not value.isdecimal():
            return field
        known[_ATTRIBUTES.get(key, key)] = int(value) if key in {"run", "repeat", "seed"} else value
        return ""
    numbered = _NUMBERED.search(field)
    if numbered:
        known["seed" if numbered["seed"] else "repeat"] = int(numbered["seed"] or numbered["repeat"])
        before = field[: numbered.start()].rstrip("-. ")
        return _read_field(known, before) if before else ""
    before, _, last = field.rpartition("-")
    if before and last.lower() in protocols():
        known["protocol"] = last.lower()
        return _read_field(known, before)
    attribute = (
        "protocol" if field.lower() in protocols()
        else "model" if _MODEL.match(field)
        else "branch" if field.lower() in _BRANCHES
        else None
    )  # fmt: skip
    if attribute is None:
        return field
    known[attribute] = field if attribute == "model" else field.lower()
    return ""


def _with_names(known: dict[str, Any], left: list[str]) -> dict[str, Any]:
    """Decide which of the names left are the initial image's and the protocol's; the innermost count."""
    if len(left) == 1:
        first, _, rest = left[0].replace("-", "_", 1).partition("_")
        # As the paper writes it: a "table_lamp" of someone else's is one name.
        if first.lower() in _KNOWN_INITIAL_IMAGES and first.istitle() and rest:
            left = [first, rest]
    protocol_known = "protocol" in known
    if "initial_image" not in known and left:
        by_name = [name for name in left if name.lower() in _KNOWN_INITIAL_IMAGES]
        position = -1 if protocol_known or len(left) == 1 else -2
        known["initial_image"] = by_name[-1] if by_name else left[position]
        left = [name for name in left if name != known["initial_image"]]
    if not protocol_known and left:
        known["protocol"] = left[-1]
    return known
