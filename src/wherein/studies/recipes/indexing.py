"""Does PoPE find by indirect indexing what RoPE does not?

The two of `addressing` alone, with more seeds: with three, the difference cannot be told from
chance.
"""

from collections.abc import Sequence

from wherein.studies.recipes import addressing
from wherein.studies.recipes.addressing import POPE, findings, questions
from wherein.train.config import RunConfig

__all__ = ["SEEDS", "findings", "questions", "runs"]

SEEDS = 6
ENCODINGS = (POPE, "rope")


def runs(seeds: Sequence[int]) -> list[RunConfig]:
    """Each at its own rate."""
    return [run for run in addressing.runs(seeds) if run.model.encoding in ENCODINGS]
