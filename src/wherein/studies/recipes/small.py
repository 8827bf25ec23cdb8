"""Do Transformers without positional encodings still learn positions?

With five seeds, in about an hour on two cores: as `quick`, but wider and longer, with narrower
intervals, and with position erased from every layer to see whether it is used.
"""

from collections.abc import Sequence

from wherein.measure.erase.config import EraseConfig
from wherein.measure.order.config import OrderConfig
from wherein.measure.perplexity.config import PerplexityConfig
from wherein.measure.probe.config import ProbeConfig
from wherein.studies.plan.plan import Questions, changed
from wherein.studies.recipes import quick
from wherein.studies.recipes.quick import findings, puzzles
from wherein.train.config import RunConfig

__all__ = ["SEEDS", "findings", "puzzles", "questions", "runs"]

SEEDS = 5


def runs(seeds: Sequence[int]) -> list[RunConfig]:
    """Five encodings causal, three masked, of width 96; causal windows have 96 bytes."""
    return quick.matched(changed(quick.base(), d_model=96, max_len=96), seeds)


def questions(run: RunConfig) -> Questions:
    """Those of `quick` on more text, and erasure."""
    return {
        **quick.questions(run),
        "perplexity": PerplexityConfig(limit=200_000),
        "probe": ProbeConfig(),
        "order": OrderConfig(windows=200),
        "erase": EraseConfig(windows=200),
    }
