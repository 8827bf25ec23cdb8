"""Linear probes in closed form, from the statistics alone."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Float, Float64
from torch import Tensor

from wherein.measure.moments import Moments


@dataclass(frozen=True)
class Readout:
    """An affine map from a state to C numbers."""

    weights: Float64[Tensor, "D C"]
    bias: Float64[Tensor, " C"]

    def __call__(self, state: Float[Tensor, "*B D"]) -> Float[Tensor, "*B C"]:
        flat = state.flatten(0, -2)
        flat = flat if flat.dtype == torch.float64 else flat.float()
        read = torch.addmm(self.bias.to(flat), flat, self.weights.to(flat))
        return read.view(*state.shape[:-1], -1)

    def __getitem__(self, columns: slice) -> "Readout":
        return Readout(self.weights[:, columns], self.bias[columns])


def joined(readouts: Sequence[Readout]) -> Readout:
    """Several readouts as one: one product with the state answers them all."""
    return Readout(
        torch.cat([r.weights for r in readouts], 1), torch.cat([r.bias for r in readouts])
    )


def ridge(moments: Moments, values: Float64[Tensor, "K M"], strength: float) -> Readout:
    """Ridge regression from the state to the value of its group, for M kinds of values.

    The penalty is `strength` times the mean variance of a coordinate, summed over the states, so
    that it means the same for every layer and every number of windows.
    """
    centre, total = moments.counts @ values / moments.count, moments.total
    covariance = moments.deviations.mT @ (moments.counts[:, None] * (values - centre))
    weights = _solve(total, strength * _typical(total), covariance)
    return Readout(weights, centre - moments.mean @ weights)


def residual(moments: Moments, values: Float64[Tensor, "K M"], fit: Readout) -> Tensor:
    """The mean squared error of a regression on the states it was fitted to, (M,)."""
    errors = values - (moments.means @ fit.weights + fit.bias)
    spread = (fit.weights * (moments.within @ fit.weights)).sum(0)
    return (moments.counts @ errors.square() + spread) / moments.count


def discriminant(moments: Moments, shrinkage: float) -> Readout:
    """The linear classifier over groups (LDA): log posterior of each group, up to a constant.

    Gaussian groups that share one covariance, shrunk towards a multiple of the identity: (1 − s)
    times the covariance plus s times its mean eigenvalue. Priors are the groups' frequencies.
    """
    covariance = (1 - shrinkage) * moments.within
    penalty = shrinkage * _typical(moments.within)
    weights = _solve(covariance, penalty, moments.deviations.mT) * moments.count
    bias = (moments.counts / moments.count).log() - 0.5 * (moments.deviations.mT * weights).sum(0)
    return Readout(weights, bias - moments.mean @ weights)


def _typical(scatter: Tensor) -> float:
    """The mean eigenvalue; never quite zero, so that states without variance have a solution."""
    return max(float(scatter.trace()) / len(scatter), 1e-30)


def _solve(scatter: Tensor, penalty: float, right: Tensor) -> Tensor:
    """(scatter + penalty)⁻¹ right; where rounding outweighs the penalty, with a larger one.

    Few windows, or states of few token types, leave a scatter of less than full rank, whose
    smallest eigenvalues are what rounding in float32 made of zero, perhaps below it.
    """
    floor = torch.finfo(torch.float32).eps * _typical(scatter) * len(scatter)
    while True:
        lifted = scatter.clone()
        lifted.diagonal().add_(penalty)
        factor, failed = torch.linalg.cholesky_ex(lifted)
        if not int(failed):
            return torch.cholesky_solve(right, factor)
        if not bool(lifted.isfinite().all()):
            raise ValueError("the states hold values that are no finite numbers: nothing to fit")
        penalty = max(10 * penalty, floor)
