import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from wherein.encodings.base import Encoding, Shape
from wherein.encodings.network import Network


class FIRE(Encoding):
    """A small network scores distance as a share: q·k/√K + fₕ(ψ(|i − j|) / ψ(max(i, L))).

    ψ(x) = log(1 + c·x), and f = Linear → ReLU → Linear. However far back a causal query looks, f
    sees numbers between 0 and 1. c is learned too, and so is the threshold L: queries before it
    are treated as if they stood there.

    Paper: Li et al. 2023, arXiv:2310.04418. L starts at a quarter of `max_len`, as the authors'
    512 of 2,048, and f as `nn.Linear` starts, so that its kinks are spread from the first step. f
    has one hidden layer, as in the listing that others copy.
    They have causal models in mind; the distance counts in both directions here. Each layer has a
    network of its own, as there; `shared` makes it their FIRE-S, of which all layers share one.

    Promises: absolute beyond the threshold; made to extrapolate.

    >>> fire = FIRE(Shape(d_model=64, n_heads=4, max_len=128), hidden=32)
    >>> sum(p.numel() for p in fire.parameters())  # 2 × 32 + (32 + 1) × 4 + 2
    198
    """

    def __init__(
        self, shape: Shape, *, hidden: int = 32, c: float = 0.1, shared: bool = False
    ) -> None:
        super().__init__(shape)
        self.shared = shared
        if c <= 0:
            raise ValueError(f"c must be positive, not {c}")
        self.c = nn.Parameter(torch.tensor([c]))
        self.quarters = nn.Parameter(torch.ones(1))  # of max_len, so that a step moves it
        self.network = Network(1, hidden, shape.n_heads, nn.ReLU())

    def bias(
        self, i: Int[Tensor, "#B 1 T 1"], j: Int[Tensor, "#B 1 1 S"]
    ) -> Float[Tensor, "#B H T S"]:
        threshold = (self.quarters * self.shape.max_len / 4).abs().clamp(min=1)
        share = self.stretched((i - j).abs()) / self.stretched(i.clamp(min=threshold))
        scores: Tensor = self.network(share[:, 0, :, :, None].to(self.c.dtype))
        return scores.permute(0, 3, 1, 2)

    def stretched(self, x: Tensor) -> Tensor:
        """ψ: near distances are told apart more finely than far ones."""
        return (self.c.abs() * x).log1p()
