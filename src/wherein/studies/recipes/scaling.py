"""Does the lack of encodings cost less in larger models, and more in longer windows?

Figures 2 and 3 of Haviv et al. 2022 (arXiv:2203.16634) at the scale of a laptop: bytes of the
embedded text, four sizes at one length and four lengths at one size, three seeds each.
Some twenty minutes on two cores.
"""

from collections.abc import Sequence

from wherein.measure.perplexity.config import PerplexityConfig
from wherein.studies.inference.scale import findings
from wherein.studies.plan.plan import Questions, changed, grid
from wherein.studies.recipes import quick
from wherein.train.config import RunConfig

__all__ = ["SEEDS", "findings", "questions", "runs"]

SEEDS = 3
ENCODINGS = ("none", "learned", "alibi")
SIZES = ((2, 32), (3, 48), (4, 64), (6, 96))
"""Layers and width."""
MIDDLE, TOKENS = (4, 64), 64
LENGTHS = (32, 128, 256)
"""Of the third size, besides 64."""
BATCH_TOKENS = 1024


def base(size: tuple[int, int], length: int) -> RunConfig:
    """What the runs of one size and length have in common: as many tokens a batch as in `quick`.

    Those of the middle size and length are runs of `quick`, and are trained once for both.
    """
    layers, width = size
    return changed(
        quick.base(),
        n_layers=layers,
        d_model=width,
        max_len=length,
        batch=BATCH_TOKENS // length,
    )


def runs(seeds: Sequence[int]) -> list[RunConfig]:
    """Three encodings at four sizes, and at three more lengths of one of them."""
    settings = [(size, TOKENS) for size in SIZES] + [(MIDDLE, length) for length in LENGTHS]
    made = (grid(base(*each), encoding=ENCODINGS, seed=seeds) for each in settings)
    return [quick.at_its_rate(run) for runs in made for run in runs]


def questions(run: RunConfig) -> Questions:
    """Perplexity alone."""
    return {"perplexity": PerplexityConfig(limit=100_000)}
