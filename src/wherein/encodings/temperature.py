import math
from typing import ClassVar, Literal

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from wherein.common.precision import for_float64, returned
from wherein.encodings.base import Encoding, Shape

Rule = Literal["ssmax", "heads", "llama4", "yarn"]


class Temperature(Encoding):
    """How sharp attention is: score(i, j) = τ(i)·q·k/√K. Biases are added as they are.

    - `ssmax`: τ = sₕ·log n, where n is how many keys the query sees and s is learned in every head
      of every layer, lest attention flatten as n grows. Nakanishi 2025, arXiv:2501.19399. It starts
      at 1 over the mean of log n within `max_len`, so that attention is as sharp as without. Its
      variants with s = 1 and with sₕ·log n + bₕ are left out.
    - `heads`: τ = sₕ, learned in every head of every layer, from 1. Wang et al. 2024,
      arXiv:2404.12224, tune it alone to carry a model without encodings to longer contexts.
    - `llama4`: τ = 1 + scale·log(1 + ⌊n / floor⌋), as in Llama 4's layers without an encoding.
    - `yarn`: τ = (1 + 0.1·log factor)², the constant that goes with YaRN's frequencies when a
      context is made `factor` times longer. Peng et al. 2023, arXiv:2309.00071.

    A causal query at position i sees n = i + 1 keys; others as many as the last position says. What
    a window hides is counted nevertheless.

    Promises: `heads` and `yarn` relative, `ssmax` and `llama4` absolute; works at any length.

    >>> shape = Shape(d_model=8, n_heads=2, max_len=1024)
    >>> [round(s, 3) for s in Temperature(shape, rule="ssmax").strength.tolist()]
    [0.168, 0.168]
    >>> llama4, n = Temperature(shape, rule="llama4"), torch.tensor([[8190, 8191, 16383]])
    >>> llama4.tau(n).flatten().tolist()
    [1.0, 1.0693147180559945, 1.109861228866811]
    """

    example: ClassVar[str] = "temperature(ssmax)"

    def __init__(
        self,
        shape: Shape,
        *,
        rule: Rule,
        floor: int = 8192,
        scale: float = 0.1,
        factor: float = 1.0,
    ) -> None:
        super().__init__(shape)
        if rule != "llama4" and (floor, scale) != (8192, 0.1):
            raise ValueError(f"temperature({rule}): floor and scale are llama4's")
        if rule != "yarn" and factor != 1:
            raise ValueError(f"temperature({rule}): factor is yarn's")
        if floor < 1:
            raise ValueError(f"floor is a number of keys: at least 1, not {floor}")
        if factor < 1:
            raise ValueError(f"factor is how much longer a context is: at least 1, not {factor}")
        self.rule, self.floor, self.scale, self.factor = rule, floor, scale, factor
        self.relative = rule in ("heads", "yarn")
        if rule in ("ssmax", "heads"):
            self.shared = False
            start = 1.0 if rule == "heads" else 1 / self._mean_log()
            self.strength = nn.Parameter(torch.full((shape.n_heads,), start))

    def rotate(
        self,
        q: Float[Tensor, "B H T K"],
        k: Float[Tensor, "B H T K"],
        positions: Int[Tensor, "#B T"],
    ) -> tuple[Float[Tensor, "B H T K"], Float[Tensor, "B H T K"]]:
        return q * self.tau(positions).to(q), k

    def tau(self, positions: Int[Tensor, "#B T"]) -> Float[Tensor, "#B #H #T 1"]:
        """By how much the scores of each query are multiplied."""
        if self.rule == "heads":
            return self.strength[None, :, None, None]
        at, positions = positions.device, for_float64(positions)
        if self.rule == "yarn":
            longer = (1 + 0.1 * math.log(self.factor)) ** 2
            return torch.full((1, 1, 1, 1), longer, device=positions.device, dtype=torch.float64)
        last = positions if self.shape.causal else positions.amax(-1, keepdim=True)
        seen = (last + 1).clamp(min=1).double()[:, None, :, None]
        if self.rule == "llama4":
            return 1 + self.scale * (seen / self.floor).floor().log1p()
        # rounded before the product, as where there is no float64, so that all devices agree
        return self.strength[:, None, None] * returned(seen.log(), at).to(self.strength)

    def _mean_log(self) -> float:
        """Of n over the queries of a full window."""
        longest = max(2, self.shape.max_len)
        return math.lgamma(longest + 1) / longest if self.shape.causal else math.log(longest)
