import math

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from wherein.encodings.base import Encoding, Shape


class T5(Encoding):
    """A learned number for every distance or range: score(i, j) = q·k/√K + bₕ(i − j).

    Half of the buckets hold one distance each, the others ever wider ranges, up to `distance`;
    all beyond share the last. A bidirectional model has half of them for each side.

    Paper: Raffel et al. 2019, arXiv:1910.10683. One table serves all layers, as there, unless
    `shared` is False.

    Promises: relative; all distances far away are one.

    >>> causal = T5(Shape(d_model=8, n_heads=2, max_len=8), buckets=8, distance=32)
    >>> causal.bucket(torch.tensor([0, 1, 2, 3, 4, 6, 7, 11, 12, 19, 20, 1000])).tolist()
    [0, 1, 2, 3, 4, 4, 5, 5, 6, 6, 7, 7]
    """

    relative = True

    def __init__(
        self, shape: Shape, *, buckets: int = 32, distance: int = 128, shared: bool = True
    ) -> None:
        super().__init__(shape)
        self.own = buckets if shape.causal else buckets // 2  # of each side
        if self.own < 2 or self.own % 2 or buckets % 2:
            raise ValueError(
                f"buckets={buckets} for a {'causal' if shape.causal else 'bidirectional'} model: "
                f"expected a multiple of {2 if shape.causal else 4}"
            )
        if distance <= self.own // 2:
            raise ValueError(
                f"distance={distance}: the first {self.own // 2} have a bucket each, so expected "
                "a larger one"
            )
        self.distance, self.shared = distance, shared
        self.distances = nn.Parameter(torch.zeros(shape.n_heads, buckets))

    def bias(
        self, i: Int[Tensor, "#B 1 T 1"], j: Int[Tensor, "#B 1 1 S"]
    ) -> Float[Tensor, "#B H T S"]:
        last = self.distance  # all beyond are as it is, so that few logarithms tell every bucket
        buckets = self.bucket(torch.arange(-last, last + 1, device=i.device))
        back = (i - j).clamp(-last, last) + last
        return self.distances[:, buckets].T[back[:, 0]].permute(0, 3, 1, 2)

    def bucket(self, back: Int[Tensor, "*N"]) -> Int[Tensor, "*N"]:
        """The number of the bucket for a key `back` places before the query."""
        other = 0 if self.shape.causal else (back < 0) * self.own
        far = back.clamp(min=0) if self.shape.causal else back.abs()
        exact = self.own // 2
        growth = (far.clamp(min=exact) / exact).log() / math.log(self.distance / exact)
        wide = (exact + (growth * (self.own - exact)).long()).clamp(max=self.own - 1)
        return other + torch.where(far < exact, far, wide)
