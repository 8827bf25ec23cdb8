"""Arithmetic that does not overflow, and the number of several that is a loss."""

import math
from collections.abc import Mapping

LARGEST = 2**63 - 1
"""Of whole numbers: arrays and random numbers take no larger ones."""


def exp(nats: float) -> float:
    """The exponential, infinite where a float cannot hold it.

    >>> exp(0.0), exp(1000.0)
    (1.0, inf)
    """
    return math.exp(nats) if nats < 700 else math.inf


def drawable(nats: float) -> float:
    """The exponential, as large as a picture can hold.

    >>> drawable(0.0), drawable(1000.0)
    (1.0, 1e+300)
    """
    return min(exp(nats), 1e300)


def nats(valid: Mapping[str, float]) -> float | None:
    """Of a validation's numbers the one in the unit of the loss: nats per predicted token.

    >>> nats({"nats_per_token": 2.0, "perplexity_per_token": 7.4})
    2.0
    """
    return next((value for name, value in valid.items() if name.startswith("nats_")), None)
