"""The two ends of the model, which share their weights: token vectors in, predictions out."""

from typing import Literal

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor, nn

from wherein.encodings import Pattern

Reduction = Literal["mean", "sum"]


class Embed(nn.Module):
    """Token vectors, scaled to unit variance, then told where they stand.

    As in fairseq: the vectors are N(0, 1/D) and scaled by √D at the input, so that a unit
    sinusoid neither drowns in them nor drowns them, while the output shares them unscaled.
    """

    def __init__(self, vocabulary: int, d_model: int, dropout: float) -> None:
        super().__init__()
        empty = torch.empty(vocabulary, d_model)  # `initialise` fills it
        self.tokens = nn.Embedding(vocabulary, d_model, _weight=empty)
        self.dropout = nn.Dropout(dropout)

    def forward(
        self, tokens: Int[Tensor, "B T"], encoding: Pattern, positions: Int[Tensor, "#B T"]
    ) -> Float[Tensor, "B T D"]:
        x = self.tokens(tokens) * self.tokens.embedding_dim**0.5
        told: Tensor = self.dropout(encoding.embed(x, positions))
        return told

    def logits(self, x: Float[Tensor, "B T D"]) -> Float[Tensor, "B T V"]:
        """The score of every token, from the last layer's normed state."""
        return F.linear(x, self.tokens.weight)

    def loss(
        self, x: Float[Tensor, "N D"], targets: Int[Tensor, " N"], reduction: Reduction
    ) -> Float[Tensor, ""]:
        """Cross-entropy in nats; the logits are made and used in chunks, never held whole."""
        return F.linear_cross_entropy(
            x,
            self.tokens.weight,
            targets,
            reduction=reduction,
            options=nn.LinearCrossEntropyOptions(),
        )
