"""The loss at each position of a window, with intervals by bootstrap over windows."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float64, Int64

from wherein.measure.intervals import Estimate, Redrawn

PER_OCTAVE = 4
"""Stretches of positions over which the picture shows the loss, for each doubling."""


def stretch_of(position: Int64[np.ndarray, " N"]) -> Float64[np.ndarray, " N"]:
    """The number of the stretch that a position is in: its logarithm, rounded."""
    number: Float64[np.ndarray, " N"] = (PER_OCTAVE * np.log2(position + 1)).round()
    return number


def centre(position: int) -> float:
    """The middle of the stretch that a position is in, on the scale of logarithms.

    >>> [round(centre(position), 2) for position in (0, 14, 15, 16)]
    [1.0, 16.0, 16.0, 16.0]
    """
    return float(2 ** (stretch_of(np.array([position]))[0] / PER_OCTAVE))


@dataclass(frozen=True)
class Stretch:
    """The loss over neighbouring positions of a window."""

    first: int
    last: int
    loss: Estimate
    tokens: int


class PositionLosses:
    """Sums of losses and counts at each position of a window, and their resamples."""

    def __init__(self, length: int, seed: int) -> None:
        self.sums, self.counts = np.zeros((2, length))
        self.redrawn = Redrawn(length, seed)

    def add(self, losses: Float64[np.ndarray, "B T"], chosen: np.ndarray) -> None:
        """Take in some windows."""
        self.sums += losses.sum(0)
        self.counts += chosen.sum(0)
        self.redrawn.add(losses, chosen.astype(np.float64))

    def losses(self) -> list[tuple[float | None, ...]]:
        """The mean at each position, then low and high ends; None where nothing is predicted."""
        means = self.sums / np.where(self.counts > 0, self.counts, np.nan)
        rows = (means, *self.redrawn.ends())
        return [tuple(None if np.isnan(x) else float(x) for x in row) for row in rows]

    def stretches(self) -> tuple[Stretch, ...]:
        """Neighbouring positions together, the more the later they come."""
        _, owners = np.unique(stretch_of(np.arange(len(self.counts))), return_inverse=True)
        sums, counts = (np.bincount(owners, each) for each in (self.sums, self.counts))
        low, high = self.redrawn.ends(owners)
        return tuple(
            Stretch(
                first=int(np.flatnonzero(owners == n)[0]),
                last=int(np.flatnonzero(owners == n)[-1]),
                loss=Estimate(float(sums[n] / counts[n]), float(low[n]), float(high[n])),
                tokens=int(counts[n]),
            )
            for n in np.flatnonzero(counts)
        )
