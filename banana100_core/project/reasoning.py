"""Reasoning summaries: their sections, which of them evaluate the result, and a search through them all."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from banana100_core.project.rows import text as storable

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Sequence

    from sqlite_utils import Database

    from banana100_core.project.project import Project
    from banana100_core.project.records import Step

EVALUATES_FROM = "evaluates_from"  # in a step's settings: the first section that came after an image
_TITLE = re.compile(r"^[ \t]*\*\*(?P<title>[^*\n]+)\*\*[ \t]*$", re.MULTILINE)
_EVALUATION = re.compile(
    r"\b(?:assess|evaluat|review|verif|check|confirm|inspect|compar|validat|critiqu|judg|apprais|scrutin|"
    r"quality|fidelity|accuracy|result|output|outcome|final|success|complet)",
    re.IGNORECASE,
)
_WORD = re.compile(r'"([^"]*)"?|(\S+)')
_MOST_WORDS = 64
_MARKS = "\ue000", "\ue001"  # around what was found; private characters that no text means anything by
_SNIPPET_WORDS = 32


@dataclass(frozen=True, slots=True)
class Section:
    """A titled part of a reasoning summary; `evaluates` when it speaks of the result, not of the plan."""

    title: str  # "" for what comes before the first title
    text: str
    evaluates: bool


@dataclass(frozen=True, slots=True)
class Match:
    """A step whose reasoning summary has the words; `pieces` are text around them, True for a find."""

    run_id: int
    initial_image: str
    model: str
    protocol: str
    repeat: int
    step: int
    pieces: tuple[tuple[str, bool], ...]


@dataclass(frozen=True, slots=True)
class Matches:
    """What a search found: `found` by run and step, of `total` that there are."""

    found: tuple[Match, ...]
    total: int


def sections(reasoning: str, evaluates_from: int | None = None) -> tuple[Section, ...]:
    """Part a reasoning summary at its lines of the form **Title**.

    Where an editor looks at an image before its last sections, those evaluate it: `evaluates_from` is the
    first of them. Else the last section is taken to, if it isn't the only one, and so are those right before
    it whose titles speak of evaluation; a first or only one only if its title does.
    """
    parts = _parts(reasoning)
    if evaluates_from is None:
        evaluates_from = len(parts)
        while evaluates_from > 0:
            last = evaluates_from == len(parts) > 1
            if not last and not _EVALUATION.search(parts[evaluates_from - 1][0]):
                break
            evaluates_from -= 1
    return tuple(Section(title, text, nth >= evaluates_from) for nth, (title, text) in enumerate(parts))


def step_sections(step: Step) -> tuple[Section, ...]:
    """The sections of a step's reasoning summary; none where it has none."""
    known = step.settings.get(EVALUATES_FROM)
    return sections(step.reasoning, known if isinstance(known, int) else None)


def evaluation(step: Step) -> str:
    """What a step's reasoning summary says of the result; "" where it says nothing."""
    return "\n\n".join(section.text for section in step_sections(step) if section.evaluates)


def search(
    project: Project, words: str, *, run_ids: Sequence[int] | None = None, limit: int | None = 500
) -> Matches:
    """Find steps whose reasoning summary has all of the words, in any form: "replicate" finds "replicating".

    "Words in quotes" are found in a row, and wor* finds all that begins so; nothing else has a meaning, so
    that any text can be searched for. A text without letters and digits finds nothing.
    """
    query = _query(words)
    if not query:
        return Matches((), 0)
    if not project.read_only:
        _take_in_what_others_wrote(project)
    source = (
        "FROM reasoning_search JOIN step ON step.id = reasoning_search.rowid JOIN run ON run.id = step.run_id"
        " WHERE reasoning_search MATCH :query"
        " AND (:runs IS NULL OR step.run_id IN (SELECT value FROM json_each(:runs)))"
    )
    values = {
        "query": query,
        "runs": None if run_ids is None else str(list(run_ids)),
        "limit": -1 if limit is None else limit,
    }
    with project.reading() as connection:
        total = connection.execute(f"SELECT count(*) {source}", values).fetchone()[0]
        rows = connection.execute(
            "SELECT run.id, run.initial_image, run.model, run.protocol, run.repeat, step.number,"
            f" snippet(reasoning_search, 0, '{_MARKS[0]}', '{_MARKS[1]}', '…', {_SNIPPET_WORDS})"
            f" {source} ORDER BY run.id, step.number LIMIT :limit",
            values,
        ).fetchall()
    return Matches(tuple(_match(row) for row in rows), total)


def take_in(database: Database) -> None:
    """Bring the search up to date with the steps that changed; part of a write.

    Triggers only note which these are: they may not write to the index itself, since nothing in a project
    file is trusted to reach beyond plain tables.
    """
    if database.execute("SELECT 1 FROM reasoning_change").fetchone() is None:
        return
    database.execute("DELETE FROM reasoning_search WHERE rowid IN (SELECT step_id FROM reasoning_change)")
    database.execute(
        "INSERT INTO reasoning_search (rowid, reasoning) SELECT id, reasoning FROM step "
        "WHERE reasoning <> '' AND id IN (SELECT step_id FROM reasoning_change)"
    )
    database.execute("DELETE FROM reasoning_change")


def _take_in_what_others_wrote(project: Project) -> None:
    with project.reading() as connection:
        changed = connection.execute("SELECT 1 FROM reasoning_change").fetchone()
    if changed:
        project.write(take_in, changes=frozenset())


def _match(row: sqlite3.Row) -> Match:
    *about, snippet = row
    values = [*about, _pieces(snippet)]
    return Match(*values)


def _parts(reasoning: str) -> list[tuple[str, str]]:
    """Titles with their texts, in order."""
    titles = list(_TITLE.finditer(reasoning))
    before = reasoning[: titles[0].start() if titles else None].strip()
    ends = [*(title.start() for title in titles[1:]), len(reasoning)]
    titled = [
        (title["title"].strip(), reasoning[title.end() : end].strip())
        for title, end in zip(titles, ends, strict=bool(titles))
    ]
    return [("", before), *titled] if before else titled


def _query(words: str) -> str:
    """The words as SQLite's full-text search wants them: each in quotes, so that none is an operator."""
    asked = []
    for phrase, word in _WORD.findall(storable(words).replace("\0", " ")):
        wanted = (phrase or word).replace('"', " ")
        if any(character.isalnum() for character in wanted):
            asked.append(f'"{wanted.strip("* ")}"' + ("*" if word.endswith("*") else ""))
    return " ".join(asked[:_MOST_WORDS])


def _pieces(snippet: str) -> tuple[tuple[str, bool], ...]:
    pieces = []
    for nth, part in enumerate(snippet.split(_MARKS[0])):
        found, mark, rest = part.partition(_MARKS[1])
        pieces += [(found, nth > 0), (rest, False)] if mark else [(part, False)]
    return tuple(piece for piece in pieces if piece[0])
