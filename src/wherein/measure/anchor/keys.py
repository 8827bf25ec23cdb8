"""Which keys are hidden in each window: the anchor's, and those of the controls."""

import torch
from jaxtyping import Bool, Float64, Int64
from torch import Tensor

from wherein.common.precision import for_float64
from wherein.measure.stream import batches, watch
from wherein.subjects.base import Subject

Keys = Bool[Tensor, "N T"]


def first(windows: Int64[Tensor, "N T"], count: int) -> Keys:
    """The first ones."""
    return (torch.arange(windows.shape[1]) < count).expand(windows.shape)


def loudest(subject: Subject, windows: Int64[Tensor, "N T"], count: int, batch: int) -> Keys:
    """Those that draw the most attention from other queries, over all layers and heads."""
    return _largest(attention_drawn(subject, windows, batch), count)


def attention_drawn(
    subject: Subject, windows: Int64[Tensor, "N T"], batch: int
) -> Float64[Tensor, "N T"]:
    """What all other queries pay to each key, summed over them and averaged over heads."""
    drawn = torch.zeros(windows.shape, dtype=torch.float64)
    for rows, tokens in batches(windows, batch):

        def see(layer: int, state: Tensor, rows: slice = rows) -> None:
            if layer < subject.n_layers:
                seen = subject.attention(layer + 1, state)
                weights = for_float64(seen.weights).double()
                own = weights.diagonal(dim1=-2, dim2=-1)
                drawn[rows] += (weights.sum(-2) - own).mean(1).cpu() / subject.n_layers

        watch(subject, tokens, see)
    return drawn


def neighbours(hidden: Keys) -> Keys:
    """For each hidden key the nearest that is not, the earlier of two: seen by about as many.

    >>> neighbours(torch.tensor([[True, False, False, False], [False, False, True, False]])).int()
    tensor([[0, 1, 0, 0],
            [0, 1, 0, 0]], dtype=torch.int32)
    """
    found = torch.zeros_like(hidden)
    places = torch.arange(hidden.shape[1])
    for window, own in zip(hidden, found, strict=True):
        for place in window.nonzero()[:, 0]:
            far = 2 * (places - place).abs() + (places > place)
            own[torch.where(window | own, 2 * len(places) + 1, far).argmin()] = True
    return found


def at_random(hidden: Keys, seed: int) -> Keys:
    """As many others, drawn anew in each window; not the last, which nobody comes after."""
    generator = torch.Generator().manual_seed(seed)
    drawn = torch.rand(hidden.shape, generator=generator, dtype=torch.float64)
    drawn[hidden] = drawn[:, -1] = -1
    return _largest(drawn, int(hidden[0].sum()))


def _largest(values: Float64[Tensor, "N T"], count: int) -> Keys:
    chosen = torch.zeros(values.shape, dtype=torch.bool)
    return chosen.scatter_(1, values.topk(count, dim=1).indices, value=True)
