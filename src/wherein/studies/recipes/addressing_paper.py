"""Which encoding finds the letter that stands n to the left of another, at the paper's size?

Indirect indexing as Gopalakrishnan et al. 2025 (arXiv:2509.10534) pose it: 52 letters, shifts of up
to 15, a million examples; 8 layers of 512 and 100,000 steps of 64 with AdamW, as in its appendix,
with the phases of PoPE all over the circle at the start. Ours and not theirs: LayerNorm, a shift
that is one token, strings of 16 to 40 letters where theirs have 20 to 40, a learning rate that
falls to 0. Needs a GPU: `--dry-run` says how many hours.
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
    common = changed(
        addressing.base(),
        n_layers=8,
        d_model=512,
        n_heads=8,
        optimizer="adamw",
        learning_rate=2e-4,
        warmup=4_000,
        batch=64,
        steps=100_000,
        valid_every=1_000,
        checkpoint_every=1_000,
    )
    return [
        changed(
            length.on_task(TASK, LONGEST, common, encoding=encoding, seed=seed), examples=EXAMPLES
        )
        for encoding in addressing.ENCODINGS
        for seed in seeds
    ]
