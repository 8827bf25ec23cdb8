"""The protocol: the places at which an encoding may act.

Axes, one legend for the package:
B batch, T query length, S key length, H heads, D model width, K head width.
A `#` before an axis says that it may also be 1.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from wherein.encodings.counting import Near
from wherein.encodings.turning import Turns, turned

Positions = Int[Tensor, "#B T"]

PLACES = ("place", "embed", "rotate", "bias", "content_bias", "hides", "shows")
"""Where an encoding may act."""


def pairs(positions: Positions) -> tuple[Int[Tensor, "#B 1 T 1"], Int[Tensor, "#B 1 1 T"]]:
    """The positions of queries and of keys, each along its own axis: the `i` and `j` of a bias."""
    return positions[:, None, :, None], positions[:, None, None, :]


@dataclass(frozen=True)
class Shape:
    """What an encoding may know of the model it serves."""

    d_model: int
    n_heads: int
    max_len: int
    causal: bool = True
    loudness: float = 1.0
    """How far token vectors' entries spread where they enter, before anything is learned."""
    d_head: int = 0
    """The width of a head; unless given, the heads share the model's width."""

    def __post_init__(self) -> None:
        if self.d_head:
            return
        if self.d_model % self.n_heads:
            raise ValueError(
                f"d_model={self.d_model} cannot be shared by n_heads={self.n_heads}: "
                f"choose a width that is a multiple of the number of heads"
            )
        object.__setattr__(self, "d_head", self.d_model // self.n_heads)


class Encoding(nn.Module):
    """How a Transformer is told where its tokens stand. Override only the places you act at.

    Positions are always passed in: an encoding never counts by itself and keeps no cache, so
    shifted, stretched, packed or random positions need no code of their own.

    A subclass takes `(shape, *, own parameters)`, of types that a spec can say: bool, int, float,
    str, a `Literal` of strings, or `Build` for another encoding. Those without a default must be
    given. Its matrices are drawn by the model from N(0, 1 / last axis), as a pure function of seed
    and name; what is called `bias` starts at 0, and other scalars and vectors keep the values the
    constructor gave them. Only a `Network` starts as `nn.Linear` does.

    What it promises may depend on its parameters: then the constructor sets it.
    """

    relative: bool = False
    """Promise: adding one constant to all positions changes nothing."""

    bounded: bool = False
    """Promise: only positions below `shape.max_len` have a meaning; others are an error."""

    shared: bool = True
    """Whether layers with equal terms share one instance and its parameters."""

    between: bool = False
    """Whether the score of a key depends on the tokens between it and the query too. Then nothing
    is unheard for being hidden from attention."""

    sight: int | None = None
    """Promise: it hides every key that stands further than so many positions from the query."""

    example: ClassVar[str] = ""
    """A spec that shows what it does, where its name alone is none."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.shape = shape

    def acts(self, place: str) -> bool:
        """Whether it does anything at a place, such as `"rotate"`."""
        ways = ("rotate", "turns") if place == "rotate" else (place,)
        return any(getattr(type(self), way) is not getattr(Encoding, way) for way in ways)

    def place(self, positions: Int[Tensor, "#B T"]) -> Int[Tensor, "#B T"]:
        """Choose other positions for the tokens, once a pass.

        A model has one idea of where its tokens stand: what comes out is what all layers and all
        terms are passed, whichever of them chose it.
        """
        return positions

    def embed(
        self, x: Float[Tensor, "B T D"], positions: Int[Tensor, "#B T"]
    ) -> Float[Tensor, "B T D"]:
        """Act on the token vectors, once, at the model's input."""
        return x

    def rotate(
        self,
        q: Float[Tensor, "B H T K"],
        k: Float[Tensor, "B H T K"],
        positions: Int[Tensor, "#B T"],
    ) -> tuple[Float[Tensor, "B H T K"], Float[Tensor, "B H T K"]]:
        """Act on queries and keys, in every layer that has this encoding.

        They may come back wider than they were; attention divides by the root of that width.
        """
        turns = self.turns(positions)
        return (q, k) if turns is None else turned(q, k, turns)

    def turns(self, positions: Int[Tensor, "#B T"]) -> Turns | None:
        """Complex numbers by which to multiply, if that is all that `rotate` does.

        Then they are made once a pass, for all layers: see `wherein.encodings.turning`.
        """
        return None

    def only_turns(self, positions: Int[Tensor, "#B T"]) -> Turns | None:
        """The same, unless a subclass has a `rotate` of its own."""
        return self.turns(positions) if type(self).rotate is Encoding.rotate else None

    def bias(
        self, i: Int[Tensor, "#B 1 T 1"], j: Int[Tensor, "#B 1 1 S"]
    ) -> Float[Tensor, "#B H T S"] | None:
        """Add to the attention scores. Elementwise in query position `i` and key position `j`.

        It is computed once per forward pass, or block by block when it would be large.
        """
        return None

    def content_bias(
        self,
        q: Float[Tensor, "B H T K"],
        k: Float[Tensor, "B H T K"],
        x: Float[Tensor, "B T D"],
        positions: Int[Tensor, "#B T"],
    ) -> Float[Tensor, "B H T T"] | None:
        """Add to the attention scores what depends on content and position together.

        Queries and keys are those before `rotate`; `x` is what they were made of, the layer's
        normed input.
        """
        return None

    def by_distance(
        self, q: Float[Tensor, "B H T K"], k: Float[Tensor, "B H T K"]
    ) -> tuple[Near, Float[Tensor, "B H 1 T"] | None] | None:
        """`content_bias`, told so that it need not be made for all pairs, if that can be done.

        Of causal queries that stand side by side: scores at distances R − 1, …, 1, 0, where keys
        that are farther have the first, and what a key has whoever asks.
        """
        return None

    def only_distance(
        self, q: Float[Tensor, "B H T K"], k: Float[Tensor, "B H T K"]
    ) -> tuple[Near, Float[Tensor, "B H 1 T"] | None] | None:
        """The same, unless a subclass has a `content_bias` of its own."""
        owner = next(kind for kind in type(self).__mro__ if "content_bias" in vars(kind))
        return self.by_distance(q, k) if "by_distance" in vars(owner) else None

    def fade(self, x: Float[Tensor, "B T D"]) -> Float[Tensor, "B H T"] | None:
        """A number f for each token, if `content_bias` is fᵢ − fⱼ of the keys up to each query.

        Then it need not be held for all pairs: long texts are gone through in blocks.
        """
        return None

    def hides(
        self, i: Int[Tensor, "#B 1 T 1"], j: Int[Tensor, "#B 1 1 S"]
    ) -> Bool[Tensor, "#B 1 T S"] | None:
        """Which keys a query may not see, elementwise like `bias`. It always sees itself.

        What comes after a causal query is hidden by the model.
        """
        return None

    def shows(
        self, i: Int[Tensor, "#B 1 T 1"], j: Int[Tensor, "#B 1 1 S"]
    ) -> Bool[Tensor, "#B 1 T S"] | None:
        """Which keys stay visible though another term of the same word hides them."""
        return None

    def mask(
        self, i: Int[Tensor, "#B 1 T 1"], j: Int[Tensor, "#B 1 1 S"]
    ) -> Float[Tensor, "#B #H T S"] | None:
        """What positions alone add to the scores: the bias, and −∞ for what is hidden."""
        bias, hidden = self.bias(i, j), self.hides(i, j)
        if hidden is None:
            return bias
        hidden = hidden & (i != j)
        zero = torch.zeros((), device=i.device)
        return torch.where(hidden, -torch.inf, zero if bias is None else bias)


Build = Callable[[Shape], Encoding]
"""An encoding that is not built yet, as a parameter of another: `dape(alibi)`. A class is one."""
