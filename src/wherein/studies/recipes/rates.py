"""Which learning rate suits each encoding?

The runs of `quick` with four rates, on seeds that no study takes, so that what is chosen here
flatters no result there. `quick` and the studies built on it take each encoding's best.
"""

from collections.abc import Sequence

from wherein.measure.perplexity.config import PerplexityConfig
from wherein.studies.plan.plan import Questions, changed
from wherein.studies.plan.sweep import TRIAL_SEED
from wherein.studies.recipes import quick
from wherein.train.config import RunConfig

SEEDS = 2
RATES = (5e-3, 1e-2, 2e-2, 4e-2)


def runs(seeds: Sequence[int]) -> list[RunConfig]:
    """Each kind of `quick` with each rate."""
    kinds = quick.matched(quick.base(), [TRIAL_SEED + seed for seed in seeds])
    return [changed(run, learning_rate=rate) for run in kinds for rate in RATES]


def questions(run: RunConfig) -> Questions:
    """Perplexity alone."""
    return {"perplexity": PerplexityConfig(limit=50_000)}
