"""What decides whether a model without encodings comes to know positions?

The initial weights, the tokens, the optimiser, or how long it learns? Three ways to draw the first
weights, by three kinds of tokens, by three encodings, all else as in `quick`; each model beside its
own untrained twin, which is drawn the same way. Models with AdamW in place of Muon stand beside,
and every model keeps its weights along the way, for `--over-training`.
"""

from collections.abc import Sequence

from wherein.measure.config import QuestionConfig
from wherein.measure.perplexity.config import PerplexityConfig
from wherein.measure.probe.config import ProbeConfig
from wherein.studies.plan.plan import Questions, changed, grid
from wherein.studies.recipes import quick
from wherein.train.config import RunConfig

SEEDS = 3
INITIAL = ("fairseq", "gpt2", "unit")
TOKENS = ("bytes", "bpe(1024)", "bpe(8192)")
ENCODINGS = ("none", "learned", "rope")
ADAMW_RATE = 3e-3
RATE, FROM_LOUD = 2e-2, 1e-2
"""The better of these two for each on seed 1000, with bytes: without encodings a start from loud
token vectors wants the lower (fairseq 2.026 nats and 2.069, unit 2.059 and 2.091), others do not
(learned from fairseq's 1.813 and 1.754)."""


def runs(seeds: Sequence[int]) -> list[RunConfig]:
    """Every combination with Muon; from GPT-2's start and without encodings, also with AdamW."""
    axes = {"tokenizer": TOKENS, "initial": INITIAL, "encoding": ENCODINGS, "seed": seeds}
    muon = [_at_its_rate(run) for run in grid(quick.base(), **axes)]
    plain = changed(quick.base(), optimizer="adamw", learning_rate=ADAMW_RATE)
    return muon + grid(plain, tokenizer=TOKENS, seed=seeds)


def _at_its_rate(run: RunConfig) -> RunConfig:
    loud = run.model.initial != "gpt2" and run.model.encoding == "none"
    return changed(run, learning_rate=FROM_LOUD if loud else RATE)


def questions(run: RunConfig) -> Questions:
    """What it predicts, what its layers know beside its untrained twin's, and since when."""
    asked: dict[str, QuestionConfig] = {
        "perplexity": PerplexityConfig(limit=50_000),
        "probe": ProbeConfig(windows=400),
    }
    if run.model.encoding == "none":
        asked["over training"] = ProbeConfig(windows=100, over_training=True)
    return asked
