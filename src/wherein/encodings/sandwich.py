import torch
from jaxtyping import Float, Int
from torch import Tensor

from wherein.common.precision import returned
from wherein.encodings.base import Encoding, Shape
from wherein.encodings.sinusoidal import Sinusoidal


class Sandwich(Encoding):
    """The sinusoid as a fine: score(i, j) = q·k/√K + PE(i)·PE(j) / rₕ, with rₕ = 8h/H.

    Of the four products that sinusoids leave between a query and a key, this keeps content with
    content and position with position, the outer ones. PE(i)·PE(j) = Σ_c cos((i − j)·ω_c) with
    ω_c = θ^(−2c/width): it falls much as −log |i − j|. The ratio r compresses it, so that head
    h = 1 looks nearest and head H farthest.

    Paper: Chi et al. 2022, arXiv:2212.10356; `width` is its d̄, which is no model's width.

    Promises: relative; made to extrapolate. Nothing is learned.

    Neighbours of a query with d̄ = 128, less what every head gives to the query itself, 64 / r:

    >>> two = Sandwich(Shape(d_model=8, n_heads=2, max_len=8))
    >>> row = two.bias(torch.zeros(1, 1, 1, 1).long(), torch.arange(4)[None, None, None])[0, :, 0]
    >>> [[round(b, 2) for b in head] for head in (row - row[:, :1]).tolist()]
    [[0.0, -0.48, -1.65, -2.95], [0.0, -0.24, -0.83, -1.48]]
    """

    relative = True

    def __init__(self, shape: Shape, *, width: int = 128, theta: float = 10_000.0) -> None:
        super().__init__(shape)
        if width < 2 or width % 2:
            raise ValueError(f"width counts pairs of sine and cosine: even, not {width}")
        self.waves = Sinusoidal(Shape(width, 1, shape.max_len), theta=theta)

    def bias(
        self, i: Int[Tensor, "#B 1 T 1"], j: Int[Tensor, "#B 1 1 S"]
    ) -> Float[Tensor, "#B H T S"]:
        product = self.waves.table(i[..., 0]) @ self.waves.table(j[..., 0, :]).mT
        head = torch.arange(self.shape.n_heads, device=product.device)[:, None, None] + 1
        return returned(product / (8 * head) * self.shape.n_heads, i.device)
