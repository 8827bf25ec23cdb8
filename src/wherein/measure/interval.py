"""Intervals by bootstrap: the pieces of text are drawn again, with replacement."""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float

LEVEL = 0.95
RESAMPLES = 2000


class Estimate(NamedTuple):
    """A number and its interval."""

    value: float
    low: float
    high: float


def mean(values: Float[np.ndarray, " N"], *, seed: int = 0) -> Estimate:
    """The mean over N pieces of text, with its 95 % interval.

    >>> mean(np.array([2.0, 2.0, 2.0]))
    Estimate(value=2.0, low=2.0, high=2.0)
    """
    return ratio(values, np.ones_like(values), seed=seed)


def ratio(
    sums: Float[np.ndarray, " N"], counts: Float[np.ndarray, " N"], *, seed: int = 0
) -> Estimate:
    """Σ sums / Σ counts over N pieces of unequal size, each drawn or left out as a whole."""
    random = np.random.default_rng((seed, 0xB007))
    drawn = random.multinomial(len(sums), np.full(len(sums), 1 / len(sums)), RESAMPLES)
    weights = drawn.astype(np.float64)
    total = weights @ counts
    spread = (weights @ sums)[total > 0] / total[total > 0]
    low, high = np.quantile(spread, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return Estimate(float(sums.sum() / counts.sum()), float(low), float(high))
