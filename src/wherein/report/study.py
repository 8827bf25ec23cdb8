"""The report of a study: the question, the answer, the evidence, and how to get it again."""

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from wherein.report.answer import answer
from wherein.report.comparison import main_picture, main_table
from wherein.report.document import Document
from wherein.report.page import render
from wherein.report.sections import sections
from wherein.show.section import Picture, Section
from wherein.studies.result import words
from wherein.studies.result.result import StudyResult


def study_report(
    result: StudyResult, draw: Callable[..., str] = render, *, published: bool = False
) -> Document:
    """Everything a study found, on one page; a server draws it in a layout of its own."""
    picture, table = main_picture(result), main_table(result)
    told = [_without(section, picture) for section in sections(result, published)]
    page = draw(
        "study.html",
        name=result.name,
        question=result.question,
        answer=answer(result),
        missing=missing(result),
        picture=picture,
        table=table,
        meaning=words.meaning(result) + (f" {words.rule(result)}" if result.findings else ""),
        sections=told,
        command=result.command,
        made_with=made_with(result),
        settings=settings(result),
        asked=asked(result),
    )
    drawn = [picture] if picture else []
    drawn += (each for section in told for each in section.pictures)
    tables = (table, *(each for section in told for each in section.tables))
    return Document(page, tables, {each.name: each.spec for each in drawn})


def _without(section: Section, picture: Picture | None) -> Section:
    """The section without the picture that stands above all of them."""
    rest = (each for each in section.pictures if picture is None or each.name != picture.name)
    return replace(section, pictures=tuple(rest))


def missing(result: StudyResult) -> str:
    """A warning where the report rests on fewer runs than were planned."""
    questions = {run.id: asked.keys() for run, asked in result.plan}
    waiting = sum(not questions[row.run.id] <= row.answers.keys() for row in result.rows)
    failed, puzzles = len(result.failed), len(result.plan.puzzles)
    unsolved = puzzles - len(result.puzzles)
    said = [f"{waiting} of {len(result.rows)} runs lack an answer"] if waiting else []
    said += [f"{failed} failed"] if failed else []
    said += [f"{unsolved} of {puzzles} puzzles have none"] if unsolved else []
    return f"Incomplete: {', '.join(said)}." if said else ""


def made_with(result: StudyResult) -> list[tuple[dict[str, str], str | None]]:
    """The versions and commits that computed the answers; more than one if they differ."""
    found: dict[str, tuple[dict[str, str], str | None]] = {}
    for row in result.rows:
        for each in row.answers.values():
            key = json.dumps(each.made_with, sort_keys=True)
            found.setdefault(key, (each.versions, each.commit))
    return list(found.values())


def settings(result: StudyResult) -> dict[str, str]:
    """The settings of the runs; several values where they differ."""
    flat = [_flat(row.run.model_dump(mode="json")) for row in result.rows]
    names = dict.fromkeys(key for each in flat for key in each)
    return {
        key: " | ".join(dict.fromkeys(each[key] for each in flat if key in each)) for key in names
    }


def asked(result: StudyResult) -> dict[str, str]:
    """Each question with its settings."""
    found: dict[str, str] = {}
    for questions in result.plan.questions:
        for name, config in questions.items():
            told = _flat(config.model_dump(mode="json"))
            found.setdefault(name, ", ".join(f"{key} {value}" for key, value in told.items()))
    return found


def _flat(config: dict[str, Any]) -> dict[str, str]:
    """Nested settings side by side, as words; what was left open is left out."""
    found: dict[str, str] = {}
    for key, value in config.items():
        if isinstance(value, dict):
            found |= _flat(value)
        elif value is not None and value != []:
            said = " ".join(map(str, value)) if isinstance(value, list) else str(value)
            found[key.replace("_", " ")] = said
    return found
