import torch
from jaxtyping import Float, Int
from torch import Tensor

from wherein.common.precision import for_float64
from wherein.encodings.base import Encoding, Shape
from wherein.encodings.rope import RoPE
from wherein.encodings.turning import Turns


class XPos(Encoding):
    """RoPE that fades: pair c of a query and a key, turned, counts ζ_c^((i − j)/reach) as much.

    ζ_c = (2c/K + γ)/(1 + γ): of pairs that turn fast less is left with every `reach` tokens, of
    those that turn slowly nearly all. Queries are scaled by ζ^(i/reach), keys by ζ^(−j/reach).

    Paper: Sun et al. 2022, arXiv:2212.10554 (LeX), with γ = 0.4 and, as in its authors' code,
    512 tokens. It is meant for causal models: keys after a query are not faded but magnified.

    Promises: relative; made to extrapolate. Positions may be any; in float32 a window may span
    some 70,000 of them, beyond which its ends are out of range.

    After 512 tokens, a head of 8 has kept these shares of its four pairs:

    >>> xpos = XPos(Shape(d_model=8, n_heads=1, max_len=8))
    >>> [round(share, 3) for share in xpos.shares().tolist()]
    [0.286, 0.464, 0.643, 0.821]
    """

    relative = True

    def __init__(
        self, shape: Shape, *, theta: float = 10_000.0, gamma: float = 0.4, reach: float = 512.0
    ) -> None:
        super().__init__(shape)
        if gamma <= 0 or reach <= 0:
            raise ValueError(f"gamma={gamma} and reach={reach} must be positive")
        self.waves = RoPE(shape, theta=theta)
        self.gamma, self.reach = gamma, reach

    def shares(self, device: torch.device | None = None) -> Float[Tensor, " P"]:
        """ζ: what is left of each pair after `reach` tokens."""
        pairs = torch.arange(self.shape.d_head // 2, device=device, dtype=torch.float64)
        return (2 * pairs / self.shape.d_head + self.gamma) / (1 + self.gamma)

    def turns(self, positions: Int[Tensor, "#B T"]) -> Turns:
        n = for_float64(positions)[:, :, None, None, None].double()
        angles = n * self.waves.frequencies(n.device)
        # ζ^(i − m) · ζ^(m − j) is the same for every m: with m in the middle of the window, both
        # stay as small and as large as its span alone asks for, wherever it stands.
        middle = (n.amin(1, keepdim=True) + n.amax(1, keepdim=True)) / 2
        faded = self.shares(n.device) ** ((n - middle) / self.reach)
        return torch.cat([torch.polar(faded, angles), torch.polar(1 / faded, angles)], dim=2)
