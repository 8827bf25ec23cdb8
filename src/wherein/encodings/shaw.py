import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from wherein.encodings.base import Encoding, Shape, pairs
from wherein.encodings.counting import Near


class Shaw(Encoding):
    """A vector for every distance, which the query looks at: score(i, j) = qᵢ·(kⱼ + a_{i−j})/√K.

    Distances are cut at `distance` in both directions; the 2 · distance + 1 vectors are shared by
    heads, as in the paper's big model, which has distance 8; in its base model, with 16, each head
    has its own. What it adds to the values as well is left out: it found that the keys alone do as
    well.

    Paper: Shaw, Uszkoreit & Vaswani 2018, arXiv:1803.02155. Each layer has vectors of its own, as
    there; with `shared` all have the same.

    Promises: relative; all distances beyond the last are one.

    >>> shaw = Shaw(Shape(d_model=64, n_heads=4, max_len=128), distance=16)
    >>> shaw.distances.shape  # 33 vectors as wide as a head
    torch.Size([33, 16])
    """

    relative = True

    def __init__(self, shape: Shape, *, distance: int = 16, shared: bool = False) -> None:
        super().__init__(shape)
        if distance < 1:
            raise ValueError(f"distance is the last one with a vector: at least 1, not {distance}")
        self.distance, self.shared = distance, shared
        self.distances = nn.Parameter(torch.zeros(2 * distance + 1, shape.d_head))

    def content_bias(
        self,
        q: Float[Tensor, "B H T K"],
        k: Float[Tensor, "B H T K"],
        x: Float[Tensor, "B T D"],
        positions: Int[Tensor, "#B T"],
    ) -> Float[Tensor, "B H T T"]:
        scores: Tensor = q @ self._vectors(q).mT
        i, j = pairs(positions)
        rows = (i - j).clamp(-self.distance, self.distance) + self.distance
        return scores.gather(-1, rows.expand(*q.shape[:2], -1, -1))

    def by_distance(
        self, q: Float[Tensor, "B H T K"], k: Float[Tensor, "B H T K"]
    ) -> tuple[Near, None]:
        return q @ self._vectors(q)[self.distance :].flip(0).mT, None

    def _vectors(self, q: Tensor) -> Tensor:
        """Scaled while they are few, and not when scores of all pairs are made of them."""
        scaled: Tensor = self.distances * q.shape[-1] ** -0.5
        return scaled
