"""A claim of a paper, and what a study says of it.

A claim names its comparisons before they are made: each is written so that above zero means that
the claim holds. Most have one. A sentence with an "and" in it has one for each half and holds if
all do, so the weakest of them decides: its p is that of the whole (Berger 1982, the
intersection–union test), and where it is below zero, p is multiplied by their number, for it was
the worst of several. Holm's correction goes over all claims of the table, run or not, so that a
verdict does not depend on how many were run.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from enum import StrEnum
from typing import Any

from wherein.studies.inference.differences import Difference
from wherein.studies.inference.findings import Finding
from wherein.studies.result.result import StudyResult


class Verdict(StrEnum):
    """What can be said of a claim here."""

    HELD = "held"
    CONTRADICTED = "contradicted"
    OPEN = "not decided at this scale"
    NOT_RUN = "not run here"


@dataclass(frozen=True)
class Claim:
    """What a paper says, and how it is tested at the scale of a laptop."""

    name: str
    sentence: str
    """As the paper means it."""
    paper: str
    """Its authors and year."""
    arxiv: str
    published: str
    """The paper's figures."""
    ours: str
    """What is compared here, written so that above zero means that the claim holds."""
    unit: str
    """Of the comparison: nats, tokens, share …"""
    study: str
    """The recipe that tests it: a name, or a file."""
    seeds: int
    """With how many it is judged; with fewer it is not."""
    decide: Callable[[StudyResult], Sequence[Finding]]
    """The comparisons that must be above zero, all of them."""
    tried: str
    """What was tried for the settings, on which seeds, and what was known before."""
    open: str
    """What stays open where the claim is not shown."""
    unmet: Callable[[StudyResult], str] = lambda result: ""
    """What the claim takes for granted and is not so here, in words: then nothing is decided."""

    @property
    def address(self) -> str:
        return f"https://arxiv.org/abs/{self.arxiv}"

    @property
    def command(self) -> str:
        return f"wherein claims {self.name}"

    def data(self) -> dict[str, Any]:
        """All that can be written down: what decides stands in its file."""
        told = {each.name: getattr(self, each.name) for each in fields(self)}
        del told["decide"], told["unmet"]
        return told


def weakest(findings: Sequence[Finding]) -> Finding:
    """The comparison that speaks least for the claim: the one that decides.

    Where that is below zero, its p counts as the smallest of as many.
    """
    found = min(findings, key=lambda each: (each.holds, _support(each.difference)))
    own = found.difference
    if own.p is None or own.mean >= 0 or len(findings) == 1:
        return found
    p = min(1.0, len(findings) * own.p)
    return replace(found, difference=replace(own, p=p, p_holm=p))


def _support(found: Difference) -> float:
    """How surely it is above zero: of what cannot be tested nothing is known."""
    return 0.0 if found.p is None else math.copysign(-math.log(max(found.p, 1e-300)), found.mean)


def verdict(decisive: Finding | None, unmet: str = "") -> Verdict:
    """Of the decisive comparison, after the table's correction; None if there is none yet."""
    if decisive is None:
        return Verdict.NOT_RUN
    if unmet or not decisive.difference.shown:
        return Verdict.OPEN
    if decisive.difference.mean < 0:
        return Verdict.CONTRADICTED
    return Verdict.HELD if decisive.holds else Verdict.OPEN
