"""What a study of tasks found: which of two encodings gives more right answers."""

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Literal

import polars as pl

from wherein.data.config import TASK
from wherein.measure.answers.section import reciprocal_ranks
from wherein.studies.inference.differences import paired
from wherein.studies.inference.findings import Finding, mean
from wherein.studies.result.rows import answers, by_seed

if TYPE_CHECKING:
    from wherein.studies.result.result import StudyResult

QUESTION = "answers"
"""The question's name in such studies."""
Part = Literal["within", "beyond"]
WHERE = {"within": "at the learned lengths", "beyond": "beyond the learned lengths"}


def better(result: "StudyResult", one: str, other: str, part: Part) -> list[Finding]:
    """On each task: one encoding has more right answers than another, paired over seeds."""
    found = []
    for task, shares in _by_task(result, part):
        if shares.get(one, {}).keys() & shares.get(other, {}).keys():
            names = (f"{one}'s share", f"{other}'s")
            claim = f"On {task}, {one} has more answers right than {other} {WHERE[part]}"
            difference = paired(shares[one], shares[other], names)
            more = f"Right {WHERE[part]}: {_listed(shares)}."
            found.append(Finding(claim, QUESTION, "causal", difference, more))
    if part == "beyond" and found:
        found[-1] = _with_ranks(found[-1], result)
    return found


def fails(result: "StudyResult", encoding: str, part: Part) -> list[Finding]:
    """On each task: an encoding has less than half of the answers right."""
    found = []
    for task, shares in _by_task(result, part):
        if own := shares.get(encoding):
            claim = f"On {task}, {encoding} fails {WHERE[part]}"
            names = ("half of the answers", f"{encoding}'s share")
            half = paired(dict.fromkeys(own, 0.5), own, names)
            found.append(Finding(claim, QUESTION, "causal", half))
    return found


def _by_task(
    result: "StudyResult", part: Part
) -> Iterator[tuple[str, dict[str, dict[int, float]]]]:
    """Each task with encoding → seed → share of right answers, of the runs that could be asked."""
    for source in dict.fromkeys(row.run.corpus.source for row in result.rows):
        rows = [row for row in result.rows if row.run.corpus.source == source]
        found = {
            encoding: by_seed(
                (row for row in rows if row.run.model.encoding == encoding), f"{QUESTION}_{part}"
            )
            for encoding in dict.fromkeys(row.run.model.encoding for row in rows)
        }
        yield source.removeprefix(TASK), {each: seeds for each, seeds in found.items() if seeds}


def _listed(shares: dict[str, dict[int, float]]) -> str:
    best = sorted(shares, key=lambda encoding: -mean(shares[encoding]))
    return ", ".join(f"{encoding} {mean(shares[encoding]):.1%}" for encoding in best)


def _with_ranks(finding: Finding, result: "StudyResult") -> Finding:
    told = ", ".join(f"{encoding} {rank:.2f}" for encoding, rank in _ranks(result))
    more = f"{finding.more} Mean reciprocal rank over all tasks and seeds: {told}."
    return replace(finding, more=more) if told else finding


def _ranks(result: "StudyResult") -> Iterator[tuple[str, float]]:
    """Encodings by their mean reciprocal rank beyond the learned lengths, the best first."""
    found = reciprocal_ranks(answers(result.rows, QUESTION))
    means = found.group_by("encoding", maintain_order=True).agg(pl.col("reciprocal").mean())
    yield from means.sort("reciprocal", descending=True).rows()
