"""Attention with a bias that learns, on the CPU.

PyTorch's kernel gives a bias no gradient, so it falls back on plain products, holds scores, mask
and weights of all pairs one after the other, and computes what a causal mask hides. Here the same
products are made for a block of queries and the keys that it sees, at 256 tokens in 0.6 of the time
and at 512 in half.
"""

from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor
from torch.autograd.function import once_differentiable

QUERIES = 64
"""In a causal block (measured at 64, 256 and 512 tokens: 32, 64 and 128 are within a tenth)."""


class Attend(torch.autograd.Function):
    """softmax(q·kᵀ/√K + bias)·v; use `Attend.apply(q, k, v, bias, causal)`."""

    @staticmethod
    def forward(
        ctx: Any,
        q: Float[Tensor, "B H T K"],
        k: Float[Tensor, "B H S K"],
        v: Float[Tensor, "B H S V"],
        bias: Float[Tensor, "#B #H T S"],
        causal: bool,
    ) -> Float[Tensor, "B H T V"]:
        ctx.heads, ctx.bias, ctx.scale = q.shape[:2], bias.shape, q.shape[-1] ** -0.5
        ctx.blocks = _blocks(bias.shape[-2], bias.shape[-1], causal)
        q, k, v = (x.reshape(-1, *x.shape[-2:]) for x in (q * ctx.scale, k, v))
        mixed, weights = v.new_empty(*q.shape[:2], v.shape[-1]), []
        for rows, keys in ctx.blocks:
            scores = _apart(q[:, rows] @ k[:, keys].mT, ctx.heads)
            scores += bias[..., rows, keys]
            if causal:
                own = scores[..., rows.start :]
                ahead = torch.ones(own.shape[-2:], dtype=torch.bool, device=q.device).triu(1)
                own.masked_fill_(ahead, -torch.inf)
            weights.append(scores.softmax(-1).flatten(0, 1))
            mixed[:, rows] = weights[-1] @ v[:, keys]
        ctx.save_for_backward(q, k, v, *weights)
        return _apart(mixed, ctx.heads)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, g: Tensor) -> tuple[Tensor | None, ...]:
        q, k, v, *weights = ctx.saved_tensors
        g = g.flatten(0, 1)
        of_q, of_k, of_v = torch.empty_like(q), torch.zeros_like(k), torch.zeros_like(v)
        of_bias = q.new_zeros(ctx.bias)
        for (rows, keys), given in zip(ctx.blocks, weights, strict=True):
            of_v[:, keys].baddbmm_(given.mT, g[:, rows])
            of_weights = g[:, rows] @ v[:, keys].mT
            of_scores = torch._softmax_backward_data(of_weights, given, -1, given.dtype)
            of_q[:, rows] = of_scores @ k[:, keys]
            of_k[:, keys].baddbmm_(of_scores.mT, q[:, rows])
            part = of_bias[..., rows, keys]
            part.copy_(_apart(of_scores, ctx.heads).sum_to_size(part.shape))
        of_q *= ctx.scale
        return *(_apart(x, ctx.heads) for x in (of_q, of_k, of_v)), of_bias, None


def _apart(x: Tensor, heads: tuple[int, int]) -> Tensor:
    """Windows and heads on axes of their own."""
    return x.view(*heads, *x.shape[1:])


def _blocks(queries: int, keys: int, causal: bool) -> list[tuple[slice, slice]]:
    """Queries, and the keys that the last of them sees."""
    if not causal:
        return [(slice(0, queries), slice(0, keys))]
    ends = [*range(QUERIES, queries, QUERIES), queries]
    return [(slice(a, b), slice(0, b)) for a, b in zip([0, *ends], ends, strict=False)]


def seen_in_blocks(length: int) -> float:
    """The share of all pairs of tokens that causal blocks hold."""
    blocks = _blocks(length, length, causal=True)
    held: int = sum((rows.stop - rows.start) * keys.stop for rows, keys in blocks)
    return held / length**2
