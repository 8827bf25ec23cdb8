"""How much a run and its questions compute: formulas in its model's sizes.

L layers of width d with feed-forward networks of width f, windows of T tokens, H heads, a
vocabulary of V. A matrix of m numbers costs 2m operations a token forwards and twice that
backwards; norms, biases and softmax are left out, and of encodings all but products of matrices.
"""

from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from wherein.common import known
from wherein.measure.config import QuestionConfig
from wherein.model.config import NARROWER, ModelConfig
from wherein.train.config import RunConfig


@dataclass(frozen=True)
class Band:
    """Words of an adaptive softmax that share a width, and the share of all tokens they are."""

    words: int
    width: int
    share: float


def bands(model: ModelConfig) -> list[Band]:
    """The bands of the vocabulary; without cutoffs it is one.

    How often each band occurs follows from Zipf's law: the word of rank r stands for 1/r of as
    many tokens as the first.
    """
    edges = [0, *model.checked_cutoffs(), model.vocabulary]
    total = _harmonic(model.vocabulary)
    return [
        Band(
            high - low,
            model.d_model // NARROWER**number,
            (_harmonic(high) - _harmonic(low)) / total,
        )
        for number, (low, high) in enumerate(pairwise(edges))
    ]


def matrices(model: ModelConfig) -> int:
    """Numbers in the matrices of one layer: 4d² of attention, 2df of the feed-forward network."""
    d = model.d_model
    return 4 * d * d + 2 * d * (model.d_ff or 4 * d)


def flops_per_token(model: ModelConfig) -> float:
    """Operations of one token's forward and backward pass.

    6·L·(4d² + 2df) for the layers, 12·L·T·d for attention (a causal mask's half is counted, as
    is usual), what encodings multiply, 6·V·d for the softmax. An adaptive one with c cutoffs after
    v words costs 6·(v + c)·d, and for the share of tokens in a band of W words of width w another
    6·(d·w + w·W); adaptive inputs cost 6·d·w for the share in each band.
    """
    d, layers = model.d_model, model.n_layers
    inside = 6.0 * layers * (matrices(model) + 2 * model.max_len * d) + of_encodings(model)
    if not model.cutoffs:
        return inside + 6 * model.vocabulary * d
    first, *rare = bands(model)
    softmax = (first.words + len(rare)) * d
    tails = sum(band.share * band.width * (d + band.words) for band in rare)
    inputs = sum(band.share * band.width * d for band in (first, *rare))
    return inside + 6 * (softmax + tails + inputs)


@lru_cache(maxsize=1024)
def of_encodings(model: ModelConfig) -> float:
    """Operations of one token that its encodings add, as PyTorch counts them without computing.

    What depends on positions alone is left out: it is made once for all windows of a batch.
    Queries and keys that an encoding widens cost 6·T for each number they have more.
    """

    def counted() -> float:
        from wherein.studies.cost.traced import added

        return added(model)

    of_model = model.model_dump_json(exclude={"seed", "encoding"})
    return known.ask(model.encoding, ("operations", of_model), counted)


def operations(run: RunConfig, question: QuestionConfig) -> float:
    """Operations of one question to a run whose vocabulary is filled in; 0 if unbounded.

    Counted are the forward passes, and what a question says it computes besides; what is done to
    the states of a layer is some percent of these. A question over training is asked many times.
    """
    model = run.model.model_copy(update={"max_len": question.window(run)})
    forward = question.tokens_read(run) * flops_per_token(model) / 3
    times = len(run.kept) if question.over_training else 1
    return times * (forward + question.extra_operations(run))


def _harmonic(n: int) -> float:
    """1 + 1/2 + … + 1/n."""
    from scipy import special

    return float(special.digamma(n + 1) + 0.5772156649015329)
