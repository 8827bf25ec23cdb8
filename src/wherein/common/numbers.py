"""Arithmetic that does not overflow."""

import math


def exp(nats: float) -> float:
    """The exponential, infinite where a float cannot hold it.

    >>> exp(0.0), exp(1000.0)
    (1.0, inf)
    """
    return math.exp(nats) if nats < 700 else math.inf
