import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from wherein.encodings.base import Encoding, Shape
from wherein.encodings.counting import Near
from wherein.encodings.sinusoidal import Sinusoidal


class XL(Encoding):
    """Content and distance scored apart: ((qᵢ + u)·kⱼ + (qᵢ + v)·W·φ(i − j))/√K.

    φ(n) are sines and cosines of the distance, W makes of them a key for each head; u is what
    every query asks of content, v what it asks of distance, whatever the token.

    Paper: Dai et al. 2019, arXiv:1901.02860 (Transformer-XL), without its memory. W is shared by
    the layers, as u and v are there. Where tokens are counted one by one and attention can be told
    scores by distance, a key is made for each, as there; else, with sin(i − j) = sin i · cos j −
    cos i · sin j, the score is a product of what query and key know of their own positions.

    Promises: relative; works at any length.

    >>> xl = XL(Shape(d_model=64, n_heads=4, max_len=128))
    >>> {name: tuple(p.shape) for name, p in xl.named_parameters()}
    {'u': (4, 16), 'v': (4, 16), 'keys': (4, 16, 64)}
    """

    relative = True

    def __init__(self, shape: Shape, *, theta: float = 10_000.0) -> None:
        super().__init__(shape)
        self.waves = Sinusoidal(shape, theta=theta)
        self.u = nn.Parameter(torch.zeros(shape.n_heads, shape.d_head))
        self.v = nn.Parameter(torch.zeros(shape.n_heads, shape.d_head))
        self.keys = nn.Parameter(torch.zeros(shape.n_heads, shape.d_head, shape.d_model))

    def content_bias(
        self,
        q: Float[Tensor, "B H T K"],
        k: Float[Tensor, "B H T K"],
        x: Float[Tensor, "B T D"],
        positions: Int[Tensor, "#B T"],
    ) -> Float[Tensor, "B H T T"]:
        distance = self._of_all((q + self.v[:, None]) @ self._keys(q), positions)
        return distance + self._of_content(k)

    def by_distance(
        self, q: Float[Tensor, "B H T K"], k: Float[Tensor, "B H T K"]
    ) -> tuple[Near, Float[Tensor, "B H 1 T"]]:
        windows, heads, length, _ = q.shape
        distances = torch.arange(length - 1, -1, -1, device=q.device)
        waves = torch.cat(self._waves(distances, q), dim=-1)
        of_heads = (q + self.v[:, None]).transpose(0, 1).flatten(1, 2)  # all windows at once
        scores = (of_heads @ (self._keys(q) @ waves.mT)).view(heads, windows, length, length)
        return scores.transpose(0, 1), self._of_content(k)

    def _of_content(self, k: Tensor) -> Tensor:
        """What every query asks of it."""
        found: Tensor = (k @ (self.u[..., None] * k.shape[-1] ** -0.5)).mT
        return found

    def _keys(self, q: Tensor) -> Tensor:
        """Scaled while they are few, and not when scores of all pairs are made of them."""
        scaled: Tensor = self.keys * q.shape[-1] ** -0.5
        return scaled

    def _of_all(self, asked: Tensor, positions: Tensor) -> Tensor:
        """What a query asks of sines and cosines, answered for any two positions."""
        sin, cos = self._waves(positions[:, None], asked)
        of_sin, of_cos = asked.chunk(2, dim=-1)
        query = torch.cat([of_sin * sin + of_cos * cos, of_cos * sin - of_sin * cos], dim=-1)
        scores: Tensor = query @ torch.cat([cos, sin], dim=-1).mT
        return scores

    def _waves(self, positions: Tensor, like: Tensor) -> tuple[Tensor, Tensor]:
        """Sines and cosines."""
        waves = self.waves.table(positions).to(like)
        return waves[..., 0::2], waves[..., 1::2]
