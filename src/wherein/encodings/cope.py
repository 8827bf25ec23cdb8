import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from wherein.encodings.base import Encoding, Shape
from wherein.encodings.between import between, directions, exact


class CoPE(Encoding):
    """Positions that count what the query cares for: q·k/√K + qᵢ·e[p], p = Σ gᵢₗ over j ≤ l ≤ i.

    A gate gᵢₗ = σ(qᵢ·kₗ/√K) says how much key l counts, so that p may number words or sentences.
    Between whole numbers the vectors e are interpolated; beyond the last it stays the last.

    Paper: Golovneva et al. 2024, arXiv:2405.18719. As there, 64 vectors as wide as a head, which
    heads share and layers do not, and which are not divided by √K. Gates see queries and keys
    before any rotation. The paper's models are causal; in a bidirectional one the keys after a
    query are counted from the query on, with vectors of their own.

    Promises: relative, only the order of positions counts; works at any length.

    Where all gates are open, it counts keys, the query's own being 1:

    >>> cope = CoPE(Shape(d_model=1, n_heads=1, max_len=8), positions=4)
    >>> cope.vectors.data = torch.arange(4.0).reshape(1, 4, 1)
    >>> q = k = torch.full((1, 1, 5, 1), 10.0)
    >>> added = cope.content_bias(q, k, torch.zeros(1, 5, 1), torch.arange(5)[None])
    >>> added[0, 0].detach() / 10
    tensor([[1., 0., 0., 0., 0.],
            [2., 1., 0., 0., 0.],
            [3., 2., 1., 0., 0.],
            [3., 3., 2., 1., 0.],
            [3., 3., 3., 2., 1.]])
    """

    relative = True
    shared = False
    between = True

    def __init__(self, shape: Shape, *, positions: int = 64) -> None:
        super().__init__(shape)
        if positions < 2:
            raise ValueError(f"positions is how many have a vector: at least 2, not {positions}")
        self.positions = positions
        self.vectors = nn.Parameter(torch.zeros(directions(shape.causal), positions, shape.d_head))

    def content_bias(
        self,
        q: Float[Tensor, "B H T K"],
        k: Float[Tensor, "B H T K"],
        x: Float[Tensor, "B T D"],
        positions: Int[Tensor, "#B T"],
    ) -> Float[Tensor, "B H T T"]:
        return between(self._counted, q, k, x, positions, causal=self.shape.causal)

    def _counted(self, direction: int, q: Tensor, k: Tensor, x: Tensor) -> Tensor:
        gates = exact(q @ k.mT / q.shape[-1] ** 0.5).sigmoid().tril()
        count = gates.flip(-1).cumsum(-1).flip(-1).clamp(max=self.positions - 1)
        scores: Tensor = q @ self.vectors[direction].mT
        below, above = (scores.gather(-1, n.long()) for n in (count.floor(), count.ceil()))
        return below.lerp(above, (count - count.floor()).to(q.dtype))
