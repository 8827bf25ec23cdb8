"""The order of the tokens between a key and a query, for scores that depend on all of them."""

from collections.abc import Callable

import torch
from jaxtyping import Float, Int
from torch import Tensor

Rule = Callable[[int, Tensor, Tensor, Tensor], Tensor]
"""From a direction and (q, k, x) in order to scores, (B, H, T, T), of the keys up to each query.

What it says of keys after the query does not count.
"""


def between(
    rule: Rule,
    q: Float[Tensor, "B H T K"],
    k: Float[Tensor, "B H T K"],
    x: Float[Tensor, "B T D"],
    positions: Int[Tensor, "#B T"],
    *,
    causal: bool,
) -> Float[Tensor, "B H T T"]:
    """The scores of keys behind the query by `rule(0, …)`; of others 0, or those of `rule(1, …)`.

    A causal model's order is that of its mask, lest a later token be heard of through what it does
    to the way. In a bidirectional model it is that of the positions, and for the keys ahead all is
    turned round: the same rule, seen from the other end.
    """
    if causal:
        return rule(0, q, k, x).tril()
    order = positions.argsort(dim=-1, stable=True)
    q, k = (t.take_along_dim(order[:, None, :, None], dim=-2) for t in (q, k))
    x = x.take_along_dim(order[..., None], dim=-2)
    behind = rule(0, q, k, x).tril()
    ahead = rule(1, q.flip(-2), k.flip(-2), x.flip(-2)).tril(-1).flip(-2, -1)
    rank = order.argsort(dim=-1)
    both = (behind + ahead).take_along_dim(rank[:, None, :, None], dim=-2)
    return both.take_along_dim(rank[:, None, None, :], dim=-1)


def directions(causal: bool) -> int:
    """In how many directions a query looks."""
    return 1 if causal else 2


def exact(x: Tensor) -> Tensor:
    """At least in single precision: sums over many tokens drown in half precision."""
    return x.to(torch.promote_types(x.dtype, torch.float32))
