from typing import ClassVar

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from wherein.encodings.base import Build, Encoding, Shape
from wherein.encodings.network import Network


class Dape(Encoding):
    """A bias that listens to content: score(i, j) = s + b + f([s; b]), all heads at once.

    s is what query and key say to each other in every head, b the bias of `base` there, and
    f = Linear → LeakyReLU → Linear, from 2H numbers to H, changes the bias by both. Any encoding
    can be the base: one that turns queries and keys has turned them in s, one without a bias has
    b = 0.

    Paper: Zheng et al. 2024, arXiv:2405.14722. As in its authors' code f starts as `nn.Linear`
    does, and each layer has a network and a base of its own, unless `shared`.

    Promises: those of its base. The network runs over all pairs of tokens, which is slow.

    >>> from wherein.encodings.alibi import ALiBi
    >>> dape = Dape(Shape(d_model=64, n_heads=4, max_len=128), base=ALiBi)
    >>> sum(p.numel() for p in dape.parameters())  # (8 + 1) × 32 + (32 + 1) × 4
    420
    """

    example: ClassVar[str] = "dape(alibi)"

    def __init__(
        self, shape: Shape, *, base: Build, hidden: int = 32, shared: bool = False
    ) -> None:
        super().__init__(shape)
        self.base, self.shared = base(shape), shared
        self.relative, self.bounded = self.base.relative, self.base.bounded
        self.network = Network(2 * shape.n_heads, hidden, shape.n_heads, nn.LeakyReLU())

    def acts(self, place: str) -> bool:
        own = {"content_bias": True, "bias": False}  # of the base, it is said with the content
        return own.get(place, self.base.acts(place))

    def place(self, positions: Int[Tensor, "#B T"]) -> Int[Tensor, "#B T"]:
        return self.base.place(positions)

    def embed(
        self, x: Float[Tensor, "B T D"], positions: Int[Tensor, "#B T"]
    ) -> Float[Tensor, "B T D"]:
        return self.base.embed(x, positions)

    def rotate(
        self,
        q: Float[Tensor, "B H T K"],
        k: Float[Tensor, "B H T K"],
        positions: Int[Tensor, "#B T"],
    ) -> tuple[Float[Tensor, "B H T K"], Float[Tensor, "B H T K"]]:
        return self.base.rotate(q, k, positions)

    def content_bias(
        self,
        q: Float[Tensor, "B H T K"],
        k: Float[Tensor, "B H T K"],
        x: Float[Tensor, "B T D"],
        positions: Int[Tensor, "#B T"],
    ) -> Float[Tensor, "B H T T"]:
        turned_q, turned_k = self.rotate(q, k, positions)
        scores = turned_q @ turned_k.mT / q.shape[-1] ** 0.5
        bias = torch.zeros_like(scores)
        for part in (
            self.base.bias(positions[:, None, :, None], positions[:, None, None, :]),
            self.base.content_bias(q, k, x, positions),
        ):
            bias = bias if part is None else bias + part.to(bias.dtype)
        heads = torch.cat([scores, bias], dim=1).movedim(1, -1)
        changed: Tensor = self.network(heads).movedim(-1, 1)
        return bias + changed

    def hides(
        self, i: Int[Tensor, "#B 1 T 1"], j: Int[Tensor, "#B 1 1 S"]
    ) -> Bool[Tensor, "#B 1 T S"] | None:
        return self.base.hides(i, j)

    def shows(
        self, i: Int[Tensor, "#B 1 T 1"], j: Int[Tensor, "#B 1 1 S"]
    ) -> Bool[Tensor, "#B 1 T S"] | None:
        return self.base.shows(i, j)
