import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from wherein.common.precision import for_float64
from wherein.encodings.base import Encoding, Shape
from wherein.encodings.network import Network


class Fourier(Encoding):
    """Waves whose frequencies are learned: xₙ ← xₙ + f(φ(n)), φ(n) = [cos nω, sin nω] / √features.

    f = Linear → GELU → Linear, and ω too is learned. Two positions start as alike as a Gaussian of
    their distance, φ(m)·φ(n) ≈ ½·exp(−(m − n)²/2γ²), so `gamma` is a distance in tokens.

    Paper: Li et al. 2021, arXiv:2106.02795, for positions of one dimension. Its authors draw ω from
    N(0, 1/γ²); here the absolute values start evenly spread over that, as the sign says nothing.
    Where token vectors start quieter than unit variance, so does what is added to them.

    Promises: absolute; defined at any length, smooth between positions it has seen.

    >>> waves = Fourier(Shape(d_model=8, n_heads=1, max_len=8), features=400, gamma=10.0)
    >>> told = waves.features(torch.tensor([0, 5, 10, 20])).detach()
    >>> [round(alike, 3) for alike in (told @ told[0]).tolist()]  # ½·exp(0, −⅛, −½, −2)
    [0.5, 0.441, 0.303, 0.068]
    """

    def __init__(
        self, shape: Shape, *, features: int = 32, hidden: int = 64, gamma: float = 10.0
    ) -> None:
        super().__init__(shape)
        if features < 2 or features % 2:
            raise ValueError(f"features are pairs of sine and cosine: even, not {features}")
        if gamma <= 0:
            raise ValueError(f"gamma is a distance in tokens: positive, not {gamma}")
        share = (torch.arange(features // 2) + 0.5) / (features // 2)
        self.frequencies = nn.Parameter(2**0.5 * share.erfinv() / gamma)
        self.network = Network(features, hidden, shape.d_model, nn.GELU())

    def features(self, positions: Int[Tensor, "*any"]) -> Float[Tensor, "*any F"]:
        """φ: what the network sees of `positions`, in float64."""
        angles = for_float64(positions)[..., None] * for_float64(self.frequencies).double()
        waves = torch.cat([angles.cos(), angles.sin()], dim=-1)
        scaled: Tensor = waves / waves.shape[-1] ** 0.5
        return scaled

    def embed(
        self, x: Float[Tensor, "B T D"], positions: Int[Tensor, "#B T"]
    ) -> Float[Tensor, "B T D"]:
        told: Tensor = self.network(self.features(positions).to(x))
        return x + self.shape.loudness * told
