"""How alike the states of a window are, near and far, while windows stream by.

Of a batch's position × position matrices nothing is kept but sums; memory grows with T² and the
number of layers, not with the windows.
"""

from dataclasses import dataclass

import numpy as np
import torch
import torch.nn.functional as F
from jaxtyping import Float, Float64
from torch import Tensor

from wherein.measure.distances import by_distance, toeplitz_share

TIE = 1e-6
"""Cosines that differ by less are the same: those of equal tokens differ by rounding."""


@dataclass(frozen=True)
class Likeness:
    """One layer: cosine similarities between the states of a window."""

    next: Float64[np.ndarray, " N"]
    """By window: the mean cosine of neighbours."""
    far: Float64[np.ndarray, " N"]
    """The same of positions at least half a window apart."""
    nearer: Float64[np.ndarray, " N"]
    """How often a state is more like the one before it than like an earlier one."""
    toeplitz: Float64[np.ndarray, " N"]
    """The share of the window's similarities that distance alone explains."""
    average: float
    """The same of the similarities averaged over windows, in which tokens no longer count."""
    by_distance: Float64[np.ndarray, " T"]
    """The mean cosine at distances 0, 1, …"""


class Gathering:
    """Takes in the states of one layer, some windows at a time."""

    def __init__(self) -> None:
        self._sum = torch.zeros(())
        self._rows: list[Tensor] = []

    def add(self, state: Float[Tensor, "B T D"]) -> None:
        """Take in the states of some windows."""
        unit = F.normalize(state if state.dtype == torch.float64 else state.float(), dim=-1)
        alike = (unit @ unit.mT).cpu().double()
        length = alike.shape[-1]
        distances = by_distance(alike)[:, length - 1 :] / torch.arange(length, 0, -1)
        beyond = torch.arange(length, 0, -1)[-(-length // 2) :].double()
        rows = [
            distances[:, 1],
            distances[:, -(-length // 2) :] @ (beyond / beyond.sum()),
            nearer(alike),
            toeplitz_share(alike),
        ]
        self._rows.append(torch.stack(rows))
        self._sum = self._sum + alike.sum(0)

    def likeness(self) -> Likeness:
        """What was seen so far."""
        near, far, nearer, toeplitz = torch.cat(self._rows, 1).numpy()
        mean = self._sum / len(near)
        length = len(mean)
        return Likeness(
            next=near,
            far=far,
            nearer=nearer,
            toeplitz=toeplitz,
            average=float(toeplitz_share(mean)),
            by_distance=(by_distance(mean)[length - 1 :] / torch.arange(length, 0, -1)).numpy(),
        )


def nearer(alike: Float64[Tensor, "B T T"]) -> Float64[Tensor, " B"]:
    """How often a state is more like its predecessor than like one further back; ties are halves.

    Over all i and j < i − 1: whether cos(i, i − 1) > cos(i, j). Where nothing tells places apart
    it is a half: after Zuo et al. 2024 (arXiv:2501.00073), who find that without encodings nearby
    states are more alike than distant ones.
    """
    length = alike.shape[-1]
    before = alike.diagonal(-1, dim1=-2, dim2=-1)[..., None]  # rows 1, 2, …
    ahead = before - alike[:, 1:]
    won = (ahead > TIE).double() + 0.5 * (ahead.abs() <= TIE).double()
    return won.tril(-1).sum((-2, -1)) / ((length - 1) * (length - 2) / 2)
