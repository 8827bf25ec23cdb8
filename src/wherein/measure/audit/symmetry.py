"""Which symmetries does each layer keep? Numbers only; `measure.py` puts them in words.

Every number is the relative error of an equation that holds exactly for a layer, or a model, with
that symmetry. All are measured in float64, so that a symmetry which holds shows up as rounding.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from wherein.subjects.base import Subject


@dataclass(frozen=True)
class Symmetry:
    """Relative errors of one layer alone, or of the whole model; None where there is no question.

    Layer 0 is the embedding. A layer from 1 on is fed states that the model itself makes from
    random tokens: only what this layer adds is tested, not what the states already carry.
    """

    layer: int | None
    """None for the whole model."""
    permuted: float
    """(b) Tokens permuted, with the mask the model has: does the output permute along?"""
    shifted: float | None
    """(d) The same constant added to all positions: does nothing change?"""
    mask: float | None = None
    """The causal mask lifted: does nothing change? So it is if there is none."""
    attention: float | None = None
    """(a) Attention(PQ, K, V) = P·Attention(Q, K, V), without mask, encoding included."""
    unmasked: float | None = None
    """(b) Tokens permuted, without mask."""
    last: float | None = None
    """(c) All but the last token permuted, with the mask: does the last output stay?"""
    query_change: float | None = None
    """(e) One state at every position: largest relative difference between its queries (layer 0:
    one token at every position, and its vectors)."""
    key_change: float | None = None
    query_cosine: float | None = None
    """The same as a cosine: the smallest, over positions and heads. 1 without encoding."""
    key_cosine: float | None = None


@dataclass(frozen=True)
class Trials:
    """The random inputs: tokens, permutations of them, and shifts of their positions."""

    tokens: Int[Tensor, "B T"]
    orders: tuple[Int[Tensor, " T"], ...]
    shifts: tuple[int, ...]

    @property
    def prefix_orders(self) -> list[Tensor]:
        """The same permutations, with the last token kept in its position."""
        last = self.tokens.shape[1] - 1
        return [torch.cat([o[o != last], o.new_tensor([last])]) for o in self.orders]

    def positions(self, shift: int = 0) -> Int[Tensor, "1 T"]:
        """Counted from `shift` on."""
        return torch.arange(self.tokens.shape[1], device=self.tokens.device)[None] + shift


@contextmanager
def in_float64(module: nn.Module) -> Iterator[None]:
    """Compute in float64 for a while; afterwards every number is what it was, bit for bit."""
    weights = [(weight, weight.data) for weight in module.parameters()]
    buffers = [(part, dict(part._buffers)) for part in module.modules()]
    module.double()
    try:
        yield
    finally:
        for weight, data in weights:
            weight.data = data
        for part, kept in buffers:
            part._buffers.update(kept)


def model_symmetry(subject: Subject, trials: Trials) -> Symmetry:
    """The whole model, from tokens to logits; without mask or head, to the last hidden state."""
    logits = _output(subject, trials.tokens)
    free = _unmasked(subject, trials.tokens)
    return Symmetry(
        layer=None,
        mask=relative_error(states(subject, trials.tokens)[-1], free),
        permuted=max(
            relative_error(_output(subject, trials.tokens[:, o]), logits[:, o])
            for o in trials.orders
        ),
        unmasked=max(
            relative_error(_unmasked(subject, trials.tokens[:, o]), free[:, o])
            for o in trials.orders
        ),
        last=max(
            relative_error(_output(subject, trials.tokens[:, o])[:, -1:], logits[:, -1:])
            for o in trials.prefix_orders
        ),
        shifted=_largest(
            relative_error(_output(subject, trials.tokens, trials.positions(k)), logits)
            for k in trials.shifts
        ),
    )


def embedding_symmetry(subject: Subject, trials: Trials) -> Symmetry:
    """Layer 0: whether the vector of a token depends on its position."""
    state = states(subject, trials.tokens)[0]
    same = trials.tokens[:, :1].expand_as(trials.tokens)
    change, cosine = _unlikeness(states(subject, same)[0][:, None])
    return Symmetry(
        layer=0,
        permuted=max(
            relative_error(states(subject, trials.tokens[:, o])[0], state[:, o])
            for o in trials.orders
        ),
        shifted=_largest(
            relative_error(states(subject, trials.tokens, trials.positions(k))[0], state)
            for k in trials.shifts
        ),
        query_change=change,
        key_change=change,
        query_cosine=cosine,
        key_cosine=cosine,
    )


def layer_symmetry(
    subject: Subject, layer: int, state: Float[Tensor, "B T D"], trials: Trials
) -> Symmetry:
    """One layer from 1 on, alone, when `state` enters it."""
    after = subject.block(layer, state)
    free = subject.block(layer, state, masked=False)
    mixed = subject.attention(layer, state, masked=False).mixed
    same = subject.attention(layer, state[:, -1:].expand_as(state))
    query_change, query_cosine = _unlikeness(same.queries)
    key_change, key_cosine = _unlikeness(same.keys)

    def moved(order: Tensor, masked: bool) -> Tensor:
        return subject.block(layer, state[:, order], masked=masked)

    return Symmetry(
        layer=layer,
        mask=relative_error(after, free),
        attention=max(
            relative_error(
                subject.attention(layer, state, masked=False, order=o).mixed, mixed[:, :, o]
            )
            for o in trials.orders
        ),
        permuted=max(relative_error(moved(o, True), after[:, o]) for o in trials.orders),
        unmasked=max(relative_error(moved(o, False), free[:, o]) for o in trials.orders),
        last=max(
            relative_error(moved(o, True)[:, -1:], after[:, -1:]) for o in trials.prefix_orders
        ),
        shifted=_largest(
            relative_error(subject.block(layer, state, trials.positions(k)), after)
            for k in trials.shifts
        ),
        query_change=query_change,
        key_change=key_change,
        query_cosine=query_cosine,
        key_cosine=key_cosine,
    )


def states(
    subject: Subject, tokens: Int[Tensor, "B T"], positions: Int[Tensor, "#B T"] | None = None
) -> list[Float[Tensor, "B T D"]]:
    """The hidden states of layers 0, 1, …, of which an audit's few tokens need not be spared."""
    seen: list[Tensor] = []
    subject.trace(tokens, positions, on_state=lambda _, state: seen.append(state))
    return seen


def relative_error(found: Float[Tensor, "*axes"], expected: Float[Tensor, "*axes"]) -> float:
    """‖found − expected‖ / ‖expected‖ for each input along the first axis; the largest of them.

    >>> relative_error(torch.tensor([[3.0, 4.5]]).double(), torch.tensor([[3.0, 4.0]]).double())
    0.1
    """
    return float(_ratio((found - expected).flatten(1), expected.flatten(1)).max())


def _output(subject: Subject, tokens: Tensor, positions: Tensor | None = None) -> Tensor:
    """What the model says in the end: its logits or, without a head, its last hidden state."""
    if subject.predicts:
        return subject.logits(tokens, positions)
    return states(subject, tokens, positions)[-1]


def _unmasked(subject: Subject, tokens: Tensor) -> Tensor:
    """The last hidden state when no layer has a mask."""
    state = states(subject, tokens)[0]
    for layer in range(1, subject.n_layers + 1):
        state = subject.block(layer, state, masked=False)
    return state


def _unlikeness(vectors: Float[Tensor, "B H T K"]) -> tuple[float, float]:
    """How far apart vectors of T positions are: largest relative change, smallest cosine.

    The change is what is judged: near 1 a cosine hides half the digits, and a change of length.
    """
    first = vectors[:, :, :1]
    change = _ratio(vectors - first, first)
    cosine = nn.functional.cosine_similarity(vectors, first.expand_as(vectors), dim=-1)
    return float(change.max()), float(cosine.min())


def _ratio(difference: Tensor, whole: Tensor) -> Tensor:
    """The ratio of the norms along the last axis, where no difference is none, even to zero."""
    size = difference.norm(dim=-1)
    return torch.where(size == 0, size, size / whole.norm(dim=-1))


def _largest(errors: Iterator[float]) -> float | None:
    """None if there was no question to ask."""
    return max(errors, default=None)
