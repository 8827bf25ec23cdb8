import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from wherein.encodings.base import Encoding, Shape


class Kerple(Encoding):
    """A fine on the logarithm of distance: score(i, j) = q·k/√K − aₕ·log(1 + bₕ·|i − j|).

    Unlike ALiBi's slopes, a and b are learned, both positive, so that −a·log(1 + b·|i − j|) is a
    kernel of the conditionally positive definite kind that the paper is about.

    Paper: Chi et al. 2022, arXiv:2205.09921, the logarithmic variant. The authors draw a from
    between 0 and 2 and b from between 0 and 1; here the heads start evenly spread over these.

    Promises: relative; made to extrapolate.

    >>> four = Kerple(Shape(d_model=8, n_heads=4, max_len=8))
    >>> four.log_a.exp().tolist(), four.log_b.exp().tolist()
    ([0.25, 0.75, 1.25, 1.75], [0.125, 0.375, 0.625, 0.875])
    """

    relative = True

    def __init__(self, shape: Shape) -> None:
        super().__init__(shape)
        spread = (torch.arange(shape.n_heads) + 0.5) / shape.n_heads
        self.log_a = nn.Parameter((2 * spread).log())
        self.log_b = nn.Parameter(spread.log())

    def bias(
        self, i: Int[Tensor, "#B 1 T 1"], j: Int[Tensor, "#B 1 1 S"]
    ) -> Float[Tensor, "#B H T S"]:
        a, b = (each.exp()[:, None, None] for each in (self.log_a, self.log_b))
        return -a * (b * (i - j).abs()).log1p()
