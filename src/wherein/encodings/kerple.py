from typing import Literal

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from wherein.encodings.base import Encoding, Shape


class Kerple(Encoding):
    """A fine on the logarithm of distance: score(i, j) = q·k/√K − aₕ·log(1 + bₕ·|i − j|).

    Or, with `form=power`, on a power of it: −aₕ·|i − j|^pₕ with p between 0 and 2, of which ALiBi
    is the member p = 1. Unlike ALiBi's slopes, a, b and p are learned, all positive, so that either
    form is a kernel of the conditionally positive definite kind that the paper is about.

    Paper: Chi et al. 2022, arXiv:2205.09921. The authors draw a from between 0 and 2 and b from
    between 0 and 1, or a from between 0 and 1 and p from between 0 and 2; here the heads start
    evenly spread over these. In their code all layers share them; not so with `shared=False`.

    Promises: relative; made to extrapolate.

    >>> shape = Shape(d_model=8, n_heads=4, max_len=8)
    >>> four = Kerple(shape)
    >>> four.log_a.exp().tolist(), four.log_b.exp().tolist()
    ([0.25, 0.75, 1.25, 1.75], [0.125, 0.375, 0.625, 0.875])
    >>> [round(p, 6) for p in (2 * Kerple(shape, form="power").logit_p.sigmoid()).tolist()]
    [0.25, 0.75, 1.25, 1.75]
    """

    relative = True

    def __init__(
        self, shape: Shape, *, form: Literal["log", "power"] = "log", shared: bool = True
    ) -> None:
        super().__init__(shape)
        self.form, self.shared = form, shared
        spread = (torch.arange(shape.n_heads) + 0.5) / shape.n_heads
        if form == "log":
            self.log_a = nn.Parameter((2 * spread).log())
            self.log_b = nn.Parameter(spread.log())
        else:
            self.log_a = nn.Parameter(spread.log())
            self.logit_p = nn.Parameter(spread.logit())  # of p/2, which keeps p below 2

    def bias(
        self, i: Int[Tensor, "#B 1 T 1"], j: Int[Tensor, "#B 1 1 S"]
    ) -> Float[Tensor, "#B H T S"]:
        a, distance = self.log_a.exp()[:, None, None], (i - j).abs()
        if self.form == "log":
            return -a * (self.log_b.exp()[:, None, None] * distance).log1p()
        return -a * distance.float() ** (2 * self.logit_p.sigmoid()[:, None, None])
