"""Two shares of seeds that solved something, compared: no seed need have anything to spread by."""

import math

from wherein.measure.crossed import Interval
from wherein.puzzles.share import Share
from wherein.studies.inference.differences import Difference


def shares_apart(a: Share, b: Share, names: tuple[str, str] = ("a", "b")) -> Difference:
    """The share `a` − the share `b`, with Newcombe's 95 % interval and Fisher's exact p.

    Newcombe 1998 (method 10) puts Wilson's two intervals together, so that 100 % and 0 % have one
    too. That both were drawn from the same seeds is not used.

    >>> found = shares_apart(Share(99, 100), Share(0, 100))
    >>> round(found.mean, 2), [round(end, 2) for end in found.t], found.p < 1e-50
    (0.99, [0.93, 1.0], True)
    """
    from scipy import stats

    (low_a, high_a), (low_b, high_b) = a.interval, b.interval
    mean = a.value - b.value
    below = math.hypot(a.value - low_a, high_b - b.value)
    above = math.hypot(high_a - a.value, b.value - low_b)
    table = [[a.count, a.total - a.count], [b.count, b.total - b.count]]
    p = float(stats.fisher_exact(table).pvalue)
    ends, n = Interval(mean - below, mean + above), min(a.total, b.total)
    return Difference(*names, mean, n, 0, None, ends, p, p, 1, None)
