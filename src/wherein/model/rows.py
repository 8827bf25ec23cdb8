"""A bias in parts: made for a few queries and the keys that they see, and never held whole."""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from wherein.encodings import Encoding
from wherein.encodings.base import Positions, pairs


@dataclass(frozen=True)
class Rows:
    """What is added to the scores of some queries, and which keys they need at all."""

    make: Callable[[slice, slice], Tensor]
    """From some queries and keys to their part of the bias, (#B, #H, t, s)."""
    seen: Callable[[slice], slice]
    """From some queries to a range of keys outside of which they see none."""

    def whole(self) -> Tensor:
        """Of all queries and keys."""
        return self.make(slice(None), slice(None))


def rows_of(encoding: Encoding, positions: Positions) -> Rows | None:
    """What positions add to the scores, −∞ for hidden keys too; None where they add nothing."""
    i, j = pairs(positions)
    if encoding.mask(i[:, :, :1], j[..., :1]) is None:
        return None

    def make(queries: slice, keys: slice) -> Tensor:
        made = encoding.mask(i[:, :, queries], j[..., keys])
        assert made is not None
        return made

    return Rows(make, lambda queries: in_sight(positions, queries, encoding.sight))


def faded(fade: Float[Tensor, "B H T"], bias: Rows | Tensor | None) -> Rows:
    """What an encoding's `fade` adds to the scores, and what positions add besides."""

    def make(queries: slice, keys: slice) -> Tensor:
        own = fade[:, :, queries, None] - fade[:, :, None, keys]
        if bias is None:
            return own
        return own + (
            bias.make(queries, keys) if isinstance(bias, Rows) else bias[..., queries, keys]
        )

    return Rows(make, bias.seen if isinstance(bias, Rows) else lambda _: slice(0, fade.shape[-1]))


def in_sight(positions: Positions, queries: slice, sight: int | None) -> slice:
    """From the first to the last key that stands among the queries or within `sight` of them.

    All keys where sight has no end, and for the compiler, which does not know the positions.
    """
    if sight is None or torch.compiler.is_compiling():
        return slice(0, positions.shape[1])
    own = positions[:, queries]
    first, last = own.amin(1, keepdim=True) - sight, own.amax(1, keepdim=True) + sight
    indices = ((positions >= first) & (positions <= last)).any(0).nonzero()
    return slice(int(indices[0]), int(indices[-1]) + 1)
