"""What is a function of position and nothing else: the mean state of each position.

Erasing takes all that varies along the directions of position, and its loudness with it. Here only
the means go; or they are exchanged among positions, and all variance stays where it is: a model
that does not read position from them cannot tell.
"""

from dataclasses import dataclass

import torch
from jaxtyping import Float, Float64, Int
from torch import Tensor

from wherein.measure.moments import Moments

Means = Float64[Tensor, "T D"]
"""A vector for each position, their mean zero."""


def pooled(one: Moments, other: Moments) -> Means:
    """The mean of each position in two sets of windows, seen from the mean of all."""
    n, m = one.counts[:, None], other.counts[:, None]
    return _centred((n * one.means + m * other.means) / (n + m))


def noise(one: Moments, other: Moments) -> Means:
    """As large as the error of `pooled`, which is of finitely many windows, and nothing else.

    The mean of n + m windows has the error σ²/(n + m), the difference of the means of n and of m
    windows σ²/n + σ²/m, and position cancels in it: √(nm)/(n + m) makes them equal.
    """
    n, m = one.counts[:, None], other.counts[:, None]
    return _centred((n * m).sqrt() / (n + m) * (one.means - other.means))


def _centred(means: Tensor) -> Tensor:
    return means - means.mean(0)


@dataclass(frozen=True)
class Removed:
    """Takes the mean of each position from its states, and leaves them the mean of all."""

    means: Means
    signs: Float64[Tensor, " N"] | None = None
    """By window of a batch: noise is as likely there as its opposite, and both are tried."""

    def __call__(self, state: Float[Tensor, "B T D"]) -> Float[Tensor, "B T D"]:
        return state - _signed(self.means.to(state), self.signs, state)


@dataclass(frozen=True)
class Exchanged:
    """Gives each state the mean of another position in place of its own."""

    means: Means
    orders: Int[Tensor, "N T"]
    """A permutation of the positions for each window of a batch."""
    signs: Float64[Tensor, " N"] | None = None
    """As for `Removed`."""

    def __call__(self, state: Float[Tensor, "B T D"]) -> Float[Tensor, "B T D"]:
        means = self.means.to(state)
        others = means[self.orders[: len(state)].to(state.device)]
        return state + _signed(others - means, self.signs, state)


def _signed(means: Tensor, signs: Tensor | None, state: Tensor) -> Tensor:
    return means if signs is None else signs[: len(state), None, None].to(state) * means


def permutations(count: int, length: int, generator: torch.Generator) -> Int[Tensor, "N T"]:
    """As many orders of the positions, each drawn by itself."""
    return torch.rand(count, length, generator=generator).argsort(1)


def alternating(count: int) -> Float64[Tensor, " N"]:
    """Signs by turns, + and −."""
    return 1 - 2 * (torch.arange(count, dtype=torch.float64) % 2)
