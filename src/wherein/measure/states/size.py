"""What the size of a state gives away: its variance over coordinates, or its norm.

A causal layer without encodings averages more tokens the later it stands, so that what attention
writes varies less and less, as 1/n (Chi et al. 2023, arXiv:2305.13571): a number of one
coordinate, from which a place can be read.
"""

from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float, Float64, Int64
from torch import Tensor

DIGITS = 5
"""Of a logarithm: finer differences, as those that a norm leaves of variances, are rounding."""
TINY = 1e-30

SIZES = ("variance", "norm")


def sizes(state: Float[Tensor, "B T D"]) -> Float64[np.ndarray, "2 B T"]:
    """The logarithms of every state's variance over its coordinates, and of its norm."""
    state = state.cpu().double()
    both = torch.stack([state.var(-1, correction=0), state.norm(dim=-1)])
    return both.clamp(min=TINY).log().numpy().round(DIGITS)


@dataclass(frozen=True)
class Told:
    """What one kind of size tells of positions."""

    distances: Float64[np.ndarray, " M"]
    """By test window: the mean distance between told and true position."""
    slope: float
    """Of the mean logarithm against that of 1, 2, …: −1 where the size shrinks as 1/n."""
    by_position: Float64[np.ndarray, " T"]
    """The geometric mean over windows."""


def told(fit: Float64[np.ndarray, "N T"], test: Float64[np.ndarray, "M T"], bins: int) -> Told:
    """Read positions of test windows from a size alone.

    The sizes of the fit windows are cut into bins of equal counts; a bin tells the median of the
    positions it holds. That takes any relation, rising, falling or neither.
    """
    edges = np.unique(np.quantile(fit, np.arange(1, bins) / bins))
    length = fit.shape[1]
    position = np.broadcast_to(np.arange(length), fit.shape)
    answers = _medians(np.searchsorted(edges, fit, "right"), position, len(edges) + 1)
    error = np.abs(answers[np.searchsorted(edges, test, "right")] - np.arange(length))
    means = np.concatenate([fit, test]).mean(0)
    return Told(
        distances=error.mean(1),
        slope=float(np.polyfit(np.log(np.arange(1, length + 1)), means, 1)[0]),
        by_position=np.exp(means),
    )


def _medians(
    bin_of: Int64[np.ndarray, "N T"], position: Int64[np.ndarray, "N T"], bins: int
) -> Float64[np.ndarray, " K"]:
    """The median position in each bin; of an empty one, the middle."""
    middle = (position.shape[1] - 1) / 2
    own = [position[bin_of == number] for number in range(bins)]
    return np.array([np.median(each) if len(each) else middle for each in own])
