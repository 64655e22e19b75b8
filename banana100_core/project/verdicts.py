"""What a judge found in reasoning summaries: whether they admit that the picture degraded."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from banana100_core.project.rows import now, text

if TYPE_CHECKING:
    from sqlite_utils import Database

    from banana100_core.project.project import Project


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether a step's reasoning summary admits degradation, by a model and a version of its prompt."""

    run_id: int
    step: int
    model: str
    prompt_version: str
    admits: bool
    model_version: str | None = None  # as the service told


def add_verdict(project: Project, verdict: Verdict) -> None:
    """Keep a verdict; it takes the place of one by the same model and prompt."""

    def work(database: Database) -> None:
        database.execute(
            "INSERT OR REPLACE INTO verdict "
            "SELECT id, ?, ?, ?, ?, ? FROM step WHERE run_id = ? AND number = ?",
            (
                text(verdict.model),
                text(verdict.prompt_version),
                int(verdict.admits),
                None if verdict.model_version is None else text(verdict.model_version),
                now(),
                verdict.run_id,
                verdict.step,
            ),
        )

    project.write(work, changes={"verdict"})


def keep_judge_prompt(project: Project, version: str, asked: str) -> None:
    """Keep what a version of the judge's prompt says, word for word."""

    def work(database: Database) -> None:
        database.execute(
            "INSERT OR IGNORE INTO judge_prompt (version, text) VALUES (?, ?)", (text(version), text(asked))
        )

    project.write(work, changes={"verdict"})


def judge_prompts(project: Project) -> dict[str, str]:
    """What judges were asked, by the version that their verdicts name."""
    with project.reading() as connection:
        return dict(map(tuple, connection.execute("SELECT version, text FROM judge_prompt").fetchall()))


def verdicts(project: Project, model: str | None = None, prompt_version: str | None = None) -> list[Verdict]:
    """All verdicts by run and step, or those of one model and version of the prompt."""
    with project.reading() as connection:
        rows = connection.execute(
            "SELECT step.run_id, step.number, verdict.model, prompt_version, admits, verdict.model_version "
            "FROM verdict JOIN step ON step.id = verdict.step_id "
            "WHERE ifnull(verdict.model = ?1, 1) AND ifnull(prompt_version = ?2, 1) "
            "ORDER BY step.run_id, step.number, verdict.model, prompt_version",
            (model, prompt_version),
        ).fetchall()
    return [
        Verdict(run_id, step, by, version, bool(admits), told)
        for run_id, step, by, version, admits, told in rows
    ]
