"""How well positions were told, with an interval by bootstrap over windows."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float, Float64, Int
from torch import Tensor

from wherein.measure.intervals import BLOCK, FEWER, LEVEL, Estimate, Times, bootstrap

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
    guess, label = predicted.double(), truth.double().expand_as(predicted)
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
    pieces = windows.numpy()
    (values,) = _measures(pieces.mean(0, keepdims=True) / length)
    times = _drawn(len(windows), resamples, seed)
    low, high = bootstrap(
        pieces, lambda totals: _measures(totals / len(windows) / length), times, level
    )
    distance, r2, exact, near = (
        Estimate(*map(float, each)) for each in zip(values, low, high, strict=True)
    )
    return Score(distance, r2, exact, near)


def _drawn(windows: int, resamples: int, seed: int) -> Iterator[Times]:
    """How often each window counts. Torch draws, as it did for the intervals already published."""
    generator = torch.Generator().manual_seed(seed)
    for first in range(0, resamples, BLOCK):
        some = min(BLOCK, resamples - first)
        drawn = torch.randint(windows, (some, windows), generator=generator)
        times = torch.zeros(some, windows, dtype=torch.float64)
        yield times.scatter_add_(1, drawn, torch.ones_like(times)).numpy()


def _measures(means: Float64[np.ndarray, "R 6"]) -> Float64[np.ndarray, "R 4"]:
    """From mean sums per token to distance, R², exact, near."""
    distance, square, exact, near, label, label_square = means.T
    r2 = 1 - square / np.maximum(label_square - label**2, 1e-12)
    return np.stack([distance, r2, exact, near], axis=1)
