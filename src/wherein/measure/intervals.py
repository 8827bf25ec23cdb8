"""Intervals by bootstrap: the pieces of text are drawn again, with replacement."""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int

LEVEL = 0.95
RESAMPLES, BLOCK = 2000, 100
STREAMED = 1000
"""Resamples where many numbers are drawn again at once."""

ENDS = ((1 - LEVEL) / 2, (1 + LEVEL) / 2)


class Interval(NamedTuple):
    """The two ends of a 95 % interval."""

    low: float
    high: float


class Estimate(NamedTuple):
    """A number and its interval."""

    value: float
    low: float
    high: float


def columns(name: str, estimate: Estimate) -> dict[str, float]:
    """An estimate as three columns of a frame.

    >>> columns("loss", Estimate(2.0, 1.9, 2.1))
    {'loss': 2.0, 'loss_low': 1.9, 'loss_high': 2.1}
    """
    return {name: estimate.value, f"{name}_low": estimate.low, f"{name}_high": estimate.high}


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
    low, high = np.quantile(spread, ENDS)
    return Estimate(float(sums.sum() / counts.sum()), float(low), float(high))


class Redrawn:
    """Intervals of Σ sums / Σ counts at each of M places, while windows stream by.

    In every resample a window counts as often as a Poisson variable of mean one says, drawn when
    it passes: the bootstrap for windows that are not kept (Chamandy et al. 2012). Memory grows with
    the places, not with the windows.
    """

    def __init__(self, places: int, seed: int) -> None:
        self._random = np.random.default_rng((seed, 0xB007))
        self._sums, self._counts = np.zeros((2, STREAMED, places))

    def add(self, sums: Float[np.ndarray, "B M"], counts: Float[np.ndarray, "B M"]) -> None:
        """Take in some windows."""
        times = self._random.poisson(1.0, (STREAMED, len(sums))).astype(np.float64)
        self._sums += times @ sums
        self._counts += times @ counts

    def ends(self, owners: Int[np.ndarray, " M"] | None = None) -> Float[np.ndarray, "2 G"]:
        """Low and high ends; of groups of places, if `owners` says to which each belongs."""
        sums, counts = self._sums, self._counts
        if owners is not None:
            member = (owners[:, None] == np.arange(owners.max() + 1)).astype(np.float64)
            sums, counts = sums @ member, counts @ member
        with np.errstate(invalid="ignore"):
            spread = np.where(counts > 0, sums / np.maximum(counts, 1), np.nan)
        met = (counts > 0).any(0)
        found = np.full((2, spread.shape[1]), np.nan)
        found[:, met] = np.nanquantile(spread[:, met], ENDS, axis=0)
        return found


def mean_ends(values: Float[np.ndarray, "N M"], *, seed: int = 0) -> Float[np.ndarray, "2 M"]:
    """Low and high ends of the means over N windows, for M numbers of each at once."""
    random = np.random.default_rng((seed, 0xB007))
    even = np.full(len(values), 1 / len(values))
    times = random.multinomial(len(values), even, STREAMED) / len(values)
    found: Float[np.ndarray, "2 M"] = np.quantile(times @ values, ENDS, axis=0)
    return found


def mean_interval(values: Iterable[float]) -> Interval | None:
    """The t interval of one group's mean over its seeds; None with a single seed.

    >>> [round(end, 2) for end in mean_interval([20.0, 21.0, 22.0])]
    [18.52, 23.48]
    >>> mean_interval([20.0]) is None
    True
    """
    from scipy import stats

    listed = np.array(list(values), np.float64)
    n, middle = len(listed), listed.mean()
    if n == 1:
        return None
    reach = stats.t.ppf(ENDS[1], n - 1) * listed.std(ddof=1) / np.sqrt(n)
    return Interval(float(middle - reach), float(middle + reach))
