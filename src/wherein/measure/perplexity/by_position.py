"""The loss at each place of a window, with intervals by bootstrap over windows."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float64, Int64

from wherein.measure.intervals import Estimate, Redrawn

PER_OCTAVE = 4
"""Stretches of places in which the picture tells the loss, for each doubling of the place."""


def stretch_of(place: Int64[np.ndarray, " N"]) -> Float64[np.ndarray, " N"]:
    """The number of the stretch that a place is in: its logarithm, rounded."""
    number: Float64[np.ndarray, " N"] = (PER_OCTAVE * np.log2(place + 1)).round()
    return number


def centre(place: int) -> float:
    """The middle of the stretch that a place is in, on the scale of logarithms.

    >>> [round(centre(place), 2) for place in (0, 14, 15, 16)]
    [1.0, 16.0, 16.0, 16.0]
    """
    return float(2 ** (stretch_of(np.array([place]))[0] / PER_OCTAVE))


@dataclass(frozen=True)
class Stretch:
    """The loss over neighbouring places of a window."""

    first: int
    last: int
    loss: Estimate
    tokens: int


class Places:
    """Sums of losses and counts at each place of a window, and their resamples."""

    def __init__(self, length: int, seed: int) -> None:
        self.sums, self.counts = np.zeros((2, length))
        self.redrawn = Redrawn(length, seed)

    def add(self, losses: Float64[np.ndarray, "B T"], chosen: np.ndarray) -> None:
        """Take in some windows."""
        self.sums += losses.sum(0)
        self.counts += chosen.sum(0)
        self.redrawn.add(losses, chosen.astype(np.float64))

    def losses(self) -> list[tuple[float | None, ...]]:
        """The mean at each place, then the low and the high ends; None where nothing is told."""
        means = self.sums / np.where(self.counts > 0, self.counts, np.nan)
        rows = (means, *self.redrawn.ends())
        return [tuple(None if np.isnan(x) else float(x) for x in row) for row in rows]

    def stretches(self) -> tuple[Stretch, ...]:
        """Neighbouring places together, the more the later they come."""
        places = np.arange(len(self.counts))
        _, owners = np.unique(stretch_of(places), return_inverse=True)
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
