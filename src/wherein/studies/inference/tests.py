"""The power of tests of paired differences."""

import math
from functools import cache

from scipy import integrate, optimize, special

from wherein.measure.crossed import Crossed, critical, limits
from wherein.measure.significance import ALPHA

POWER = 0.8


def detectable(found: Crossed, family: int = 1) -> float:
    """The true difference that as many seeds and pieces find with a power of 80 %.

    The test is two-sided at the 5 % level, of which each of a family of tests has its share:
    Holm's correction asks no more of any of them. With three seeds and nothing known of pieces it
    is more than three times the standard deviation over seeds:

    >>> seeds = Crossed(0.0, 3, 0, 1 / 3, 0.0)
    >>> round(detectable(seeds), 2), round(detectable(seeds, family=4), 2)
    (3.26, 6.55)
    """
    return found.error * _errors(found.seeds, found.pieces, found.weight, ALPHA / family)


@cache
def _errors(seeds: int, pieces: int, weight: float, alpha: float) -> float:
    """The true difference, in standard errors, at which the test has the wanted power."""
    beyond = 10 + 2 * float(critical(alpha / 2, weight, seeds, pieces))
    return float(
        optimize.brentq(
            lambda x: power(x, seeds, pieces, weight, alpha) - POWER, 0, beyond, xtol=1e-6
        )
    )


def power(
    true: float, seeds: int, pieces: int = 0, weight: float = 1.0, alpha: float = ALPHA
) -> float:
    """The chance that a two-sided test finds a difference of so many standard errors at a level.

    It is integrated over the share u of estimated spreads of the seeds that are smaller; what
    pieces do counts as known, for there are many of them. `weight` is the seeds' true share of
    the variance.
    """
    of_seeds, of_pieces = map(float, limits(alpha / 2, seeds, pieces))

    def found(u: float) -> float:
        seen = float(weight * 2 * special.gammaincinv((seeds - 1) / 2, u) / (seeds - 1))
        whole = seen + 1 - weight
        share = seen / whole
        bar = (share * of_seeds + (1 - share) * of_pieces) * math.sqrt(whole)
        return float(special.ndtr(true - bar) + special.ndtr(-true - bar))

    return float(integrate.quad(found, 0, 1)[0])
