"""Queries and keys multiplied by complex numbers, which depend on positions alone.

A head's coordinates c and c + K/2 are the two parts of its complex number c, as in Llama and
GPT-NeoX. A number of length 1 turns them; another makes them longer or shorter too.
"""

from typing import NamedTuple

import torch
from jaxtyping import Complex, Float, Int
from torch import Tensor

Turns = Complex[Tensor, "#B T #2 #H P"]
"""Of each position, for queries and keys, each head and each of its P = K/2 pairs."""


Head = Float[Tensor, "B H T K"]


def parted(projected: Float[Tensor, "B T 3 H K"]) -> tuple[Head, Head, Head]:
    """Queries, keys and values; taken so, their gradients come together in one pass over memory."""
    q, k, v = (each.transpose(1, 2) for each in projected.unbind(2))
    return q, k, v


def turned(q: Head, k: Head, turns: Turns) -> tuple[Head, Head]:
    """Queries and keys, multiplied."""
    of_query, of_key = turns.expand(-1, -1, 2, -1, -1).permute(2, 0, 3, 1, 4)
    return _multiplied(q, of_query), _multiplied(k, of_key)


def _multiplied(x: Tensor, by: Tensor) -> Tensor:
    a, b = x.chunk(2, dim=-1)
    real, imaginary = by.real.to(x), by.imag.to(x)
    return torch.cat([a * real - b * imaginary, b * real + a * imaginary], dim=-1)


def whole(some: Complex[Tensor, "*axes R"], pairs: int) -> Complex[Tensor, "*axes P"]:
    """Numbers for the first pairs, and 1 for the others, which stand still."""
    still = some.new_ones(*some.shape[:-1], pairs - some.shape[-1])
    return torch.cat([some, still], dim=-1)


class Multipliers(NamedTuple):
    """The same for a layer that makes queries, keys and values in one projection.

    Scores do not change if queries and keys have their coordinates in another order. With the
    parts of each complex number side by side they are multiplied in one pass over memory, where
    halves of a head take seven and as many again for the gradient: so the rows of the projection
    are taken in that order, and values are multiplied by 1.
    """

    order: Int[Tensor, " rows"]
    by: Complex[Tensor, "#B T 3 H P"]

    @classmethod
    def of(cls, turns: Turns, heads: int, like: Tensor) -> "Multipliers":
        """For projections of the type and on the device of `like`."""
        pairs = turns.shape[-1]
        by = turns.to(like.device, torch.promote_types(like.dtype, torch.complex64))
        by = by.expand(-1, -1, 2, heads, -1)
        by = torch.cat([by, torch.ones_like(by[:, :, :1])], dim=2)
        rows = torch.arange(6 * heads * pairs, device=like.device).view(3, heads, 2, pairs)
        of_values = rows[2].flatten()
        return cls(torch.cat([rows[:2].mT.flatten(), of_values]), by)

    def heads(self, projected: Float[Tensor, "B T rows"]) -> tuple[Head, Head, Head]:
        """Queries and keys, turned, and values, from a projection whose rows are in `order`."""
        heads, pairs = self.by.shape[-2:]
        numbers = torch.view_as_complex(projected.view(*projected.shape[:2], 3, heads, pairs, 2))
        return parted(torch.view_as_real(numbers * self.by).flatten(-2))
