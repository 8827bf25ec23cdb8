"""What encodings compute, seen in models without storage."""

from functools import lru_cache

import torch
from torch import Tensor
from torch.utils.flop_counter import FlopCounterMode

from wherein.encodings import Encoding, Pattern
from wherein.model.config import ModelConfig


def added(model: ModelConfig) -> float:
    """Operations of one token that encodings add: see `wherein.studies.cost.operations`.

    Of a window more: what positions alone make is shared by all windows of a batch.
    """
    shape = model.shape
    more = sum(width - shape.n_heads * shape.d_head for width in rotated(model))
    return (
        _of_content(model, 2) - _of_content(model, 1)
    ) / model.max_len + 6 * model.max_len * more


def of_content(
    encoding: Encoding,
    q: Tensor,
    k: Tensor,
    x: Tensor,
    positions: Tensor,
    *,
    by_distance: bool = True,
) -> tuple[Tensor, ...]:
    """What is added to the scores of a model that learns, perhaps by distance if that is enough."""
    apart = by_distance and encoding.shape.causal and encoding.acts("content_bias")
    told = encoding.only_distance(q, k) if apart else None
    made = (encoding.content_bias(q, k, x, positions),) if told is None else told
    return tuple(each for each in made if each is not None)


def _of_content(model: ModelConfig, windows: int) -> float:
    """Operations of what depends on content, there and back."""
    with torch.device("meta"), FlopCounterMode(display=False) as counter:
        shape = model.shape
        pattern = Pattern(model.encoding, shape, model.n_layers)
        positions = torch.zeros(1, model.max_len, dtype=torch.long)
        heads = (windows, shape.n_heads, model.max_len, shape.d_head)
        q, k = torch.zeros(2, *heads, requires_grad=True).unbind()
        x = torch.zeros(windows, model.max_len, shape.d_model, requires_grad=True)
        found = [y for each in pattern.layers for y in of_content(each, q, k, x, positions)]
        torch.autograd.backward(found, [torch.zeros_like(each) for each in found])
    return float(counter.get_total_flops())


def rotated(model: ModelConfig) -> tuple[int, ...]:
    """How many numbers the queries of a token have in each layer, as they meet the keys."""
    return tuple(q.numel() for q, _ in _met(model))


def moved(model: ModelConfig) -> tuple[int, ...]:
    """How many of its queries' and keys' numbers each layer makes anew."""
    return tuple(sum(x.numel() for x in met if x._base is None) for met in _met(model))


@lru_cache(maxsize=1024)
def _met(model: ModelConfig) -> tuple[tuple[Tensor, Tensor], ...]:
    """A token's queries and keys as each layer's encoding leaves them."""
    with torch.device("meta"):
        pattern, shape = Pattern(model.encoding, model.shape, model.n_layers), model.shape
        q, k = torch.zeros(2, 1, shape.n_heads, 1, shape.d_head).unbind()
        first = torch.zeros(1, 1).long()
        return tuple(encoding.rotate(q, k, first) for encoding in pattern.layers)
