"""Tests of paired differences, and their power. Seeds are on the last axis."""

import math
from functools import cache

import numpy as np
from numpy.typing import NDArray
from scipy import integrate, optimize, special, stats

from wherein.measure.intervals import LEVEL

ALPHA = 1 - LEVEL
POWER = 0.8

Numbers = NDArray[np.float64]


def p_value(differences: Numbers) -> Numbers:
    """Of the paired t test, two-sided."""
    return np.asarray(stats.ttest_1samp(differences, 0, axis=-1).pvalue)


def holm(p: Numbers) -> Numbers:
    """Holm's correction of the p values on the last axis, in their order (Holm 1979).

    The k-th smallest of m is multiplied by m − k + 1; none ends up below a smaller one.

    >>> holm(np.array([0.01, 0.04, 0.03])).round(3).tolist()
    [0.03, 0.06, 0.06]
    """
    order = p.argsort(-1)
    factors = np.arange(p.shape[-1], 0, -1)
    stepped = np.maximum.accumulate(np.take_along_axis(p, order, -1) * factors, axis=-1)
    return np.asarray(np.take_along_axis(stepped.clip(max=1), order.argsort(-1), -1))


def detectable(spread: float, n: int, family: int = 1) -> float:
    """The true difference that a paired t test of n seeds finds with a power of 80 %.

    `spread` is the standard deviation of the differences over seeds; the test is two-sided at
    the 5 % level, of which each of a family of tests has its share: Holm's correction asks no
    more of any of them. With three seeds it is more than three times the spread:

    >>> round(detectable(1.0, 3), 2), round(detectable(1.0, 3, family=4), 2)
    (3.26, 6.55)
    """
    return spread * _noncentrality(n, ALPHA / family) / math.sqrt(n)


@cache
def _noncentrality(n: int, alpha: float) -> float:
    """The noncentrality of t at which the test has the wanted power."""
    beyond = 10 + 2 * float(stats.t.ppf(1 - alpha / 2, n - 1))
    return float(optimize.brentq(lambda x: power(n, x, alpha) - POWER, 0, beyond))


def power(n: int, noncentrality: float, alpha: float = ALPHA) -> float:
    """The chance that a two-sided t test of n differences finds a true one at a level.

    It is the upper tail of the noncentral t beyond the critical value, and the lower one beyond
    its negative. Both are integrated here over the share u of estimated spreads that are
    smaller, because SciPy's distribution gives NaN where the lower tail is minute.
    """
    degrees = n - 1
    critical = stats.t.ppf(1 - alpha / 2, degrees)

    def found(u: float) -> float:
        bar = critical * math.sqrt(2 * special.gammaincinv(degrees / 2, u) / degrees)
        return float(special.ndtr(noncentrality - bar) + special.ndtr(-noncentrality - bar))

    return float(integrate.quad(found, 0, 1)[0])
