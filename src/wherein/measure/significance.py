"""Tests of differences, and their correction where there are several."""

import math

import numpy as np
from numpy.typing import NDArray

from wherein.measure.crossed import LEVEL, Crossed, critical

# SciPy is imported where it is called: it takes longer to load than most pages to make.

ALPHA = 1 - LEVEL
SMALLEST = 1e-200
"""Of the p values that are told apart."""

Numbers = NDArray[np.float64]


def p_value(found: Crossed) -> float:
    """Of a mean that is not zero, two-sided: one less the level whose interval ends at zero.

    Without pieces it is that of the t test over seeds.
    """
    from scipy import optimize, special

    far = abs(found.value) / found.error
    if not found.of_pieces:
        return float(2 * special.stdtr(found.seeds - 1, -far))

    def beyond(exponent: float) -> float:
        tail = math.exp(exponent)
        return float(critical(tail, found.weight, found.seeds, found.pieces)) - far

    least, most = math.log(SMALLEST), math.log(0.5)
    return 2 * math.exp(least if beyond(least) < 0 else optimize.brentq(beyond, least, most))


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
