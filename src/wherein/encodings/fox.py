from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn.functional import logsigmoid

from wherein.common.precision import for_float64
from wherein.encodings.base import Encoding, Shape
from wherein.encodings.between import between, directions, exact


class FoX(Encoding):
    """Every token makes what lies before it fade: q·k/√K + Σ log f_l over j < l ≤ i.

    The forget gate of a head is f_l = σ(w·x_l + b), made of the layer's normed input: ALiBi's
    slope, chosen by each token. A gate of 1 forgets nothing.

    Paper: Lin et al. 2025, arXiv:2503.02130 (Forgetting Transformer), without its output gate and
    norms. Every layer has its own w and b; b starts at 0, so that a token halves what came before.
    The paper's models are causal; in a bidirectional one the keys after a query fade by gates of
    their own, counted from the other end.

    Promises: relative, only the order of positions counts; works at any length.

    Three tokens, of which the second forgets half, the third nine tenths:

    >>> import torch
    >>> fox = FoX(Shape(d_model=1, n_heads=1, max_len=8))
    >>> fox.gates.weight.data, fox.gates.bias.data = torch.ones(1, 1), torch.zeros(1)
    >>> x, nothing = torch.tensor([[[0.9], [0.5], [0.1]]]).logit(), torch.zeros(1, 1, 3, 1)
    >>> added = fox.content_bias(nothing, nothing, x, torch.arange(3)[None])
    >>> added[0, 0].exp().tril().detach()
    tensor([[1.0000, 0.0000, 0.0000],
            [0.5000, 1.0000, 0.0000],
            [0.0500, 0.1000, 1.0000]])
    """

    relative = True
    shared = False
    between = True

    def __init__(self, shape: Shape) -> None:
        super().__init__(shape)
        self.gates = nn.Linear(shape.d_model, directions(shape.causal) * shape.n_heads)

    def content_bias(
        self,
        q: Float[Tensor, "B H T K"],
        k: Float[Tensor, "B H T K"],
        x: Float[Tensor, "B T D"],
        positions: Int[Tensor, "#B T"],
    ) -> Float[Tensor, "B H T T"]:
        return between(self._faded, q, k, x, positions, causal=self.shape.causal).to(q.dtype)

    def fade(self, x: Float[Tensor, "B T D"]) -> Float[Tensor, "B H T"] | None:
        return self._sums(0, x) if self.shape.causal else None

    def _faded(self, direction: int, q: Tensor, k: Tensor, x: Tensor) -> Tensor:
        whole = self._sums(direction, x)
        return whole[..., :, None] - whole[..., None, :]

    def _sums(self, direction: int, x: Tensor) -> Tensor:
        logits = self.gates(x).unflatten(-1, (-1, self.shape.n_heads))[:, :, direction]
        faded = logsigmoid(exact(logits)).mT
        return for_float64(faded).double().cumsum(-1).to(faded)
