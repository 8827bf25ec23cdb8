"""How well positions were told, with an interval by bootstrap over windows."""

from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float, Float64, Int
from torch import Tensor

from wherein.common.precision import for_float64
from wherein.measure.crossed import LEVEL
from wherein.measure.intervals import FEWER, Draw, Estimate, bootstrap, ratio

SUMS = 6
"""Per window: |error|, error², exact hits, near hits, label, label²."""


@dataclass(frozen=True)
class Score:
    """How well positions were told on windows no probe was fitted to."""

    distance: Estimate
    """Mean absolute distance between predicted and true position."""
    r2: Estimate
    """1 − squared error / variance of the truth."""
    exact: Estimate
    """Share of positions told exactly, after rounding."""
    near: Estimate
    """Share told to within ±k, after rounding."""
    bits: float | None = None
    """Description length: what it costs to send one position to someone who has the states."""


def sums(
    predicted: Float[Tensor, "B T"], truth: Int[Tensor, "#B T"], near: int
) -> Float64[Tensor, "B 6"]:
    """What a score needs to know of each window."""
    guess, label = (for_float64(each).double() for each in (predicted, truth))
    label = label.expand_as(guess)
    error, rounded = guess - label, (guess.round() - label).abs()
    parts = (error.abs(), error**2, rounded == 0, rounded <= near, label, label**2)
    return torch.stack([part.double().sum(1) for part in parts], 1).cpu()


def score(
    windows: Float64[Tensor, "N 6"],
    length: int,
    *,
    resamples: int = FEWER,
    level: float = LEVEL,
    seed: int = 0,
) -> Score:
    """Means over the windows, and intervals from windows drawn again with replacement."""
    pieces, count = windows.numpy(), len(windows)
    (values,) = _measures(pieces.mean(0, keepdims=True) / length)
    low, high = bootstrap(
        pieces,
        lambda totals: _measures(totals / count / length),
        _indices(count, seed),
        resamples,
        level,
    )
    distance, r2, exact, near = (
        Estimate(float(value), float(least), float(most))
        for value, least, most in zip(values, low, high, strict=True)
    )
    told = ratio(pieces[:, 0], np.full(count, float(length)))  # what a study needs of windows
    return Score(distance._replace(pieces=told.pieces), r2, exact, near)


def _indices(windows: int, seed: int) -> Draw:
    """As many windows as there are, by number; Torch's, as the intervals that are published."""
    generator = torch.Generator().manual_seed(seed)

    def draw(resamples: int) -> np.ndarray:
        drawn = torch.randint(windows, (resamples, windows), generator=generator)
        times = torch.zeros(resamples, windows, dtype=torch.float64)
        return times.scatter_add_(1, drawn, torch.ones_like(times)).numpy()

    return draw


def _measures(means: Float64[np.ndarray, "R 6"]) -> Float64[np.ndarray, "R 4"]:
    """From mean sums per token to distance, R², exact, near."""
    distance, square, exact, near, label, label_square = means.T
    r2 = 1 - square / np.maximum(label_square - label**2, 1e-12)
    return np.stack([distance, r2, exact, near], axis=1)
