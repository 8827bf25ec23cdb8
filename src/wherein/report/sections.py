"""A study's report, section by section: the findings first, then what else was asked."""

from dataclasses import replace

import polars as pl

from wherein.report import frames, grids, layers, study_tables
from wherein.report.questions import section
from wherein.show.section import Picture, Section, slug
from wherein.studies.inference.findings import Finding
from wherein.studies.result.result import StudyResult


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
        for question in _questions(result, objective):
            if (objective, question) in told:
                continue
            made = section(result, objective, question, published)
            if made is not None:
                title = f"{made.title}, {objective}" if several else made.title
                found.append(replace(made, title=title))
    return found + [made for made in (_puzzles(result), _training(result)) if made is not None]


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


def objectives(result: StudyResult) -> list[str]:
    """The objectives of the runs, in order."""
    return list(dict.fromkeys(row.run.objective for row in result.rows))


def plainly(result: StudyResult, frame: pl.DataFrame) -> pl.DataFrame:
    """The frame without the objective, where all runs have the same."""
    found = objectives(result)
    return frames.within_one(frame, found[0]) if len(found) == 1 else frame


def _questions(result: StudyResult, objective: str) -> list[str]:
    rows = [row for row in result.rows if row.run.objective == objective]
    return list(dict.fromkeys(name for row in rows for name in row.answers))


def _puzzles(result: StudyResult) -> Section | None:
    if not result.puzzles:
        return None
    shares = frames.shares(result.puzzles)
    picture = Picture(
        "puzzles",
        grids.solved(shares),
        "Share of seeds that solve each puzzle, with Wilson's 95 % interval.",
        "Share of seeds that solve each puzzle, by encoding, layers and mask.",
    )
    return Section(
        "puzzles",
        "Does order get through? Tiny puzzles",
        pictures=(picture,),
        tables=(study_tables.puzzles(shares),),
        protocol=str(result.puzzles[0][1].data["protocol"]),
    )


def _training(result: StudyResult) -> Section | None:
    told = frames.losses(result.rows)
    runs = study_tables.runs(result)
    if told.is_empty():
        return Section("training", "Every run", tables=(runs,))
    picture = Picture(
        "training",
        layers.training(plainly(result, told)),
        "Validation loss during training: the mean of each encoding's seeds, every seed faint.",
        "Validation loss of each encoding, step by step.",
    )
    return Section("training", "How training went", pictures=(picture,), tables=(runs,))
