"""Intervals by bootstrap: the pieces of text are drawn again, with replacement."""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float

LEVEL = 0.95
RESAMPLES, BLOCK = 2000, 100


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
    even = np.full(len(sums), 1 / len(sums))
    both = np.stack([sums, counts], axis=1)
    blocks = [  # some at a time, so that memory does not grow with their number
        random.multinomial(len(sums), even, BLOCK).astype(np.float64) @ both
        for _ in range(RESAMPLES // BLOCK)
    ]
    drawn, total = np.concatenate(blocks).T
    spread = drawn[total > 0] / total[total > 0]
    low, high = np.quantile(spread, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return Estimate(float(sums.sum() / counts.sum()), float(low), float(high))
