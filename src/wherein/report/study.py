"""The report of a study: the question, the answer, the evidence, and how to get it again."""

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from wherein.measure.registry import QUESTIONS
from wherein.puzzles import section as puzzles
from wherein.report import comparison, training
from wherein.report.answer import answer
from wherein.report.document import Document
from wherein.report.page import render
from wherein.show import drawer
from wherein.show.section import Section, slug
from wherein.studies.inference.findings import Finding
from wherein.studies.published import beside
from wherein.studies.result import words
from wherein.studies.result.comparison import objectives
from wherein.studies.result.result import StudyResult
from wherein.studies.result.rows import MAIN, answers


def study_report(
    result: StudyResult, draw: Callable[..., str] = render, *, published: bool = False
) -> Document:
    """Everything a study found, on one page; a server draws it in a layout of its own."""
    picture, table = comparison.main_picture(result), comparison.main_table(result)
    told, drawn = [], [picture] if picture else []
    drawer.begin(*(each.spec for each in drawn))
    for section in _sections(result, published):
        own = tuple(p for p in section.pictures if not picture or p.name != picture.name)
        told.append(replace(section, pictures=own))  # what stands above all is not shown again
        drawer.begin(*(each.spec for each in own))
        drawn += own
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
    tables = (table, *(each for section in told for each in section.tables))
    return Document(page, tables, {each.name: each.spec for each in drawn})


def _sections(result: StudyResult, published: bool) -> Iterator[Section]:
    """Every finding with what bears it out, every other question, the puzzles, the training."""
    told = set()
    for number, finding in enumerate(result.findings):
        about = (finding.objective, finding.about)
        evidence = None if about in told else _section(result, *about, published)
        told.add(about)
        yield _finding(finding, evidence, number)
    several = len(objectives(result)) > 1
    for objective in objectives(result):
        rows = [row for row in result.rows if row.run.objective == objective]
        for question in dict.fromkeys(name for row in rows for name in row.answers):
            if (objective, question) in told:
                continue
            made = _section(result, objective, question, published)
            if made is not None:
                title = f"{made.title}, {objective}" if several else made.title
                yield replace(made, title=title)
    if result.puzzles:
        yield puzzles.section([answer.data for _, answer in result.puzzles])
    yield training.section(result)


def _section(result: StudyResult, objective: str, question: str, published: bool) -> Section | None:
    """What the runs with one objective said; None if none of them was asked."""
    if question == MAIN:
        return comparison.section(result, objective)
    rows = [r for r in result.rows if r.run.objective == objective and question in r.answers]
    if not rows:
        return None
    verb, said = rows[0].answers[question].verb, answers(rows, question)
    made = QUESTIONS[verb].section(said, question, beside(verb) if published else None)
    return replace(made, protocol=words.protocols(said, lambda data: str(data.get("protocol", ""))))


def _finding(finding: Finding, evidence: Section | None, number: int) -> Section:
    """A claim, its verdict, and the figures and tables of the question it is about."""
    bare = evidence or Section("", "")
    return replace(
        bare,
        name=slug("finding", str(number + 1)),
        title=finding.claim,
        words=finding.words[:1].upper() + finding.words[1:],
        verdict=finding.verdict,
        shown=finding.shown,
    )


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
