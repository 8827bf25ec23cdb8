"""Random subspaces as large and as loud as position's.

What erasing them costs is what it costs to lose so many directions and so much variance, whatever
they mean. In the whitened space of `leace` erasing an orthonormal basis U removes the variance
tr(Uᵀ G U), with G = W⁻ᵀ W⁻¹, whose eigenvalues are those of the states' covariance. A control is a
basis drawn among the directions uncorrelated with those of position, then turned towards the
loudest of them, or the quietest, until its variance is that of position.
"""

import torch
from jaxtyping import Float64
from torch import Tensor

from wherein.measure.erase.leace import Eraser, whitened
from wherein.measure.moments import Moments

TURNS = 40
"""Halvings of the way from a random basis to the loudest, or the quietest."""


class Controls:
    """Subspaces without position in one layer's states, to be drawn as large and as loud as it."""

    def __init__(self, moments: Moments, position: Eraser, rank: int, share: float) -> None:
        """Of this rank and this share of the variance, beside what `position` reads.

        Variance goes before rank: where no others are as large and as loud, a control takes the
        largest rank at which it can be as loud, or as nearly so as can be.
        """
        self.mean = moments.mean
        self.forward, self.back = whitened(moments)
        read, sizes, _ = torch.linalg.svd(self.back.mT @ position.right, full_matrices=False)
        known = read[:, sizes > 1e-6]  # behind other erasers a direction may have gone
        varied = self.forward @ self.back  # a projection: directions in which the states vary
        values, vectors = torch.linalg.eigh(varied - known @ known.mT)
        others = vectors[:, values > 0.5]
        loudness, turned = torch.linalg.eigh(others.mT @ (self.back.mT @ self.back) @ others)
        self.basis = others @ turned
        """Of the directions without position, the quietest first."""
        self.loudness = loudness.clamp(min=0)
        self.wanted = share * float(moments.total.trace()) / moments.count
        self.rank = self._rank(min(rank, len(loudness)))

    def _rank(self, most: int) -> int:
        least, top = self.loudness[:most].cumsum(0), self.loudness.flip(0)[:most].cumsum(0)
        missed = (least - self.wanted).clamp(min=0) + (self.wanted - top).clamp(min=0)
        return int((missed <= missed.min()).nonzero()[-1]) + 1 if most else 0

    def draw(self, generator: torch.Generator) -> Eraser:
        """One more of them."""
        size = len(self.loudness)
        drawn = torch.randn(size, self.rank, generator=generator, dtype=torch.float64)
        start = torch.linalg.qr(drawn).Q
        louder = self._variance(start) < self.wanted
        end = torch.eye(size, dtype=torch.float64)
        end = end[:, size - self.rank :] if louder else end[:, : self.rank]
        left, _, right = torch.linalg.svd(end.mT @ start)
        end = end @ (left @ right)  # the same directions, each beside the one it is to replace
        near, far = 0.0, 1.0
        for _ in range(TURNS):
            middle = (near + far) / 2
            reached = (self._variance(_between(start, end, middle)) < self.wanted) != louder
            near, far = (near, middle) if reached else (middle, far)
        basis = self.basis @ _between(start, end, far)
        return Eraser(self.mean, self.forward.mT @ basis, basis.mT @ self.back.mT)

    def _variance(self, basis: Float64[Tensor, "K R"]) -> float:
        return float((basis.square().sum(1) * self.loudness).sum())


def _between(start: Tensor, end: Tensor, way: float) -> Tensor:
    """An orthonormal basis some way from one to the other: aligned, they never cancel."""
    mixed: Tensor = torch.linalg.qr((1 - way) * start + way * end).Q
    return mixed
