"""Side files: CSV, JSON or JSON lines with the prompts, reasoning summaries and settings of steps."""

from __future__ import annotations

import csv
import io
import json
import re
from dataclasses import dataclass, field, replace
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

from banana100_core.errors import ImportFilesError
from banana100_core.exchange.preview import StepNotes

if TYPE_CHECKING:
    from pathlib import Path

MAX_BYTES = 256 * 2**20

_FIELDS = {
    "file": "file filename filepath image imagename imagepath imagefile output outputimage outputpath path",
    "step": "step stepnumber stepindex stepid number iteration iter turn index",
    "run": "run runid runname runindex repeat rep trial",
    "initial_image": "initialimage initial initialimagename imageid subject",
    "protocol": "protocol method task",
    "provider": "provider service",
    "model": "model modelname editor",
    "session_mode": "sessionmode session",
    "branch": "branch",
    "prompt": "prompt prompttext instruction editprompt editinstruction text",
    "reasoning": "reasoning reasoningsummary reasoningtext thought thoughts thoughtsummary thinking summary",
    "settings": "settings config configuration parameters params generationconfig",
    "model_version": "modelversion",
    "finish_reason": "finishreason",
    "input_tokens": "inputtokens prompttokens prompttokencount",
    "output_tokens": "outputtokens completiontokens candidatestokencount",
    "cost_usd": "costusd cost usd price",
    "seconds": "seconds duration durationseconds latency elapsed time",
}
_FIELD_OF = {spelling: key for key, spellings in _FIELDS.items() for spelling in spellings.split()}
_RUN_FIELDS = ("run", "initial_image", "protocol", "provider", "model", "session_mode", "branch")
_TEXT_FIELDS = ("prompt", "reasoning", "model_version", "finish_reason")
_INTEGER_FIELDS = ("input_tokens", "output_tokens")
_NUMBER_FIELDS = ("cost_usd", "seconds")
_LARGEST_INTEGER = 2**63 - 1


@dataclass(frozen=True, slots=True)
class Record:
    """What one line or object says: of which step or run, and what. Empty or None where it doesn't say."""

    file: str = ""
    step: int | None = None
    run: dict[str, str] = field(
        default_factory=dict
    )  # run, initial_image, protocol, model ... as far as named
    notes: StepNotes = field(default_factory=StepNotes)


def read_side_file(path: Path) -> tuple[list[Record], str]:
    """Return a side file's records, and why some lines were of no use ("" when all were).

    Raises ImportFilesError when the whole file is of no use.
    """
    try:
        if path.stat().st_size > MAX_BYTES:
            raise ImportFilesError(f"larger than the limit of {MAX_BYTES // 2**20} MB; split it")
        content = path.read_text("utf-8-sig")
    except OSError as error:
        raise ImportFilesError(error.strerror or str(error)) from None
    except UnicodeDecodeError:
        raise ImportFilesError("its text is not UTF-8; save it as UTF-8") from None
    try:
        if path.suffix.lower() in {".csv", ".tsv"}:
            return [record_of(row) for row in _table(content)], ""
        if path.suffix.lower() == ".json":
            return [record_of(item) for item in _objects(_parse(content))], ""
    except (csv.Error, ValueError, RecursionError) as error:
        raise ImportFilesError(f"can't be understood: {error}") from None
    return _lines(content)


def record_of(item: dict[str, Any]) -> Record:
    """Read one object or table row by the names of its fields; what has no place of its own is a setting."""
    known: dict[str, Any] = {}
    settings: dict[str, Any] = {}
    for name, value in item.items():
        key = _FIELD_OF.get(re.sub(r"[^a-z]", "", str(name).lower()))
        if value is None or value == "" or name is None:
            continue
        if key == "settings":
            settings |= _settings(value)
        elif key is None or key in known or not _fits(key, value):
            settings[str(name)] = value
        else:
            known[key] = value
    numbers: dict[str, Any] = {key: _integer(known.get(key)) for key in _INTEGER_FIELDS}
    numbers |= {key: _number(known.get(key)) for key in _NUMBER_FIELDS}
    texts: dict[str, Any] = {key: _text(known[key]) for key in _TEXT_FIELDS if key in known}
    return Record(
        file=_text(known.get("file", "")),
        step=_step(known.get("step")),
        run={key: _text(known[key]) for key in _RUN_FIELDS if key in known},
        notes=StepNotes(settings=settings, **texts, **numbers),
    )


def _fits(key: str, value: object) -> bool:
    if key in _INTEGER_FIELDS or key in _NUMBER_FIELDS:
        return _number(value) is not None
    return key != "step" or _step(value) is not None


def joined(first: StepNotes, second: StepNotes) -> StepNotes:
    """Return what both say; where they differ the first counts."""
    filled = {
        key: getattr(first, key) or getattr(second, key)
        for key in (*_TEXT_FIELDS, *_INTEGER_FIELDS, *_NUMBER_FIELDS)
    }
    return replace(first, settings=second.settings | first.settings, **filled)


def _table(content: str) -> list[dict[str, Any]]:
    header = content.partition("\n")[0]
    delimiter = max(",;\t", key=header.count)
    rows = csv.DictReader(io.StringIO(content, newline=""), delimiter=delimiter, restkey="more")
    return [dict(row) for row in rows]


def _lines(content: str) -> tuple[list[Record], str]:
    records, bad = [], []
    # Not splitlines: U+2028 and its like may stand inside a JSON string.
    for number, line in enumerate(content.split("\n"), start=1):
        if not line.strip():
            continue
        try:
            item = _parse(line)
        except (ValueError, RecursionError):
            item = None
        if isinstance(item, dict):
            records.append(record_of(item))
        else:
            bad.append(number)
    if bad and not records:
        raise ImportFilesError("no line of it is a JSON object")
    return records, f"{len(bad)} lines are no JSON object, the first is line {bad[0]}" if bad else ""


def _parse(content: str) -> object:
    parsed: object = json.loads(content, parse_constant=lambda _: None)
    return parsed


def _objects(value: object) -> list[dict[str, Any]]:
    """Find the records in a JSON file: a list, lists inside an object, or an object keyed by file or step."""
    if isinstance(value, list):
        return [item for item in value if isinstance(item, dict)]
    if not isinstance(value, dict):
        return []
    keyed = [_keyed(key, item) for key, item in value.items()]
    if value and all(keyed):
        return [item for item in keyed if item]
    lists = [item for item in value.values() if isinstance(item, list) and item and isinstance(item[0], dict)]
    if not lists:
        return [value]
    about_run = {key: item for key, item in value.items() if not isinstance(item, list)}
    return [about_run] * bool(about_run) + [item for items in lists for item in _objects(items)]


def _keyed(key: str, item: object) -> dict[str, Any] | None:
    said = item if isinstance(item, dict) else {"prompt": item} if isinstance(item, str) else None
    if said is None:
        return None
    if PurePosixPath(key).suffix and not key.replace(".", "").isdecimal():
        return {"file": key, **said}
    return None if _step(key) is None else {"step": key, **said}


def _step(value: object) -> int | None:
    if isinstance(value, str):
        match = re.fullmatch(
            r"(?:step|turn|iteration|iter)?[ _-]*(\d{1,6})(?:\.0*)?", value.strip(), re.IGNORECASE
        )
        return int(match[1]) if match else None
    number = _integer(value)
    return number if number is not None and 0 <= number < 10**6 else None


def _integer(value: object) -> int | None:
    number = _number(value)
    return int(number) if number is not None and abs(number) < _LARGEST_INTEGER else None


def _number(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return None
    return number if abs(number) < float("inf") else None


def _text(value: object) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, list) and all(isinstance(part, str) for part in value):
        return "\n\n".join(value)
    return json.dumps(value, ensure_ascii=False)


def _settings(value: object) -> dict[str, Any]:
    if isinstance(value, str):
        try:
            value = _parse(value)
        except (ValueError, RecursionError):
            return {"settings": value}
    return value if isinstance(value, dict) else {"settings": value}
