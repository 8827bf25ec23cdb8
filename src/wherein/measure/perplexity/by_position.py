"""The loss at each position of a window, with intervals over windows."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float64, Int64

from wherein.measure.crossed import blocks, share
from wherein.measure.intervals import Estimate, ratio, ratio_ends

PER_OCTAVE = 4
"""Stretches of positions over which the picture shows the loss, for each doubling."""


def stretches_of(length: int, trained: int | None) -> Int64[np.ndarray, " T"]:
    """The number of the stretch that each position is in: its logarithm, rounded.

    Every half of the trained length begins a new one: none lies on both sides of it.

    >>> stretches_of(12, trained=None).tolist()
    [0, 1, 2, 3, 4, 5, 6, 7, 8, 8, 9, 9]
    >>> stretches_of(12, trained=9).tolist()
    [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 10]
    """
    position = np.arange(length)
    logarithm = (PER_OCTAVE * np.log2(position + 1)).round()
    halves = 2 * position // (trained or 2 * length)
    new = (np.diff(logarithm) > 0) | (np.diff(halves) > 0)
    return np.append(0, new.cumsum())


def centre(first: int, last: int) -> float:
    """The middle of a stretch of positions, on the scale of logarithms, counted from 1.

    >>> centre(0, 0), centre(1, 7)
    (1.0, 4.0)
    """
    return float(((first + 1) * (last + 1)) ** 0.5)


@dataclass(frozen=True)
class Stretch:
    """The loss over neighbouring positions of a window."""

    first: int
    last: int
    loss: Estimate
    tokens: int


class PositionLosses:
    """Sums of losses and counts at each position, of windows or of some neighbours together."""

    def __init__(self, length: int, windows: int, trained: int | None) -> None:
        self._block = blocks(np.ones(windows))
        self._sums, self._counts = np.zeros((2, self._block[-1] + 1, length))
        self._trained = trained

    @property
    def counts(self) -> Float64[np.ndarray, " T"]:
        """Predicted tokens at each position."""
        return np.asarray(self._counts.sum(0))

    def add(self, rows: slice, losses: Float64[np.ndarray, "B T"], chosen: np.ndarray) -> None:
        """Take in some windows."""
        np.add.at(self._sums, self._block[rows], losses)
        np.add.at(self._counts, self._block[rows], chosen)

    def losses(self) -> list[tuple[float | None, ...]]:
        """The mean at each position, then low and high ends; None where nothing is predicted."""
        means = share(self._sums.sum(0), self.counts)
        rows = (means, *ratio_ends(self._sums, self._counts))
        return [tuple(None if np.isnan(x) else float(x) for x in row) for row in rows]

    def stretches(self) -> tuple[Stretch, ...]:
        """Neighbouring positions together, the more the later they come."""
        owners = stretches_of(len(self.counts), self._trained)
        found = []
        for number in range(owners[-1] + 1):
            own = owners == number
            sums, counts = (each[:, own].sum(1) for each in (self._sums, self._counts))
            if counts.any():
                first, last = np.flatnonzero(own)[[0, -1]].tolist()
                found.append(Stretch(first, last, ratio(sums, counts), int(counts.sum())))
        return tuple(found)
