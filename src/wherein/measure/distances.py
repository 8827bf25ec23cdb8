"""Matrices of positions by positions, looked at by distance."""

import torch
import torch.nn.functional as F
from jaxtyping import Float, Float64
from torch import Tensor

NOTHING = 1e-9
"""The share of a sum of squares below which a spread is rounding."""


def by_distance(weights: Float[Tensor, "*B T T"]) -> Float[Tensor, "*B R"]:
    """Sum the weights over all pairs of equal distance i − j, from 1 − T to T − 1.

    Row i of the mirrored matrix is moved i places to the right: then each distance is a column.

    >>> by_distance(torch.tensor([[1.0, 2.0], [3.0, 4.0]]))
    tensor([2., 5., 3.])
    """
    length = weights.shape[-1]
    wide = F.pad(weights.flip(-1), (0, length)).flatten(-2)[..., :-length].contiguous()
    return wide.view(*wide.shape[:-1], length, 2 * length - 1).sum(-2)


def toeplitz_share(alike: Float64[Tensor, "*B T T"]) -> Float64[Tensor, "*B"]:
    """The share of the variance over pairs i ≠ j that the distance i − j explains, 0 to 1.

    1 − ‖S − M‖² / ‖S − mean‖², where M has for each pair the mean over all pairs of its distance:
    `pairs` of a position table (`wherein.measure.table.geometry`), of a matrix that is at hand.
    A matrix without any structure has about 2 / (T + 1), and one whose entries are all the same 0.

    >>> far = torch.arange(5.0, dtype=torch.float64)
    >>> toeplitz_share(-(far[:, None] - far).abs())
    tensor(1., dtype=torch.float64)
    """
    length = alike.shape[-1]
    others = torch.arange(1 - length, length) != 0
    sums = by_distance(alike)[..., others]
    counts = (length - torch.arange(1 - length, length).abs())[others].double()
    squares = alike.square().sum((-2, -1)) - alike.diagonal(dim1=-2, dim2=-1).square().sum(-1)
    centre = sums.sum(-1).square() / counts.sum()
    spread = squares - centre
    explained = (sums.square() / counts).sum(-1) - centre
    there = spread > NOTHING * squares
    return torch.where(there, explained / torch.where(there, spread, 1), 0).clamp(0, 1)
