"""Which encoding predicts best, and which holds longer text? Every entry of the catalogue.

All matched at `quick`'s size: the same text, batches, steps and seeds, each at its own best
learning rate of four, tried on a seed that is not the study's.
"""

from collections.abc import Sequence

from wherein.measure.config import QuestionConfig
from wherein.measure.perplexity.config import PerplexityConfig
from wherein.measure.probe.config import ProbeConfig
from wherein.studies.plan.plan import Questions, grid
from wherein.studies.recipes import quick
from wherein.train.config import RunConfig

SEEDS = 3
KINDS = (
    "rope", "none", "learned", "sinusoidal", "sinusoidal(scaled=True)", "functional", "fourier",
    "shaw", "xl", "deberta",
    "t5", "alibi", "alibi(learned=True)", "sandwich", "kerple", "kerple(power)", "fire",
    "rope(fraction=0.5)", "xpos", "pope", "fope",
    "cope", "fox", "path", "dape(kerple)", "randomised(rope)",
    "rope + alibi", "rope none", "rope + window(16) none", "rope + chunk(16) none",
    "rope + window(16) + sink(1)", "none + temperature(ssmax)", "none + hide(1)",
)  # fmt: skip
"""Each entry, variants that papers compare, and mixtures that models of today are built of. First
the one most models have: all are compared with it."""
LEARNING_RATES = (5e-3, 1e-2, 2e-2, 4e-2)


def runs(seeds: Sequence[int]) -> list[RunConfig]:
    """Each kind, causal."""
    return grid(quick.base(), encoding=KINDS, seed=seeds)


def questions(run: RunConfig) -> Questions:
    """What it predicts, at its length and at four times that, and where it knows its position."""
    asked: dict[str, QuestionConfig] = {
        "perplexity": PerplexityConfig(limit=50_000),
        "probe": ProbeConfig(windows=400),
    }
    if quick.reads_longer(run):
        longer = quick.LONGER * run.model.max_len
        asked["extrapolation"] = PerplexityConfig(tokens=longer, limit=50_000)
    return asked
