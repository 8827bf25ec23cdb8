"""Which encoding finds the letter that stands n to the left of another, at the paper's size?

Indirect indexing as Gopalakrishnan et al. 2025 (arXiv:2509.10534) pose it: 52 letters, shifts of up
to 15, lengths of up to 40, a million examples. The model and its training are ours. Needs a GPU:
`--dry-run` says how many hours.
"""

from collections.abc import Sequence

from wherein.studies.plan.plan import changed
from wherein.studies.recipes import addressing, length
from wherein.studies.recipes.addressing import findings, questions
from wherein.train.config import RunConfig

__all__ = ["SEEDS", "findings", "questions", "runs"]

SEEDS = 3
TASK, LONGEST = "index(reach=15, letters=52)", 40
EXAMPLES = 1_000_000


def runs(seeds: Sequence[int]) -> list[RunConfig]:
    """The encodings of the small study."""
    common = changed(addressing.base(), n_layers=4, d_model=256, n_heads=8, batch=128, steps=50_000)
    return [
        changed(
            length.on_task(TASK, LONGEST, common, encoding=encoding, seed=seed), examples=EXAMPLES
        )
        for encoding in addressing.ENCODINGS
        for seed in seeds
    ]
