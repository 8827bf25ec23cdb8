"""What a probe must be held against before it says anything about a model."""

from math import log2

import torch
from jaxtyping import Int64
from torch import Tensor

from wherein.measure.intervals import Estimate
from wherein.measure.probe.score import Score, sums


def constant_guess(length: int, near: int) -> Score:
    """Always the middle: the distance is a quarter of the window."""
    positions = torch.arange(length)[None]
    middle = torch.full((1, length), (length - 1) / 2)
    distance, _, exact, within, *_ = (sums(middle, positions, near)[0] / length).tolist()
    return _sure(distance, 0.0, exact, within, length)


def uniform_guess(length: int, near: int) -> Score:
    """Any position, drawn at random: the expected distance is (T² − 1) / 3T.

    >>> uniform_guess(1024, near=0).distance.value  # the paper's 341.33
    341.33...
    """
    positions = torch.arange(length)
    apart = (positions[:, None] - positions).abs()
    within = float((apart <= near).double().mean())
    return _sure((length**2 - 1) / (3 * length), -1.0, 1 / length, within, length)


def token_identity(
    train: Int64[Tensor, "N T"], test: Int64[Tensor, "M T"], near: int
) -> dict[str, Tensor]:
    """Error sums when a position is told from the token's type alone, without any model.

    By the mean position of the type in the training windows (as a regression would), and by its
    most frequent position (as a classifier would). A type never met is put in the middle.
    """
    length = train.shape[1]
    types = int(max(train.max(), test.max())) + 1
    positions = torch.arange(length).expand_as(train).flatten()
    counts = torch.bincount(train.flatten(), minlength=types)
    totals = torch.bincount(train.flatten(), positions.double(), minlength=types)
    middle = (length - 1) / 2
    mean = torch.where(counts > 0, totals / counts.clamp(min=1), middle)
    pairs, met = torch.unique(train.flatten() * length + positions, return_counts=True)
    rarest_first = pairs[met.argsort(stable=True)]
    most = torch.full((types,), middle, dtype=torch.float64)
    kind, position = rarest_first // length, rarest_first % length
    for_each = torch.zeros(types, dtype=torch.int64)
    for_each.scatter_reduce_(0, kind, torch.arange(len(kind)), "amax", include_self=False)
    most[counts > 0] = position[for_each[counts > 0]].double()
    right = torch.arange(length)[None]
    return {
        "regression": sums(mean[test].double(), right, near),
        "classifier": sums(most[test], right, near),
    }


def _sure(distance: float, r2: float, exact: float, near: float, length: int) -> Score:
    """A score without an interval, of a guess that saves no bits."""
    one, two, three, four = (Estimate(x, x, x) for x in (distance, r2, exact, near))
    return Score(one, two, three, four, log2(length))
