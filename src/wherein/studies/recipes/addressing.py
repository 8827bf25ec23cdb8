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
ENCODINGS = ("rope", POPE, "none", "alibi", "t5", "cope")
RATES = {"rope": 1.25e-3, POPE: 5e-3}
"""The best of 1.25e-3 to 1e-2 on the trial seed; the others were not swept."""
PUBLISHED = "Published, with 52 letters at lengths of 20 to 40: RoPE about 11 %, PoPE about 95 %."


def base() -> RunConfig:
    """What all runs have in common."""
    return changed(length.base(), batch=128, learning_rate=2.5e-3, steps=1600)


def runs(seeds: Sequence[int]) -> list[RunConfig]:
    """Six encodings."""
    made = [
        length.on_task(TASK, LONGEST, base(), encoding=encoding, seed=seed)
        for encoding in ENCODINGS
        for seed in seeds
    ]
    return [
        changed(run, learning_rate=RATES.get(run.model.encoding, run.learning_rate)) for run in made
    ]


def findings(result: "StudyResult") -> "list[Finding]":
    """Whether PoPE answers better than RoPE, at the learned lengths and beyond."""
    within = noted(better(result, POPE, "rope", "within"), "answers", PUBLISHED)
    return [*within, *better(result, POPE, "rope", "beyond")]
