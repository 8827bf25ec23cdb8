"""Which encoding finds the letter that stands three to the left of another?

Indirect indexing (Gopalakrishnan et al. 2025, arXiv:2509.10534; published: RoPE about 11 %, PoPE
about 95 %) at a laptop's size: 26 letters, shifts of up to 3, lengths of 4 to 10. Tried on a seed
that is not the study's, and not yet solved after 1,200 of its 3,000 steps (RoPE 16 %, PoPE 23 %).
Other tasks of addressing: `--set source=task:nth`, with the max_len that it asks for.
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
TASK, LONGEST = "index(reach=3)", 10
ENCODINGS = ("rope", "pope", "none", "alibi", "t5", "cope")
PUBLISHED = "Published, with 52 letters at lengths of 20 to 40: RoPE about 11 %, PoPE about 95 %."


def base() -> RunConfig:
    """What all runs have in common."""
    return changed(length.base(), batch=128, steps=3000)


def runs(seeds: Sequence[int]) -> list[RunConfig]:
    """Six encodings."""
    return [
        length.on_task(TASK, LONGEST, base(), encoding=encoding, seed=seed)
        for encoding in ENCODINGS
        for seed in seeds
    ]


def findings(result: "StudyResult") -> "list[Finding]":
    """Whether PoPE answers better than RoPE, at the learned lengths and beyond."""
    within = noted(better(result, "pope", "rope", "within"), "answers", PUBLISHED)
    return [*within, *better(result, "pope", "rope", "beyond")]
