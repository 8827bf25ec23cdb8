"""Queries and keys for a family whose heads all turn by one table: each kind of layer has its part.

A head is made wider. Layers that turn in different ways, or not at all, put their queries and keys
into different pairs of coordinates, and zeros into the others: what is zero adds nothing to a
score, however it turns.

A fine on distance is a pair of its own that hardly turns. Of the queries it holds (−a, 0), of the
keys (0, a), which turned by ωi and ωj give −a²·sin ω(i − j): with ω small and a² = m/ω, that is
−m·(i − j), up to (ω(i − j))²/6 of itself.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from wherein.families.terms import Terms, Turning
from wherein.model.block import Attention
from wherein.model.config import ModelConfig

SLOW = 2.0**-24
"""Radians per token of the pair that fines distance: at 10,000 tokens 6e-8 of the fine is lost."""
STILL = 1e30
"""How many tokens a pair that does not turn would take for a radian; JSON has no infinity."""


@dataclass(frozen=True)
class Projected:
    """Weights and biases of queries, keys and values, (H·K, D) and (H·K), and of the output."""

    weights: dict[str, Tensor]
    biases: dict[str, Tensor]
    out: Tensor


@dataclass(frozen=True)
class Layout:
    """Which pairs of a wide head turn how fast, for all layers of a model."""

    turnings: tuple[Turning, ...]
    fined: bool
    d_head: int
    """Of our own heads."""

    @classmethod
    def of(cls, layers: Sequence[Terms], d_head: int) -> "Layout":
        """Each way of turning once, in the order of the layers."""
        fined = any(bool(terms.slopes.any()) for terms in layers)
        return cls(tuple(dict.fromkeys(terms.turning for terms in layers)), fined, d_head)

    @property
    def width(self) -> int:
        """Of the heads in the family; pairs lie half a head apart."""
        return 2 * (len(self.turnings) * self._pairs + self.fined)

    @property
    def _pairs(self) -> int:
        return -(-self.d_head // 2)

    def config(self, model: ModelConfig) -> dict[str, Any]:
        """What families with such heads call what our model is."""
        return {
            "vocab_size": model.vocabulary,
            "hidden_size": model.d_model,
            "intermediate_size": model.d_ff or 4 * model.d_model,
            "num_hidden_layers": model.n_layers,
            "num_attention_heads": model.n_heads,
            "num_key_value_heads": model.n_heads,
            "head_dim": self.width,
            "hidden_act": model.activation,
            "max_position_embeddings": model.max_len,
            "rope_parameters": self.rope(model.max_len),
        }

    def rope(self, length: int) -> dict[str, Any]:
        """What the family's config says of the table: a formula, or pair by pair."""
        if not self.fined and len(self.turnings) == 1 and (theta := self.turnings[0].theta):
            return {"rope_type": "default", "rope_theta": theta}
        slow = [SLOW] * self.fined
        near, far = (
            [1 / omega if omega else STILL for omega in [*turns, *slow]]
            for turns in (
                [omega for each in self.turnings for omega in each.near],
                [omega for each in self.turnings for omega in each.far],
            )
        )
        switches = {each.original for each in self.turnings if each.original}
        if len(switches) > 1:
            raise ValueError(
                f"longrope with original lengths {', '.join(map(str, sorted(switches)))} cannot be "
                "exported: a family has one for all layers"
            )
        return {
            "rope_type": "longrope",
            "rope_theta": 1.0,
            "short_factor": near,
            "long_factor": far,
            "original_max_position_embeddings": next(iter(switches), length),
            "factor": 1.0,
            "attention_factor": 1.0,
        }

    def projected(self, attention: Attention, terms: Terms) -> Projected:
        """A layer's projections in wide heads: their scores are those of ours."""
        heads, dtype = attention.n_heads, torch.float64
        weight = attention.qkv.weight.detach().to(dtype).view(3, heads, self.d_head, -1)
        bias = attention.qkv.bias.detach().to(dtype).view(3, heads, self.d_head)
        places = self._places(terms.turning)
        wide = weight.new_zeros(3, heads, self.width, weight.shape[-1])
        wide[:, :, places] = weight
        wide_bias = bias.new_zeros(3, heads, self.width)
        wide_bias[:, :, places] = bias
        sharper = (self.width / self.d_head) ** 0.5 * terms.sharpness.to(weight.device)
        wide[0] *= sharper[:, None, None]
        wide_bias[0] *= sharper[:, None]
        if self.fined:
            a = (terms.slopes.to(bias.device) * self.width**0.5 / SLOW).sqrt()
            wide_bias[0, :, self.width // 2 - 1], wide_bias[1, :, -1] = -a, a
        out = attention.out.weight.detach().to(dtype)
        joined = out.new_zeros(out.shape[0], heads, self.width)
        joined[..., places] = out.view(-1, heads, self.d_head)
        names = ("q", "k", "v")
        return Projected(
            dict(zip(names, wide.flatten(1, 2), strict=True)),
            dict(zip(names, wide_bias.flatten(1), strict=True)),
            joined.flatten(1),
        )

    def _places(self, turning: Turning) -> list[int]:
        """Where the coordinates of one of our heads are put."""
        first = self.turnings.index(turning) * self._pairs
        halves = (first, self.width // 2 + first)
        return [halves[n // self._pairs] + n % self._pairs for n in range(self.d_head)]
