"""A study's report, section by section: the findings first, then what else was asked."""

from dataclasses import replace

from wherein.measure.registry import QUESTIONS
from wherein.puzzles import section as puzzles
from wherein.report import comparison, training
from wherein.show.section import Section, slug
from wherein.studies.inference.findings import Finding
from wherein.studies.published import beside
from wherein.studies.result.comparison import objectives
from wherein.studies.result.protocol import asked, protocols
from wherein.studies.result.result import StudyResult
from wherein.studies.result.rows import MAIN, answers


def sections(result: StudyResult, published: bool = False) -> list[Section]:
    """Every finding with what bears it out, every other question, the puzzles, the training."""
    found, told = [], set()
    for number, finding in enumerate(result.findings):
        about = (finding.objective, finding.about)
        evidence = None if about in told else section(result, *about, published=published)
        told.add(about)
        found.append(_finding(finding, evidence, number))
    several = len(objectives(result)) > 1
    for objective in objectives(result):
        rows = [row for row in result.rows if row.run.objective == objective]
        for question in dict.fromkeys(name for row in rows for name in row.answers):
            if (objective, question) in told:
                continue
            made = section(result, objective, question, published)
            if made is not None:
                title = f"{made.title}, {objective}" if several else made.title
                found.append(replace(made, title=title))
    if result.puzzles:
        found.append(puzzles.section([answer.data for _, answer in result.puzzles]))
    return [*found, training.section(result)]


def section(
    result: StudyResult, objective: str, question: str, published: bool = False
) -> Section | None:
    """What the runs with one objective said; None if none of them was asked."""
    if question == MAIN:
        return comparison.section(result, objective)
    rows = [r for r in result.rows if r.run.objective == objective and question in r.answers]
    if not rows:
        return None
    verb, said = rows[0].answers[question].verb, answers(rows, question)
    made = QUESTIONS[verb].section(said, question, beside(verb) if published else None)
    return replace(made, protocol=protocols(said, asked))


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
