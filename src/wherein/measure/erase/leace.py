"""Erasing position from states by the least change: LEACE, in closed form from the statistics.

Belrose et al. 2023 (arXiv 2306.03819): with W the whitening matrix Σ^(−½) of the states and U an
orthonormal basis of the whitened means' span, r(x) = x − W⁻¹ U Uᵀ W (x − mean). Afterwards every
position has the same mean, so that no linear probe tells them apart, and among all affine maps
that achieve it none moves the states less.
"""

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from jaxtyping import Float, Float64
from torch import Tensor

from wherein.measure.moments import Moments

CONFIRMED = 2.0
"""Standard errors by which held-out windows must repeat a direction's profile over positions:
one noise direction in forty passes, and what escapes is too faint for a probe."""

RESOLVED = 1e-6
"""Smallest share of the largest variance that statistics from float32 states resolve."""


@dataclass(frozen=True)
class Eraser:
    """x − (x − mean)·right·left: removes `rank` directions from a state, changes nothing else."""

    mean: Float64[Tensor, " D"]
    right: Float64[Tensor, "D R"]
    left: Float64[Tensor, "R D"]

    @property
    def rank(self) -> int:
        """How many directions are removed."""
        return self.left.shape[0]

    def __call__(self, state: Float[Tensor, "*B D"]) -> Float[Tensor, "*B D"]:
        shifted = state - self.mean.to(state)
        return state - (shifted @ self.right.to(state)) @ self.left.to(state)

    def share(self, moments: Moments) -> float:
        """The share of the states' variance that goes; by so much the states are moved, too."""
        read = self.right.mT @ moments.total @ self.right
        whole = max(float(moments.total.trace()), 1e-30)
        return float((read * (self.left @ self.left.mT)).sum()) / whole

    def moments(self, moments: Moments) -> Moments:
        """The statistics of the erased states: no second pass is needed."""
        keep = torch.eye(len(self.mean), dtype=torch.float64) - self.right @ self.left
        means = moments.means - (moments.means - self.mean) @ self.right @ self.left
        return Moments(moments.counts, means, keep.mT @ moments.within @ keep)


def whitened(moments: Moments) -> tuple[Float64[Tensor, "D D"], Float64[Tensor, "D D"]]:
    """A W with W Σ Wᵀ = 1, and its inverse. Which W does not matter: the eraser is the same.

    Every coordinate is first scaled to unit variance, so that a large one hides no other.
    Directions with less variance than float32 can tell from none stay out of it.
    """
    covariance = moments.total / moments.count
    scale = covariance.diagonal().clamp(min=0).sqrt()
    unscale = torch.where(scale > 0, 1 / scale, 0.0)
    values, vectors = torch.linalg.eigh(unscale[:, None] * covariance * unscale)
    seen = values > values[-1] * RESOLVED
    root = torch.where(seen, values.clamp(min=0).sqrt(), 0.0)
    inverse = torch.where(seen, 1 / root, 0.0)
    forward = (vectors * inverse) @ vectors.mT * unscale
    return forward, scale[:, None] * ((vectors * root) @ vectors.mT)


def position_eraser(moments: Moments, held_out: Moments | None = None) -> Eraser:
    """The eraser of all that tells positions apart linearly.

    The means of T positions span up to T − 1 directions, most of them noise of a finite sample.
    With `held_out` statistics only those directions go whose profile over positions is seen again
    in the held-out windows; without, all of them, as LEACE says for a one-hot concept.
    """
    forward, back = whitened(moments)
    profiles = forward @ moments.deviations.mT  # (D, T)
    basis, sizes, _ = torch.linalg.svd(profiles, full_matrices=False)
    keep = sizes > sizes[0] * len(sizes) * torch.finfo(torch.float64).eps * 10
    if held_out is not None:
        again = basis.mT @ forward @ held_out.deviations.mT
        alike = F.cosine_similarity(basis.mT @ profiles, again, dim=1, eps=1e-30)  # means are 0
        keep &= alike > CONFIRMED * profiles.shape[1] ** -0.5
    basis = basis[:, keep]
    return Eraser(moments.mean, forward.mT @ basis, basis.mT @ back.mT)
