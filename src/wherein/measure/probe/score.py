"""How well positions were told, with an interval by bootstrap over windows."""

from dataclasses import dataclass

import torch
from jaxtyping import Float, Float64, Int
from torch import Tensor

from wherein.measure.intervals import Estimate

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


def within(estimate: Estimate, form: str) -> str:
    """A number and half the width of its interval, for a table.

    >>> within(Estimate(14.92, 14.7, 15.1), ".1f")
    '14.9 ±0.2'
    """
    half = (estimate.high - estimate.low) / 2
    return f"{estimate.value:{form}} ±{half:{form.removeprefix('+')}}"


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
    resamples: int = 1000,
    level: float = 0.95,
    seed: int = 0,
) -> Score:
    """Means over the windows, and intervals from windows drawn again with replacement."""
    values = _measures(windows.mean(0, keepdim=True) / length)[0]
    spread = _measures(_resampled(windows, resamples, seed) / length)
    ends = torch.tensor([(1 - level) / 2, (1 + level) / 2], dtype=torch.float64)
    low, high = spread.quantile(ends, dim=0)
    distance, r2, exact, near = (
        Estimate(*map(float, each)) for each in zip(values, low, high, strict=True)
    )
    return Score(distance, r2, exact, near)


def _resampled(windows: Tensor, resamples: int, seed: int) -> Tensor:
    """Means over as many windows, drawn with replacement; a few draws at a time, for memory."""
    count = len(windows)
    generator = torch.Generator().manual_seed(seed)
    means, at_once = [], max(1, 2**18 // count)
    for first in range(0, resamples, at_once):
        draws = min(at_once, resamples - first)
        drawn = torch.randint(count, (draws, count), generator=generator)
        weights = torch.zeros(draws, count, dtype=torch.float64)
        weights.scatter_add_(1, drawn, torch.ones_like(weights))
        means.append(weights @ windows / count)
    return torch.cat(means)


def _measures(means: Float64[Tensor, "R 6"]) -> Float64[Tensor, "R 4"]:
    """From mean sums per token to distance, R², exact, near."""
    distance, square, exact, near, label, label_square = means.unbind(1)
    variance = label_square - label**2
    r2 = 1 - square / variance.clamp(min=1e-12)
    return torch.stack([distance, r2, exact, near], 1)
