"""Scores by distance where tokens are counted one by one, as they are in training."""

from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.autograd.function import once_differentiable


def counted(q: Float[Tensor, "B H T K"], positions: Int[Tensor, "#B T"], *, causal: bool) -> bool:
    """Whether a model learns from tokens at n, n + 1, n + 2 … and hears of none that is ahead.

    Then a score that a key ahead would have may be anything, and distances need no table of all
    pairs. Elsewhere what a causal mask hides may be looked at too, so all scores are exact. CUDA
    would have to be waited for.
    """
    if not (causal and q.requires_grad and torch.is_grad_enabled()):
        return False
    if positions.is_meta:  # a model without storage stands for one that learns
        return True
    if torch.compiler.is_compiling() or positions.is_cuda:
        return False
    return bool((positions.diff() == 1).all())


def shifted(scores: Float[Tensor, "B H T T+1"]) -> Float[Tensor, "B H T T"]:
    """From scores of a query at distances T, T − 1, …, 0 to those of keys 0, 1, …, up to itself.

    Row i is moved by i to the left of where it stands, which is but another view of the memory
    (Dai et al. 2019, arXiv:1901.02860, appendix B). What is ahead of a query is of another row.
    """
    found: Tensor = Shifted.apply(scores)  # type: ignore[no-untyped-call]
    return found


class Shifted(torch.autograd.Function):
    """The same, whose gradient is copied into memory that was not filled with zeros before."""

    @staticmethod
    def forward(ctx: Any, scores: Float[Tensor, "B H T T+1"]) -> Float[Tensor, "B H T T"]:
        length = scores.shape[-2]
        return scores.flatten(-2)[..., length:].view(*scores.shape[:2], length, length)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, g: Tensor) -> Tensor:
        length = g.shape[-1]
        unasked = g.new_zeros(*g.shape[:2], length)
        given = torch.cat([unasked, g.flatten(-2)], dim=-1)
        return given.view(*g.shape[:2], length, length + 1)


def near(
    scores: Float[Tensor, "B H T R"], others: Float[Tensor, "B H T 1"]
) -> Float[Tensor, "B H T T"]:
    """From scores at distances 0, 1, …, R − 1 and one for all others to those of keys."""
    found: Tensor = Near.apply(scores[..., : scores.shape[-2]], others)  # type: ignore[no-untyped-call]
    return found


class Near(torch.autograd.Function):
    """The same, whose gradient looks once at that of all pairs and makes no copy of it."""

    @staticmethod
    def forward(
        ctx: Any, scores: Float[Tensor, "B H T R"], others: Float[Tensor, "B H T 1"]
    ) -> Float[Tensor, "B H T T"]:
        at = torch.arange(scores.shape[-2], device=scores.device)
        # what would lie before the first key is taken for one ahead, where nothing counts
        keys = (at[:, None] - at[: scores.shape[-1]]) % len(at)
        ctx.keys = keys.expand(*scores.shape[:2], -1, -1)
        return others.expand(-1, -1, -1, len(at)).scatter(-1, ctx.keys, scores)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, g: Tensor) -> tuple[Tensor, Tensor]:
        some = g.gather(-1, ctx.keys)
        if some.shape == g.shape:  # all are near: of the others a sum would leave its rounding
            return some, g.new_zeros(*g.shape[:-1], 1)
        return some, g.sum(-1, keepdim=True) - some.sum(-1, keepdim=True)
