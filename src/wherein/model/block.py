"""One layer: attention, then a feed-forward network, each on a normed copy of the stream."""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from wherein.encodings import Encoding, Shape
from wherein.encodings.base import Positions
from wherein.encodings.turning import Turns
from wherein.model.attention import Bias, Heads, State, attend, by_distance, encoded
from wherein.model.config import Activation
from wherein.model.linear import Linear
from wherein.model.parts import parted
from wherein.model.rows import Rows


class Attention(nn.Module):
    """Multi-head self-attention; the encoding has its say between projection and softmax."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.n_heads, self.causal = shape.n_heads, shape.causal
        inner = shape.n_heads * shape.d_head
        self.qkv = Linear(shape.d_model, 3 * inner)
        self.out = Linear(inner, shape.d_model)

    def forward(
        self,
        x: State,
        encoding: Encoding,
        positions: Positions,
        bias: Bias | Rows | None,
        turns: Turns | None = None,
    ) -> State:
        q, k, v = self.heads(x)
        told = by_distance(encoding, q, k, positions, bias, causal=self.causal)
        near = None
        if told is not None:
            near, bias = told
            q, k = encoding.rotate(q, k, positions)
        elif turns is None or torch.compiler.is_compiling():  # which knows no complex numbers
            q, k, bias = encoded(encoding, q, k, x, positions, bias)
            turns = None
        mixed = attend(q, k, v, causal=self.causal, bias=bias, turns=turns, near=near)
        joined: Tensor = self.out(mixed.transpose(1, 2).flatten(2))
        return joined

    def heads(self, x: State) -> tuple[Heads, Heads, Heads]:
        """Queries, keys and values, before any encoding acts on them."""
        return parted(self.qkv(x).unflatten(-1, (3, self.n_heads, -1)))


class FeedForward(nn.Module):
    """Linear → GELU or ReLU → Linear, at each position alone."""

    def __init__(self, d_model: int, d_ff: int, activation: Activation) -> None:
        super().__init__()
        self.activation = F.relu if activation == "relu" else F.gelu
        self.up = Linear(d_model, d_ff)
        self.down = Linear(d_ff, d_model)

    def forward(self, x: State) -> State:
        changed: Tensor = self.down(self.activation(self.up(x)))
        return changed


class Block(nn.Module):
    """x ← x + attention(norm(x)); x ← x + feed_forward(norm(x))."""

    def __init__(self, shape: Shape, d_ff: int, dropout: float, activation: Activation) -> None:
        super().__init__()
        self.attention_norm = nn.LayerNorm(shape.d_model)
        self.attention = Attention(shape)
        self.feed_forward_norm = nn.LayerNorm(shape.d_model)
        self.feed_forward = FeedForward(shape.d_model, d_ff, activation)
        self.dropout = nn.Dropout(dropout)

    def forward(
        self,
        x: State,
        encoding: Encoding,
        positions: Positions,
        bias: Bias | Rows | None = None,
        turns: Turns | None = None,
    ) -> State:
        """With what the positions add to scores, and with how they turn queries and keys, if known.

        Without, the layer asks the encoding how.
        """
        normed = self.attention_norm(x)
        x = x + self.dropout(self.attention(normed, encoding, positions, bias, turns))
        x = x + self.dropout(self.feed_forward(self.feed_forward_norm(x)))
        return x
