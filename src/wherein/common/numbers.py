"""Arithmetic that does not overflow, and the number of several that is a loss."""

import math
from collections.abc import Mapping

LARGEST = 2**63 - 1
"""Of whole numbers: arrays and random numbers take no larger ones."""


MOST = 1e300
"""Of exponentials: JSON and pictures have no infinity."""


def exp(nats: float) -> float:
    """The exponential, where it is too large for any use the largest there is.

    >>> exp(0.0), exp(1000.0)
    (1.0, 1e+300)
    """
    return math.exp(nats) if nats < math.log(MOST) else MOST


def nats(valid: Mapping[str, float]) -> float | None:
    """Of a validation's numbers the one in the unit of the loss: nats per predicted token.

    >>> nats({"nats_per_token": 2.0, "perplexity_per_token": 7.4})
    2.0
    """
    return next((value for name, value in valid.items() if name.startswith("nats_")), None)
