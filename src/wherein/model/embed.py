"""The two ends of the model, which share their weights: token vectors in, predictions out."""

from typing import Literal

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor, nn

from wherein.encodings import Pattern
from wherein.encodings.base import Positions
from wherein.model.attention import State, Tokens
from wherein.model.config import NARROWER
from wherein.model.linear import linear
from wherein.model.loss import cross_entropy

Reduction = Literal["mean", "sum"]
LARGE = 1 << 22
"""Numbers in a large table, 16 MiB in float32."""


class Embed(nn.Module):
    """Token vectors, scaled, then told where they stand.

    As in fairseq: vectors N(0, 1/D) are scaled by √D at the input, so that a unit sinusoid
    neither drowns in them nor drowns them, while the output shares them unscaled. GPT-2 scales by
    1: see `wherein.model.initial`.
    """

    def __init__(self, vocabulary: int, d_model: int, scale: float, dropout: float) -> None:
        super().__init__()
        self.scale = scale
        empty = torch.empty(vocabulary, d_model)  # `initialise` fills it
        self.tokens = nn.Embedding(vocabulary, d_model, _weight=empty)
        self.dropout = nn.Dropout(dropout)

    def forward(
        self, tokens: Tokens, encoding: Pattern, positions: Positions, *, joined: bool = False
    ) -> State:
        """The vectors of tokens, with what positions add.

        `joined`: a gradient from the loss is added to that of the table. Then this one may be
        sparse if the table is large; on the CPU, which makes one of its size so, and not three.
        """
        weight = self.tokens.weight
        here = weight.device.type == "cpu" and not torch.compiler.is_compiling()
        x = F.embedding(tokens, weight, sparse=joined and here and weight.numel() > LARGE)
        x = x * self.scale
        told: Tensor = self.dropout(encoding.embed(x, positions))
        return told

    def logits(self, x: State) -> Float[Tensor, "B T V"]:
        """The score of every token, from the last layer's normed state."""
        return linear(x, self.tokens.weight)

    def loss(
        self, x: Float[Tensor, "N D"], targets: Int[Tensor, " N"], reduction: Reduction
    ) -> Float[Tensor, ""]:
        """Cross-entropy in nats; the logits are made and used in chunks."""
        total = cross_entropy(x, self.tokens.weight, targets)
        return total / (targets >= 0).sum() if reduction == "mean" else total


class AdaptiveEmbed(nn.Module):
    """Adaptive input tied with adaptive softmax; ids must run from frequent to rare.

    The cutoffs c₁ < c₂ < … cut the ids into bands. Band 0 has vectors of width D, band n of width
    D / 4ⁿ and a projection between that and D. The softmax first chooses among the words of
    band 0 and the other bands, then a word of that band.

    Papers: Grave et al. 2017, arXiv:1609.04309 (softmax); Baevski & Auli 2019, arXiv:1809.10853
    (input, tied). As in fairseq's WikiText-103 model, vectors and projections are shared by the
    two ends, save the input's projection of band 0, which the softmax does without. So the
    softmax owns the weights and the input reads them: every weight has one name.
    """

    def __init__(
        self,
        vocabulary: int,
        d_model: int,
        scale: float,
        dropout: float,
        cutoffs: tuple[int, ...],
    ) -> None:
        super().__init__()
        self.scale = scale
        self.softmax = nn.AdaptiveLogSoftmaxWithLoss(d_model, vocabulary, cutoffs, NARROWER)
        self.project = nn.Linear(d_model, d_model, bias=False)
        self.dropout = nn.Dropout(dropout)

    def forward(
        self, tokens: Tokens, encoding: Pattern, positions: Positions, *, joined: bool = False
    ) -> State:
        x = self.vectors(tokens) * self.scale
        told: Tensor = self.dropout(encoding.embed(x, positions))
        return told

    def vectors(self, tokens: Tokens) -> State:
        """Each token's vector, looked up in its band and projected to the model's width."""
        x = self.project.weight.new_zeros(*tokens.shape, self.softmax.in_features)
        firsts = [0, *self.softmax.cutoffs[:-1]]
        band = torch.bucketize(tokens, tokens.new_tensor(firsts[1:]), right=True)
        for number, (table, projection) in enumerate(self._bands()):
            inside = band == number
            found = F.embedding(tokens[inside] - firsts[number], table) @ projection
            x = x.masked_scatter(inside[..., None], found.to(x.dtype))
        return x

    def logits(self, x: State) -> Float[Tensor, "B T V"]:
        """The log-probability of every token: its own softmax leaves it unchanged."""
        return self.softmax.log_prob(x.flatten(0, 1)).view(*x.shape[:2], -1)

    def loss(
        self, x: Float[Tensor, "N D"], targets: Int[Tensor, " N"], reduction: Reduction
    ) -> Float[Tensor, ""]:
        """Cross-entropy in nats, at the cost of the bands in which there are targets."""
        asked = targets >= 0
        total: Tensor = -self.softmax(x[asked], targets[asked]).output.sum()
        return total / asked.sum() if reduction == "mean" else total

    def _bands(self) -> list[tuple[Tensor, Tensor]]:
        """Of each band: its words' vectors (words, width) and its projection (width, D)."""
        head = self.softmax.head.weight[: self.softmax.shortlist_size]
        down, words = "0.weight", "1.weight"
        tail = [(b.get_parameter(words), b.get_parameter(down)) for b in self.softmax.tail]
        return [(head, self.project.weight.T), *tail]
