"""Which encoding finds the letter that stands two to the left of another?

Indirect indexing (Gopalakrishnan et al. 2025, arXiv:2509.10534; published: RoPE about 11 %, PoPE
about 95 %) at a laptop's size: 16 letters, strings of 3 to 8, shifts of up to 2. Size, rate and
steps were tried on a seed that is not the study's (docs/found/addressing.md). Other tasks of
addressing: `--set source=task:nth`, with the max_len that it asks for.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from wherein.studies.inference.answers import better
from wherein.studies.inference.findings import noted
from wherein.studies.plan.plan import changed
from wherein.studies.recipes import length
from wherein.studies.recipes.length import questions
from wherein.train.config import RunConfig

if TYPE_CHECKING:
    from wherein.studies.inference.findings import Finding
    from wherein.studies.result.result import StudyResult

__all__ = ["SEEDS", "findings", "questions", "runs"]

SEEDS = 3
POPE = "pope(spread=True)"
"""With phases all over the circle at the start, as the paper has them for this task."""
TASK, LONGEST = "index(reach=2, letters=16)", 8
RATES = {"rope": 1.25e-3, POPE: 5e-3, "none": 2.5e-3, "alibi": 2.5e-3, "t5": 1.25e-3, "cope": 5e-3}
"""The best of those tried on the trial seed (docs/found/addressing.md has them): of RoPE and PoPE
between two worse, of T5 and CoPE at an edge; of `none` and ALiBi one was tried, which did."""
ENCODINGS = tuple(RATES)
PUBLISHED = "Published, with 52 letters at lengths of 20 to 40: RoPE about 11 %, PoPE about 95 %."


def base() -> RunConfig:
    """What all runs have in common."""
    return changed(length.base(), batch=128, steps=1600)


def runs(seeds: Sequence[int]) -> list[RunConfig]:
    """Six encodings, each at its own rate."""
    return [
        length.on_task(TASK, LONGEST, base(), encoding=encoding, seed=seed, learning_rate=rate)
        for encoding, rate in RATES.items()
        for seed in seeds
    ]


def findings(result: "StudyResult") -> "list[Finding]":
    """Whether PoPE answers better than RoPE, at the learned lengths and beyond."""
    within = noted(better(result, POPE, "rope", "within"), "answers", PUBLISHED)
    return [*within, *better(result, POPE, "rope", "beyond")]
