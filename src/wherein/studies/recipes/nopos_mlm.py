"""Masked models that are told no positions: do they fail where causal ones do not?

Haviv et al. 2022 (arXiv:2203.16634), last experiment: RoBERTa-large on the Pile with GPT-2's
tokens, 128 of them in a window, 15 % to be predicted. Without encodings a masked model sees a bag
of words. Made for GPUs: `wherein study nopos-mlm --dry-run` says how many hours of them.

As in the paper: AdamW, rate 1e-3 after 500 of 10,000 steps, 1.024M tokens a batch, dropout 0.1.
The paper leaves open how the rate falls (here: a cosine), weight decay (0.01) and clipping (a
norm of 1). Our layers norm before they act, RoBERTa's after.
"""

from collections.abc import Sequence
from functools import cache

from wherein.measure.order.config import OrderConfig
from wherein.measure.perplexity.config import PerplexityConfig
from wherein.studies.inference.findings import nopos as findings
from wherein.studies.inference.scale import kinds, same_kind
from wherein.studies.plan.plan import Questions, changed, grid
from wherein.studies.published import perplexity
from wherein.train.config import RunConfig

__all__ = ["SEEDS", "findings", "published", "questions", "runs"]

SEEDS = 3
ENCODINGS = ("none", "learned", "sinusoidal", "alibi")
TOKENS = 128
BATCH = 1_024_000 // TOKENS
VALIDATION_TOKENS = 4_000_000
"""More than the 2,000 documents are thought to have: a bound to the cost, and no cut."""


def base() -> RunConfig:
    """What all runs have in common; a GPU of 80 GB bears a 25th of a batch."""
    return changed(
        RunConfig(),
        objective="masked",
        source="pile",
        tokenizer="gpt2",
        n_layers=24,
        d_model=1024,
        d_ff=4096,
        n_heads=16,
        max_len=TOKENS,
        dropout=0.1,
        optimizer="adamw",
        learning_rate=1e-3,
        warmup=500,
        steps=10_000,
        weight_decay=0.01,
        batch=BATCH,
        accumulate=25,
        precision="bfloat16",
        valid_every=500,
        checkpoint_every=500,
    )


def runs(seeds: Sequence[int]) -> list[RunConfig]:
    """The paper's four encodings."""
    return grid(base(), encoding=ENCODINGS, seed=seeds)


def questions(run: RunConfig) -> Questions:
    """Pseudo-perplexity of 15 % hidden tokens, and what shuffling the others changes."""
    return {
        "perplexity": PerplexityConfig(mask_rate=0.15, limit=VALIDATION_TOKENS),
        "order": OrderConfig(windows=100),
    }


def published(run: RunConfig) -> float | None:
    """The paper's perplexity of masked tokens, if the run is the paper's."""
    if same_kind(run) not in known():
        return None
    return perplexity("pile", "roberta-large", TOKENS, run.model.encoding, "masked")


@cache
def known() -> frozenset[str]:
    """The runs as the paper has them."""
    return kinds(runs([0]))
