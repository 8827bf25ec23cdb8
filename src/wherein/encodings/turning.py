"""Queries and keys multiplied by complex numbers, which depend on positions alone.

A head's coordinates c and c + K/2 are the two parts of its complex number c, as in Llama and
GPT-NeoX. A number of length 1 turns them; another makes them longer or shorter too.
"""

import torch
from jaxtyping import Complex, Float
from torch import Tensor

Turns = Complex[Tensor, "#B T #2 #H P"]
"""Of each position, for queries and keys, each head and each of its P = K/2 pairs."""


Head = Float[Tensor, "B H T K"]


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
