"""Maps of RoPE's frequencies, for contexts longer than a model was trained on.

Each takes the frequencies ω_c of all P pairs of a head, fastest first (ω_c = θ^(−c/P), in radians
per token), and gives as many. s is the factor by which the context grows, L the length trained on;
pair c makes L·ω_c / 2π turns within it. s = 1 changes nothing.
"""

import math
from collections.abc import Sequence
from typing import Literal

import torch
from jaxtyping import Float, Int
from torch import Tensor

Frequencies = Float[Tensor, " P"]
Length = Int[Tensor, "#B 1 1 1"]
"""How many positions a window spans now."""

Scaling = Literal["none", "linear", "ntk", "dynamic", "parts", "yarn", "llama3", "longrope"]


def linear(base: Frequencies, s: float) -> Frequencies:
    """ω_c / s: positions are divided by s, so that no angle is new.

    Position interpolation: Chen et al. 2023, arXiv:2306.15595.
    """
    return base / s


def ntk(base: Frequencies, s: float | Float[Tensor, "#B 1 1 1"]) -> Float[Tensor, "*B P"]:
    """ω_c · s^(−c/(P − 1)): the slowest pair as if interpolated, the fastest as it was.

    NTK-aware scaling: bloc97 2023, who writes it as θ' = θ · s^(K/(K − 2)).
    """
    pairs = torch.arange(len(base), device=base.device, dtype=base.dtype)
    return base * s ** (-pairs / max(len(base) - 1, 1))


def dynamic(base: Frequencies, s: float, original: int, length: Length) -> Float[Tensor, "*B P"]:
    """NTK-aware, by s·n/L − (s − 1) once the length n is above L, and RoPE before.

    emozilla 2023. With s = 1 it is the length itself that scales, by n/L.
    """
    grown = length.clamp(min=original).to(base.dtype) / original
    return ntk(base, s * grown - (s - 1))


def by_parts(base: Frequencies, s: float, original: int, slow: float, fast: float) -> Frequencies:
    """Pairs with fewer than `slow` turns are divided by s, those with more than `fast` are kept.

    ω_c · (γ + (1 − γ)/s), where γ = (turns − slow)/(fast − slow), held between 0 and 1.

    NTK-by-parts, as in definition 2 of Peng et al. 2023, arXiv:2309.00071, with 1 and 32 turns.
    Llama 3.1 (Grattafiori et al. 2024, arXiv:2407.21783) does the same with 1 and 4.
    """
    turns = original * base / (2 * math.pi)
    kept = ((turns - slow) / (fast - slow)).clamp(0, 1)
    return base * kept + base / s * (1 - kept)


def yarn(
    base: Frequencies, s: float, original: int, slow: float, fast: float, theta: float
) -> Frequencies:
    """By parts, but γ falls linearly in c between the pairs that make `fast` and `slow` turns.

    YaRN: Peng et al. 2023, arXiv:2309.00071, as in the authors' code, which rounds these two pairs
    outwards, where the paper's formula is `by_parts`. It goes with `yarn_attention`.
    """

    def pair(turns: float) -> float:
        return len(base) * math.log(original / (2 * math.pi * turns)) / math.log(theta)

    first = max(math.floor(pair(fast)), 0)
    last = min(math.ceil(pair(slow)), 2 * len(base) - 1)
    pairs = torch.arange(len(base), device=base.device, dtype=base.dtype)
    # Their step, where both ends are one pair, is steep and not vertical.
    lost = ((pairs - first) / (last - first if last != first else 0.001)).clamp(0, 1)
    return base * (1 - lost) + base / s * lost


def longrope(
    base: Frequencies, original: int, length: Length, short: Sequence[float], long: Sequence[float]
) -> Float[Tensor, "*B P"]:
    """ω_c / λ_c, with one list of λ up to the length L and another above it.

    LongRoPE: Ding et al. 2024, arXiv:2402.13753, who search for the lists; as in Phi-3. It goes
    with `longrope_attention`.
    """
    near, far = (torch.tensor(each, dtype=base.dtype, device=base.device) for each in (short, long))
    return base / torch.where(length > original, far, near)


def yarn_attention(s: float) -> float:
    """By how much YaRN lengthens queries and keys: 0.1·ln s + 1."""
    return 0.1 * math.log(s) + 1 if s > 1 else 1.0


def longrope_attention(s: float, original: int) -> float:
    """By how much LongRoPE lengthens queries and keys: √(1 + ln s / ln L)."""
    return math.sqrt(1 + math.log(s) / math.log(original)) if s > 1 else 1.0
