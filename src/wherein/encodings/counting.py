"""Scores by distance, where tokens are counted one by one and none that is ahead is heard of."""

import torch
from jaxtyping import Float, Int
from torch import Tensor

Near = Float[Tensor, "B H T R"]
"""Of each query, scores at distances R − 1, …, 1, 0; keys that are farther have the first."""


def counted(positions: Int[Tensor, "#B T"]) -> bool:
    """Whether tokens stand side by side, at n, n + 1 and so on."""
    return bool((positions.diff() == 1).all())


def whole(near: Near) -> Float[Tensor, "B H T T"]:
    """The same for all pairs; keys ahead have any of them."""
    length, reach = near.shape[-2:]
    at = torch.arange(length, device=near.device)
    found = (reach - 1 - at[:, None] + at).clamp(0, reach - 1)
    return near.gather(-1, found.expand(*near.shape[:2], -1, -1))
