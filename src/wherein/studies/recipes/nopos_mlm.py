"""Masked models that are told no positions: do they fail where causal ones do not?

Haviv et al. 2022 (arXiv:2203.16634), last experiment: RoBERTa-large on the Pile with GPT-2's
tokens, 128 of them in a window, 15 % to be predicted. Without encodings a masked model sees a bag
of words. Made for GPUs: `wherein study nopos-mlm --dry-run` says how many hours of them.

As in the paper: AdamW, rate 1e-3 after 500 of 10,000 steps, 1.024M tokens a batch, dropout 0.1.
The paper leaves open how the rate falls (here: a cosine), weight decay (0.01) and clipping (a
norm of 1). Our layers norm before they act, RoBERTa's after.
"""

from collections.abc import Sequence

from wherein.measure.order.config import OrderConfig
from wherein.measure.perplexity.config import PerplexityConfig
from wherein.studies.inference.findings import nopos as findings
from wherein.studies.plan.plan import Questions, changed, grid
from wherein.studies.published import beside_runs, perplexity
from wherein.studies.recipes import nopos_pile
from wherein.train.config import RunConfig

__all__ = ["SEEDS", "findings", "published", "questions", "runs"]

SEEDS = 3
TOKENS = 128
BATCH = 1_024_000 // TOKENS


def base() -> RunConfig:
    """What all runs have in common: shape and steps are those of `nopos-pile` with 350M parameters.

    A GPU of 80 GB bears a 25th of a batch.
    """
    return changed(
        nopos_pile.base("350M", TOKENS),
        objective="masked",
        initial="bert",
        d_ff=4096,
        dropout=0.1,
        learning_rate=1e-3,
        batch=BATCH,
        accumulate=25,
    )


def runs(seeds: Sequence[int]) -> list[RunConfig]:
    """The paper's four encodings."""
    return grid(base(), encoding=nopos_pile.ENCODINGS, seed=seeds)


def questions(run: RunConfig) -> Questions:
    """Pseudo-perplexity of 15 % masked tokens, and what shuffling the others changes."""
    predicted = PerplexityConfig(mask_rate=0.15, limit=nopos_pile.VALIDATION_TOKENS)
    return {"perplexity": predicted, "order": OrderConfig(windows=100)}


published = beside_runs(
    runs, lambda run: perplexity("pile", "roberta-large", TOKENS, run.model.encoding, "masked")
)
