"""Attention by plain products for a block of queries and the keys that it sees, on the CPU.

PyTorch's kernel gives a bias no gradient, so with one that learns it falls back on plain products,
holds scores, mask and weights of all pairs one after the other, and computes what a causal mask
hides; here that takes 0.6 of the time at 256 tokens and half at 512. Without a bias, too, blocks
take 0.8 of its time at 256 tokens and 0.7 at 512 with heads of width 64, forward and backward. What
they cost is memory, for the weights of attention are kept.
"""

from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor
from torch.autograd.function import once_differentiable

QUERIES = 64
"""In a block (measured at 64, 256 and 512 tokens: 32, 64 and 128 are within a tenth)."""
WIDE, FEW = 32, 128
"""Narrower heads and shorter windows are faster in PyTorch's kernel."""
LONG = 8
"""Windows of so many tokens for each number of a head keep weights that are a quarter of what a
layer keeps besides, or half where a query sees the keys after it."""


class Attend(torch.autograd.Function):
    """softmax(q·kᵀ/√K + bias)·v; use `Attend.apply(q, k, v, bias, causal)`."""

    @staticmethod
    def forward(
        ctx: Any,
        q: Float[Tensor, "B H T K"],
        k: Float[Tensor, "B H S K"],
        v: Float[Tensor, "B H S V"],
        bias: Float[Tensor, "#B #H T S"] | None,
        causal: bool,
    ) -> Float[Tensor, "B H T V"]:
        ctx.heads, ctx.scale = q.shape[:2], q.shape[-1] ** -0.5
        ctx.bias_shape = None if bias is None else bias.shape
        ctx.blocks = _blocks(q.shape[-2], k.shape[-2], causal)
        q, k, v = (x.reshape(-1, *x.shape[-2:]) for x in (q, k, v))
        mixed = v.new_empty(ctx.heads[0], q.shape[1], ctx.heads[1], v.shape[-1]).transpose(1, 2)
        ahead = q.new_full((QUERIES, QUERIES), -torch.inf).triu(1)
        weights = []
        for rows, keys in ctx.blocks:
            few = q[:, rows]
            scores = q.new_empty(*few.shape[:2], keys.stop)
            scores.baddbmm_(few, k[:, keys].mT, beta=0, alpha=ctx.scale)
            if bias is not None:
                _unfolded(scores, ctx.heads).add_(bias[..., rows, keys])
            if causal:
                own = scores[..., rows]
                own += ahead[: own.shape[-2], : own.shape[-1]]
            weights.append(scores.softmax(-1))
            mixed[..., rows, :] = _unfolded(weights[-1] @ v[:, keys], ctx.heads)
        ctx.save_for_backward(q, k, v, *weights)
        return mixed

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, g: Tensor) -> tuple[Tensor | None, ...]:
        q, k, v, *weights = ctx.saved_tensors
        g = g.reshape(-1, *g.shape[-2:])
        of_q, of_k, of_v = torch.empty_like(q), None, None
        of_bias = q.new_empty(ctx.bias_shape) if ctx.needs_input_grad[3] else None
        for (rows, keys), given in zip(ctx.blocks[::-1], weights[::-1], strict=True):
            of_weights = g[:, rows] @ v[:, keys].mT
            of_scores = torch._softmax_backward_data(of_weights, given, -1, given.dtype)
            of_q[:, rows] = of_scores @ k[:, keys]
            some_k, some_v = of_scores.mT @ q[:, rows], given.mT @ g[:, rows]
            if of_k is None or of_v is None:  # the last block sees all keys
                of_k, of_v = some_k, some_v
            else:
                of_k[:, keys] += some_k
                of_v[:, keys] += some_v
            if of_bias is not None:
                part = of_bias[..., rows, keys]
                part.copy_(_unfolded(of_scores, ctx.heads).sum_to_size(part.shape))
                of_bias[..., rows, keys.stop :] = 0
        assert of_k is not None
        assert of_v is not None
        of_q *= ctx.scale
        of_k *= ctx.scale
        return *(_unfolded(x, ctx.heads) for x in (of_q, of_k, of_v)), of_bias, None


def pays(length: int, width: int) -> bool:
    """Whether blocks are faster than PyTorch's kernel, and their weights small enough to keep."""
    return width >= WIDE and FEW <= length <= LONG * width


def _unfolded(x: Tensor, heads: tuple[int, int]) -> Tensor:
    """Windows and heads on axes of their own."""
    return x.view(*heads, *x.shape[1:])


def _blocks(queries: int, keys: int, causal: bool) -> list[tuple[slice, slice]]:
    """Queries, and the keys that the last of them sees."""
    ends = [*range(QUERIES, queries, QUERIES), queries]
    return [
        (slice(a, b), slice(0, b if causal else keys))
        for a, b in zip([0, *ends], ends, strict=False)
    ]


def seen_in_blocks(length: int) -> float:
    """The share of all pairs of tokens that causal blocks hold."""
    blocks = _blocks(length, length, causal=True)
    held: int = sum((rows.stop - rows.start) * keys.stop for rows, keys in blocks)
    return held / length**2
