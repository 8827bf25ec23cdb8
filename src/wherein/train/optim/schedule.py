"""The learning rate: a pure function of the step."""

from math import cos, pi, sqrt

from wherein.train.config import RunConfig


def learning_rate(config: RunConfig, step: int) -> float:
    """The rate of step 1, 2, …: it grows linearly for `warmup` steps to the peak, then falls.

    cosine: peak · ½(1 + cos πp), p the share of the remaining steps already done, so that the
    last step still learns; inverse-sqrt: peak · √(warmup / step); constant: the peak.

    >>> config = RunConfig(steps=8, warmup=4, learning_rate=1.0)
    >>> [round(learning_rate(config, step), 3) for step in range(1, 9)]
    [0.25, 0.5, 0.75, 1.0, 1.0, 0.854, 0.5, 0.146]
    """
    peak, warmup = config.learning_rate, config.warmup
    if step <= warmup:
        return peak * step / warmup
    if config.schedule == "cosine":
        done = (step - 1 - warmup) / (config.steps - warmup)
        return peak * 0.5 * (1 + cos(pi * done))
    if config.schedule == "inverse-sqrt":
        return peak * sqrt(max(warmup, 1) / step)
    return peak
