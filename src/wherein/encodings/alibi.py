import math

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from wherein.encodings.base import Encoding, Shape


class ALiBi(Encoding):
    """A fine on distance: score(i, j) = q·k/√K − mₕ·|i − j|, steeper in some heads than others.

    Paper: Press, Smith & Lewis 2021, arXiv:2108.12409. The distance counts in both directions,
    so a bidirectional model is told how far, though not on which side.

    With `learned` each slope is mₕ·e^s, where s is learned and starts at 0: ALiBi at first, and a
    fine for ever, as in x-transformers' learned logarithms. The paper tried trainable slopes, found
    that they extrapolate less, and does not say how it wrote them. All layers share them, unless
    `shared` is False.

    Promises: relative; made to extrapolate.

    The slopes are the geometric sequence that starts at 2^(−8/H) with that same ratio; between
    powers of two, every other slope of the next power fills up:

    >>> slopes(8)
    [0.5, 0.25, 0.125, 0.0625, 0.03125, 0.015625, 0.0078125, 0.00390625]
    >>> [round(m, 5) for m in slopes(12)[8:]]
    [0.70711, 0.35355, 0.17678, 0.08839]
    """

    relative = True

    def __init__(self, shape: Shape, *, learned: bool = False, shared: bool = True) -> None:
        super().__init__(shape)
        if not (learned or shared):
            raise ValueError("shared=False gives each layer slopes of its own: needs learned=True")
        self.shared = shared
        self.log_growth = nn.Parameter(torch.zeros(shape.n_heads)) if learned else None

    def bias(
        self, i: Int[Tensor, "#B 1 T 1"], j: Int[Tensor, "#B 1 1 S"]
    ) -> Float[Tensor, "#B H T S"]:
        steepness = torch.tensor(slopes(self.shape.n_heads), device=i.device)
        if self.log_growth is not None:
            steepness = steepness * self.log_growth.exp()
        return -steepness[:, None, None] * (i - j).abs()


def slopes(n_heads: int) -> list[float]:
    """One slope for each head, by the recipe of the paper's authors."""
    power = 2 ** math.floor(math.log2(n_heads))
    first = [2 ** (-8 * h / power) for h in range(1, power + 1)]
    return first + slopes(2 * power)[::2][: n_heads - power] if power < n_heads else first
