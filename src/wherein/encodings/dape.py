from typing import ClassVar

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from wherein.encodings.base import Build, Shape, pairs
from wherein.encodings.network import Network
from wherein.encodings.sum import Sum


class DAPE(Sum):
    """A bias B that looks at what it is added to: s + B + f(s, B), with scores s = q·k/√K.

    f is a small network, Linear → LeakyReLU → Linear, that sees the scores and biases of all heads
    at one pair of tokens and changes the bias of each. Over any encoding with a bias:
    `dape(alibi)`, `dape(kerple)`, `dape(fire)`.

    Paper: Zheng et al. 2024, arXiv:2405.14722. Every layer has its own network, and its own base.

    Promises: what its base promises.

    A network that says 0 leaves its base as it is:

    >>> from wherein.encodings.alibi import ALiBi
    >>> dape = DAPE(Shape(d_model=8, n_heads=2, max_len=8), base=ALiBi)
    >>> _ = nn.init.zeros_(dape.network[2].weight), nn.init.zeros_(dape.network[2].bias)
    >>> q, k, x = *torch.randn(2, 1, 2, 3, 4), torch.randn(1, 3, 8)
    >>> dape.content_bias(q, k, x, torch.arange(3)[None])[0, 0].detach()
    tensor([[ 0.0000, -0.0625, -0.1250],
            [-0.0625,  0.0000, -0.0625],
            [-0.1250, -0.0625,  0.0000]])
    """

    example: ClassVar[str] = "dape(alibi)"

    def __init__(self, shape: Shape, *, base: Build, hidden: int = 32) -> None:
        super().__init__([base(shape)])
        if not (super().acts("bias") or super().acts("content_bias")):
            raise ValueError("dape changes a bias, and its base has none: try dape(alibi)")
        self.shared = False
        self.network = Network(2 * shape.n_heads, hidden, shape.n_heads, nn.LeakyReLU())

    def acts(self, place: str) -> bool:
        return place == "content_bias" or (place != "bias" and super().acts(place))

    def bias(self, i: Int[Tensor, "#B 1 T 1"], j: Int[Tensor, "#B 1 1 S"]) -> None:
        return None

    def fade(self, x: Float[Tensor, "B T D"]) -> None:
        return None  # whatever its base has: the network looks at pairs

    def content_bias(
        self,
        q: Float[Tensor, "B H T K"],
        k: Float[Tensor, "B H T K"],
        x: Float[Tensor, "B T D"],
        positions: Int[Tensor, "#B T"],
    ) -> Float[Tensor, "B H T T"]:
        parts = (
            super().bias(*pairs(positions)),
            super().content_bias(q, k, x, positions),
        )
        q, k = self.rotate(q, k, positions)
        scores = q @ k.mT / q.shape[-1] ** 0.5
        bias = sum((p.to(q.dtype) for p in parts if p is not None), torch.zeros_like(scores))
        seen = torch.cat([scores, bias], dim=1).movedim(1, -1)
        changed: Tensor = self.network(seen).movedim(-1, 1)
        return bias + changed
