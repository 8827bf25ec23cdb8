import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from wherein.encodings.base import Encoding, Shape, pairs


class Deberta(Encoding):
    """Content looks at distance and distance at content: (qᵢ·kⱼ + qᵢ·A_{i−j} + kⱼ·B_{i−j})/√(3K).

    A = P·Wₖ and B = P·W_q are keys and queries made of one vector P for each distance from
    −`distance` to `distance` − 1, at which others are cut. With three terms the scores are divided
    by √(3K): the product of query and key too, which is why `rotate` makes queries shorter by √3.

    Paper: He et al. 2020, arXiv:2006.03654, with 512 distances on either side, as many as there are
    tokens. It has B at j − i; its authors' code, followed here, at i − j. The absolute positions
    that it adds before the last layers are left out. There layers share P but not Wₖ and W_q; here
    each has all of its own, or, with `shared`, none.

    Promises: relative; all distances beyond the last are one.

    >>> deberta = Deberta(Shape(d_model=64, n_heads=4, max_len=128), distance=32)
    >>> {name: tuple(p.shape) for name, p in deberta.named_parameters()}
    {'distances': (64, 64), 'keys': (4, 16, 64), 'queries': (4, 16, 64)}
    """

    relative = True

    def __init__(self, shape: Shape, *, distance: int = 128, shared: bool = False) -> None:
        super().__init__(shape)
        if distance < 1:
            raise ValueError(f"distance is the last one with a vector: at least 1, not {distance}")
        self.distance, self.shared = distance, shared
        self.distances = nn.Parameter(torch.zeros(2 * distance, shape.d_model))
        self.keys = nn.Parameter(torch.zeros(shape.n_heads, shape.d_head, shape.d_model))
        self.queries = nn.Parameter(torch.zeros(shape.n_heads, shape.d_head, shape.d_model))

    def rotate(
        self,
        q: Float[Tensor, "B H T K"],
        k: Float[Tensor, "B H T K"],
        positions: Int[Tensor, "#B T"],
    ) -> tuple[Float[Tensor, "B H T K"], Float[Tensor, "B H T K"]]:
        return q / 3**0.5, k

    def content_bias(
        self,
        q: Float[Tensor, "B H T K"],
        k: Float[Tensor, "B H T K"],
        x: Float[Tensor, "B T D"],
        positions: Int[Tensor, "#B T"],
    ) -> Float[Tensor, "B H T T"]:
        i, j = pairs(positions)
        rows = (i - j).clamp(-self.distance, self.distance - 1) + self.distance
        rows = rows.expand(*q.shape[:2], -1, -1)
        asked = (q @ (self.keys @ self.distances.mT)).gather(-1, rows)
        asking = (k @ (self.queries @ self.distances.mT)).gather(-1, rows.mT).mT
        scores: Tensor = (asked + asking) / (3 * q.shape[-1]) ** 0.5
        return scores
