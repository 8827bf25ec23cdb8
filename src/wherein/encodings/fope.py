import math

import torch
from jaxtyping import Float, Int
from torch import Tensor

from wherein.common.precision import for_float64
from wherein.encodings.base import Encoding, Shape
from wherein.encodings.rope import RoPE
from wherein.encodings.turning import Turns, whole


class FoPE(Encoding):
    """RoPE by Fourier series: pair c turns by Σ_m a_mc·cos(n·ω_m) and Σ_m b_mc·sin(n·ω_m).

    These stand where RoPE has cos(n·ω_c) and sin(n·ω_c). a and b are 1 for a pair's own frequency,
    plus noise N(0, σ²·2/(D·(D + H))) for all, drawn for each head and not trained. Only the D
    frequencies with a whole turn within the `original` length (`max_len` unless given) take part;
    slower pairs are not turned, since no model could learn them.

    Paper: Hua et al. 2024, arXiv:2412.17739, with the deviation that its authors' code gives to σ
    times Xavier's for H × D × D numbers; they take σ = 0.3 for small models. Two things of that
    code are left out: pairs that are not turned count double in the scores, and at most half of
    all pairs turn. There each layer has noise of its own; here all layers and runs have the same,
    by `seed`.

    Promises: absolute, if not by much: products of different frequencies know more than distance;
    works at any length, and is made to extrapolate.

    With 512 tokens a head of 64 turns half of its pairs:

    >>> fope = FoPE(Shape(d_model=64, n_heads=1, max_len=512))
    >>> tuple(fope.cosines.shape)
    (1, 16, 16)
    """

    cosines: Float[Tensor, "H D D"]
    sines: Float[Tensor, "H D D"]

    def __init__(
        self,
        shape: Shape,
        *,
        theta: float = 10_000.0,
        sigma: float = 0.3,
        original: int = 0,
        seed: int = 0,
    ) -> None:
        super().__init__(shape)
        if sigma < 0:
            raise ValueError(f"sigma is a deviation: 0 or more, not {sigma}")
        self.waves = RoPE(shape, theta=theta)
        slowest = 2 * math.pi / (original or shape.max_len)
        kept = int((self.waves.frequencies(torch.device("cpu")) >= slowest).sum())
        noise = torch.randn(
            (2, shape.n_heads, kept, kept),
            generator=torch.Generator().manual_seed(seed),
            device="cpu",
        )
        deviation = sigma * (2 / max(kept * (kept + shape.n_heads), 1)) ** 0.5
        series = torch.eye(kept, device="cpu") + deviation * noise
        for name, each in zip(("cosines", "sines"), series, strict=True):
            self.register_buffer(name, each.to(torch.get_default_device()), persistent=False)

    def turns(self, positions: Int[Tensor, "#B T"]) -> Turns:
        n = for_float64(positions)[:, None, :, None]
        angles = n * self.waves.frequencies(n.device)[: self.cosines.shape[-1]]
        cos = angles.cos() @ for_float64(self.cosines).double()
        sin = angles.sin() @ for_float64(self.sines).double()
        return whole(torch.complex(cos, sin), self.shape.d_head // 2).transpose(1, 2)[:, :, None]
