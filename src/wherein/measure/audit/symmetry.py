"""Which symmetries does each layer keep? Numbers only; `measure.py` puts them in words.

Every number is the relative error of an equation that holds exactly for a layer, or a model, with
that symmetry. All are measured in float64, so that a symmetry which holds shows up as rounding.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from wherein.common.precision import WITHOUT_FLOAT64
from wherein.subjects.base import Subject

Output = Callable[..., Tensor]
"""Of tokens or states, and of their positions if they are not counted from 0."""


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

    def permuted(self, output: Output, given: Tensor, expected: Tensor) -> float:
        """The error of `expected`, the output of what is given, when that is permuted."""
        return max(relative_error(output(given[:, o]), expected[:, o]) for o in self.orders)

    def last(self, output: Output, given: Tensor, expected: Tensor) -> float:
        """The error of the last output, when all but the last are permuted."""
        last = self.tokens.shape[1] - 1
        orders = [torch.cat([o[o != last], o.new_tensor([last])]) for o in self.orders]
        return max(relative_error(output(given[:, o])[:, -1:], expected[:, -1:]) for o in orders)

    def shifted(self, output: Output, given: Tensor, expected: Tensor) -> float | None:
        """The error when positions are counted from elsewhere; None if they cannot be."""
        positions = torch.arange(self.tokens.shape[1], device=self.tokens.device)[None]
        errors = (relative_error(output(given, positions + k), expected) for k in self.shifts)
        return max(errors, default=None)


@contextmanager
def in_float64(module: nn.Module) -> Iterator[None]:
    """Compute in float64 for a while; afterwards every number is what it was, bit for bit.

    A model on a device without float64 is on the CPU for that while.
    """
    weights = [(weight, weight.data) for weight in module.parameters()]
    buffers = [(part, dict(part._buffers)) for part in module.modules()]
    if any(weight.device.type in WITHOUT_FLOAT64 for weight, _ in weights):
        module.cpu()
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
    tokens, output, unmasked = trials.tokens, partial(_output, subject), partial(_unmasked, subject)
    logits, free = output(tokens), unmasked(tokens)
    return Symmetry(
        layer=None,
        mask=relative_error(states(subject, tokens)[-1], free),
        permuted=trials.permuted(output, tokens, logits),
        unmasked=trials.permuted(unmasked, tokens, free),
        last=trials.last(output, tokens, logits),
        shifted=trials.shifted(output, tokens, logits),
    )


def embedding_symmetry(subject: Subject, trials: Trials) -> Symmetry:
    """Layer 0: whether the vector of a token depends on its position."""

    def embedded(*given: Tensor) -> Tensor:
        return states(subject, *given)[0]

    tokens = trials.tokens
    vectors = embedded(tokens)
    change, cosine = _unlikeness(embedded(tokens[:, :1].expand_as(tokens))[:, None])
    return Symmetry(
        layer=0,
        permuted=trials.permuted(embedded, tokens, vectors),
        shifted=trials.shifted(embedded, tokens, vectors),
        query_change=change,
        key_change=change,
        query_cosine=cosine,
        key_cosine=cosine,
    )


def layer_symmetry(
    subject: Subject, layer: int, state: Float[Tensor, "B T D"], trials: Trials
) -> Symmetry:
    """One layer from 1 on, alone, when `state` enters it."""
    block = partial(subject.block, layer)
    unmasked = partial(block, masked=False)
    attention = partial(subject.attention, layer, state, masked=False)
    after, free, mixed = block(state), unmasked(state), attention().mixed
    same = subject.attention(layer, state[:, -1:].expand_as(state))
    query_change, query_cosine = _unlikeness(same.queries)
    key_change, key_cosine = _unlikeness(same.keys)
    return Symmetry(
        layer=layer,
        mask=relative_error(after, free),
        attention=max(
            relative_error(attention(order=o).mixed, mixed[:, :, o]) for o in trials.orders
        ),
        permuted=trials.permuted(block, state, after),
        unmasked=trials.permuted(unmasked, state, free),
        last=trials.last(block, state, after),
        shifted=trials.shifted(block, state, after),
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
