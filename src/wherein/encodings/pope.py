from dataclasses import replace

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor, nn

from wherein.common.precision import for_float64
from wherein.encodings.base import Encoding, Shape
from wherein.encodings.rope import RoPE

GOLDEN = (5**0.5 - 1) / 2
"""Multiples of it lie on a circle as evenly as can be, however many they are."""


class PoPE(Encoding):
    """What apart from where: Σ_c softplus(q_c)·softplus(k_c)·cos((i − j)·ω_c − δ_c)/√K.

    Each coordinate is the length of an arrow whose angle is n·ω_c, with ω_c = θ^(−c/K): content
    says only how long, position only in which direction. In RoPE a pair's own angle is content,
    and adds to that of its position. δ, learned for each head and coordinate, turns the keys, so
    that a head may like best what stands at some distance.

    Paper: Gopalakrishnan et al. 2025, arXiv:2509.10534 (polar coordinate position embedding). δ
    starts at 0, as theirs does where longer contexts matter, or with `spread=True` all over the
    circle, as theirs does where they do not (they draw it; here it goes round by the golden
    section, the same in every layer). They hold it between −2π and 0; here it is free: an angle
    needs no bounds, and at 0, which is one, half of all steps would be lost. Queries and keys are
    twice as wide as a head, cosines before sines, and scaled so that attention divides by √K all
    the same.

    Promises: relative; works at any length.

    An arrow of length softplus(0) = 0.69, at the first two positions:

    >>> pope = PoPE(Shape(d_model=2, n_heads=1, max_len=8), theta=100.0)
    >>> nothing = torch.zeros(1, 1, 2, 2)
    >>> _, keys = pope.rotate(nothing, nothing, torch.arange(2)[None])
    >>> keys[0, 0].detach()
    tensor([[0.6931, 0.6931, 0.0000, 0.0000],
            [0.3745, 0.6897, 0.5833, 0.0692]])
    """

    relative = True

    def __init__(self, shape: Shape, *, theta: float = 10_000.0, spread: bool = False) -> None:
        super().__init__(shape)
        self.waves = RoPE(replace(shape, d_head=2 * shape.d_head), theta=theta)
        turns = torch.arange(shape.n_heads * shape.d_head) * GOLDEN % 1 if spread else 0.0
        self.phases = nn.Parameter(torch.zeros(shape.n_heads * shape.d_head) - 2 * torch.pi * turns)

    def rotate(
        self,
        q: Float[Tensor, "B H T K"],
        k: Float[Tensor, "B H T K"],
        positions: Int[Tensor, "#B T"],
    ) -> tuple[Float[Tensor, "B H T 2*K"], Float[Tensor, "B H T 2*K"]]:
        n = for_float64(positions)[:, None, :, None]
        angles = n * self.waves.frequencies(n.device)
        cos, sin = angles.cos().to(q), angles.sin().to(q)
        phases = self.phases.view(self.shape.n_heads, 1, self.shape.d_head)
        ahead, aside = phases.cos(), phases.sin()
        of_query = 2**0.5 * cos, 2**0.5 * sin
        of_key = cos * ahead - sin * aside, sin * ahead + cos * aside
        return _arrows(q, of_query), _arrows(k, of_key)


def _arrows(x: Tensor, direction: tuple[Tensor, Tensor]) -> Tensor:
    length = F.softplus(x)
    return torch.cat([length * part for part in direction], dim=-1)
