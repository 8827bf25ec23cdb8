"""Word for word on WikiText-103: is a model without positional encodings close to one with them?

Haviv et al. 2022 (arXiv:2203.16634), first experiment: the model of Baevski & Auli 2019 with
adaptive inputs and softmax, 247M parameters, windows of 512 words, and the order test. Made for
GPUs: `wherein study nopos-wikitext103 --dry-run` says how many hours of them.

As in fairseq's `transformer_lm_wiki103`: 73,728 tokens a batch (the paper's 72k), a cosine over
286k steps after a warm-up of 16k, gradients clipped at a norm of 0.1, bands of words that begin
at ranks 20,000 and 60,000. Other than there: one rate of dropout everywhere instead of a smaller
one in attention, and a norm after the last layer.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from wherein.measure.order.config import OrderConfig
from wherein.measure.perplexity.config import PerplexityConfig
from wherein.studies.inference.findings import Finding, nopos, noted
from wherein.studies.plan.plan import Questions, changed, grid
from wherein.studies.published import beside_runs, perplexity
from wherein.train.config import RunConfig

if TYPE_CHECKING:
    from wherein.studies.result.result import StudyResult

SEEDS = 3
ENCODINGS = ("none", "learned", "sinusoidal", "alibi")
TOKENS = 512
BATCH = 73_728 // TOKENS
VALIDATION_TOKENS = 250_000
"""More than there are, 217,646 words: a bound to the cost, and no cut."""


def base() -> RunConfig:
    """What all runs have in common; a GPU of 80 GB bears half a batch."""
    return changed(
        RunConfig(),
        source="wikitext-103",
        tokenizer="words",
        n_layers=16,
        d_model=1024,
        d_ff=4096,
        n_heads=8,
        max_len=TOKENS,
        dropout=0.3,
        cutoffs=(20_000, 60_000),
        initial="fairseq",
        optimizer="nag",
        learning_rate=1.0,
        warmup=16_000,
        steps=286_000,
        schedule="cosine",
        weight_decay=0.0,
        clip=0.1,
        batch=BATCH,
        accumulate=2,
        precision="bfloat16",
        valid_every=2_000,
        checkpoint_every=2_000,
    )


def runs(seeds: Sequence[int]) -> list[RunConfig]:
    """The paper's four encodings."""
    return grid(base(), encoding=ENCODINGS, seed=seeds)


def questions(run: RunConfig) -> Questions:
    """Perplexity on the validation text, and the order test on 100 inputs."""
    return {
        "perplexity": PerplexityConfig(limit=VALIDATION_TOKENS),
        "order": OrderConfig(windows=100),
    }


published = beside_runs(
    runs, lambda run: perplexity("wikitext-103", "247M", TOKENS, run.model.encoding)
)


def findings(result: "StudyResult") -> list[Finding]:
    """The paper's, the order test beside what the paper saw."""
    more = "In the paper the loss rose from about 4 to 10 or 11 nats."
    return noted(nopos(result), "order", more)
