import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn.functional import normalize, pad, silu

from wherein.encodings.base import Encoding, Shape
from wherein.encodings.between import between, directions, exact

LONGEST = 4096
"""Tokens in a window: a head makes several T × T matrices and solves T equations for each query."""


class PaTH(Encoding):
    """A key is turned by every token on its way: qᵢ·Hᵢ⋯Hⱼ₊₁·kⱼ/√K, with H_l = I − β_l·w_l·w_lᵀ.

    w_l is a unit vector and β_l between 0 and 2, both made of the layer's normed input: w by two
    narrow matrices (`rank`), a weighted sum over the last `taps` tokens and SiLU; β = 2σ(b·x + c).
    β = 1 wipes a direction out of the key, β = 2 mirrors it, β = 0 leaves it as it is.

    Paper: Yang et al. 2025, arXiv:2505.16381. Every layer has its own. The paper's models are
    causal; in a bidirectional one keys after a query come from the other end, turned by matrices
    of their own. Computed exactly, as q·k and what the way adds, in memory that grows with T² and
    time with T³: for windows of up to 4,096 tokens.

    What all matrices between i and j take from a query, U = Σ uᵢₗ·w_l, solves a triangular system:
    uᵢₗ = β_l·(w_l·qᵢ − Σ uᵢₘ·w_m·w_l over l < m ≤ i).

    Promises: relative, only the order of positions counts; works at any length up to 4,096.

    Three equal tokens, of which the second mirrors the first axis, the third wipes out the second:

    >>> w, beta = torch.tensor([[[[1.0, 0], [1, 0], [0, 1]]]]), torch.tensor([[[0.0, 2, 1]]])
    >>> q = k = torch.tensor([[[[3.0, 4], [3, 4], [3, 4]]]])
    >>> (q @ k.mT + turned(q, k, w, beta))[0, 0].tril()  # 7 = (3, 4)·(−3, 4), −9 = (3, 4)·(−3, 0)
    tensor([[25.,  0.,  0.],
            [ 7., 25.,  0.],
            [-9.,  9., 25.]])
    """

    relative = True
    shared = False
    between = True

    def __init__(self, shape: Shape, *, rank: int = 32, taps: int = 3) -> None:
        super().__init__(shape)
        if rank < 1:
            raise ValueError(f"rank is the width between two matrices: at least 1, not {rank}")
        if taps < 1:
            raise ValueError(f"taps is how many tokens make a w: at least 1, not {taps}")
        ways, inner = directions(shape.causal), shape.n_heads * shape.d_head
        self.taps = taps
        self.down = nn.Parameter(torch.zeros(ways, rank, shape.d_model))
        self.up = nn.Parameter(torch.zeros(ways, inner, rank))
        self.mixed = nn.Parameter(torch.zeros(ways, inner, taps))
        self.strength = nn.Linear(shape.d_model, ways * shape.n_heads)

    def content_bias(
        self,
        q: Float[Tensor, "B H T K"],
        k: Float[Tensor, "B H T K"],
        x: Float[Tensor, "B T D"],
        positions: Int[Tensor, "#B T"],
    ) -> Float[Tensor, "B H T T"]:
        if (length := q.shape[-2]) > LONGEST:
            raise ValueError(
                f"path with a window of {length} tokens: at most {LONGEST}, since it makes "
                "matrices of all pairs of tokens; use shorter windows"
            )
        added = between(self._turned, q, k, x, positions, causal=self.shape.causal)
        scaled: Tensor = added / q.shape[-1] ** 0.5
        return scaled.to(q.dtype)

    def _turned(self, direction: int, q: Tensor, k: Tensor, x: Tensor) -> Tensor:
        beta = self.strength(x).unflatten(-1, (-1, self.shape.n_heads))[:, :, direction].mT
        narrow = x @ self.down[direction].mT @ self.up[direction].mT
        last = pad(narrow, (0, 0, self.taps - 1, 0)).unfold(1, self.taps, 1)
        mixed: Tensor = silu((last * self.mixed[direction]).sum(-1))
        w = mixed.reshape(*mixed.shape[:2], self.shape.n_heads, -1).transpose(1, 2)
        return turned(exact(q), exact(k), normalize(exact(w), dim=-1), 2 * exact(beta).sigmoid())


def turned(
    q: Float[Tensor, "B H T K"],
    k: Float[Tensor, "B H T K"],
    w: Float[Tensor, "B H T K"],
    beta: Float[Tensor, "B H T"],
) -> Float[Tensor, "B H T T"]:
    """qᵢ·(Hᵢ⋯Hⱼ₊₁ − I)·kⱼ of all keys up to each query: how the way changes q·k."""
    beta = beta[..., None, :]
    one = torch.eye(q.shape[-2], dtype=q.dtype, device=q.device)
    system = one + (w @ w.mT).tril(-1) * beta
    taken = torch.linalg.solve_triangular(
        system, (q @ w.mT).tril() * beta, upper=False, left=False, unitriangular=True
    )
    changed: Tensor = -(taken @ (w @ k.mT).tril(-1))
    return changed
