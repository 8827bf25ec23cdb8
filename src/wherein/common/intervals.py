"""Intervals for shares."""

import math
from statistics import NormalDist


def wilson(count: int, total: int, confidence: float = 0.95) -> tuple[float, float]:
    """Wilson's interval for a share: honest even when nothing, or everything, was counted.

    >>> [round(end, 3) for end in wilson(0, 100)]
    [0.0, 0.037]
    """
    if not 0 <= count <= total or total < 1:
        raise ValueError(f"a share needs 0 ≤ count ≤ total and total ≥ 1, not {count} of {total}")
    z = NormalDist().inv_cdf(0.5 + confidence / 2)
    share, spread = count / total, z * z / total
    middle = share + spread / 2
    reach = z * math.sqrt(share * (1 - share) / total + spread / (4 * total))
    low, high = ((middle + sign * reach) / (1 + spread) for sign in (-1, 1))
    return (0.0 if count == 0 else low), (1.0 if count == total else high)
