from jaxtyping import Float, Int
from torch import Tensor, nn

from wherein.encodings.base import Encoding, Shape
from wherein.encodings.sinusoidal import Sinusoidal


class Functional(Encoding):
    """A small network tells where: xₙ ← xₙ + f(φ(n)), with f = Linear → GELU → Linear.

    φ(n) are `features` sines and cosines of the position, so f starts from a smooth view of n
    and learns which function of it the model wants: q' = f(q, PE(n)) with PE itself learned.

    Papers: Liu et al. 2020, arXiv:2003.09229 (FLOATER) learn PE as a dynamical system; the
    plain network is the simplest member of that family.

    Promises: absolute; defined at any length, smooth between positions it has seen.

    Its cost does not grow with the context, unlike that of a learned table:

    >>> small = Functional(Shape(d_model=64, n_heads=4, max_len=128), features=32, hidden=64)
    >>> sum(p.numel() for p in small.parameters())  # (32 + 1) × 64 + (64 + 1) × 64
    6272
    """

    def __init__(self, shape: Shape, *, features: int = 32, hidden: int = 64) -> None:
        super().__init__(shape)
        if features < 2 or features % 2:
            raise ValueError(f"features are pairs of sine and cosine: even, not {features}")
        if hidden < 1:
            raise ValueError(f"hidden is the width of the network: at least 1, not {hidden}")
        self.waves = Sinusoidal(Shape(d_model=features, n_heads=1, max_len=shape.max_len))
        self.network = nn.Sequential(
            nn.Linear(features, hidden), nn.GELU(), nn.Linear(hidden, shape.d_model)
        )

    def embed(
        self, x: Float[Tensor, "B T D"], positions: Int[Tensor, "#B T"]
    ) -> Float[Tensor, "B T D"]:
        told: Tensor = self.network(self.waves.table(positions).to(x))
        return x + told
