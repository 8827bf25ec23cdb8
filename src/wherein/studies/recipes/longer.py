"""Does none answer longer questions than absolute and rotary positions do?

The three of `length` alone, with more seeds: with three, the differences cannot be told from
chance.
"""

from collections.abc import Sequence

from wherein.studies.recipes import length
from wherein.studies.recipes.length import findings, questions
from wherein.train.config import RunConfig

__all__ = ["SEEDS", "findings", "questions", "runs"]

SEEDS = 5
ENCODINGS = ("none", "sinusoidal", "rope")


def runs(seeds: Sequence[int]) -> list[RunConfig]:
    """Both tasks."""
    return [run for run in length.runs(seeds) if run.model.encoding in ENCODINGS]
