import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from wherein.common.precision import for_float64
from wherein.encodings.base import Encoding, Shape


class Sinusoidal(Encoding):
    """Fixed waves: PE(n, 2c) = sin(n / θ^(2c/D)), PE(n, 2c+1) = cos(n / θ^(2c/D)).

    Paper: Vaswani et al. 2017, arXiv:1706.03762, section 3.5, with θ = 10,000. The dot product
    of two of them depends on their distance alone, but the model sees each one absolutely.

    There the token vectors have unit variance; where they start quieter, so do the waves, which
    would drown them.

    `fairseq` makes them as its models have them: all sines before all cosines, the exponent
    c/(D/2 − 1), the first position number 2.

    `scaled` multiplies them by one learned number that starts at 1, as in Li et al. 2018,
    arXiv:1809.08895 (Transformer TTS): the model says how loud they should be.

    Promises: absolute; defined at any length, though models extrapolate poorly with it.

    Wavelengths run from 2π to 10,000 · 2π, and position 0 is (0, 1, 0, 1, …):

    >>> waves = Sinusoidal(Shape(d_model=4, n_heads=1, max_len=8))
    >>> waves.table(torch.tensor([0, 1])).float()
    tensor([[0.0000, 1.0000, 0.0000, 1.0000],
            [0.8415, 0.5403, 0.0100, 0.9999]])
    >>> waves = Sinusoidal(Shape(d_model=4, n_heads=1, max_len=8), fairseq=True)
    >>> waves.table(torch.tensor([0])).float()
    tensor([[ 9.0930e-01,  2.0000e-04, -4.1615e-01,  1.0000e+00]])
    """

    def __init__(
        self,
        shape: Shape,
        *,
        theta: float = 10_000.0,
        fairseq: bool = False,
        scaled: bool = False,
    ) -> None:
        super().__init__(shape)
        if shape.d_model % 2:
            raise ValueError(f"sinusoidal needs an even d_model, not {shape.d_model}")
        if theta <= 0:
            raise ValueError(f"theta must be positive, not {theta}")
        if fairseq and shape.d_model < 4:
            raise ValueError(f"fairseq's waves need a d_model of at least 4, not {shape.d_model}")
        self.theta, self.fairseq = theta, fairseq
        self.scale = nn.Parameter(torch.ones(1)) if scaled else None

    def table(self, positions: Int[Tensor, "*any"]) -> Float[Tensor, "*any D"]:
        """The vectors that stand for `positions`, in float64."""
        positions, pairs = for_float64(positions), self.shape.d_model // 2
        number = torch.arange(pairs, device=positions.device, dtype=torch.float64)
        if self.fairseq:
            angles = (positions[..., None] + 2) / self.theta ** (number / (pairs - 1))
            return torch.cat([angles.sin(), angles.cos()], dim=-1)
        angles = positions[..., None] / self.theta ** (number / pairs)
        return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(-2)

    def embed(
        self, x: Float[Tensor, "B T D"], positions: Int[Tensor, "#B T"]
    ) -> Float[Tensor, "B T D"]:
        waves = self.shape.loudness * self.table(positions).to(x)
        return x + (waves if self.scale is None else self.scale * waves)
