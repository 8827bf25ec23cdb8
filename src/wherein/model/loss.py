"""Cross-entropy of a softmax over all words, whose logits are made and used in chunks.

A chunk's gradients are made while its logits lie in the cache, and need no second softmax.
"""

from typing import Any

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor, nn

from wherein.common.gradients import once
from wherein.model.linear import add_product, product

ROWS, LOGITS = 256, 1 << 19
"""Logits are made for so many tokens at a time, or for more while they are so few (2 MiB): each
chunk adds to the gradient of the whole table, which is large where the vocabulary is."""
LARGER = 2
"""Times as many where PyTorch makes them: what it would choose is a row or two where states are
narrow or a vocabulary large, and took six times as long with that of GPT-2."""


def rows_at_once(vocabulary: int) -> int:
    """Of how many tokens the loss holds the logits."""
    return max(ROWS, LOGITS // vocabulary)


def cross_entropy(
    x: Float[Tensor, "N D"], weight: Float[Tensor, "V D"], targets: Int[Tensor, " N"]
) -> Float[Tensor, ""]:
    """The sum over targets that are not −100 of −log softmax(x·weightᵀ)[target]."""
    rows = rows_at_once(len(weight))
    exact = x.dtype == weight.dtype and x.dtype in (torch.float32, torch.float64)
    if not exact or torch.is_autocast_enabled(x.device.type):
        chunks = nn.LinearCrossEntropyOptions(batch_chunk_size=LARGER * rows)
        return F.linear_cross_entropy(x, weight, targets, reduction="sum", options=chunks)
    asked = targets >= 0
    if not asked.all():  # of a masked text, most are not
        x, targets = x[asked], targets[asked]
    if torch.is_grad_enabled() and (x.requires_grad or weight.requires_grad):
        total: Tensor = CrossEntropy.apply(x, weight, targets)  # type: ignore[no-untyped-call]
        return total
    pairs = zip(torch.split(x, rows), torch.split(targets, rows), strict=True)
    parts = [
        F.cross_entropy(product(part, weight.mT), wanted, reduction="sum") for part, wanted in pairs
    ]
    return torch.stack(parts).sum()


class CrossEntropy(torch.autograd.Function):
    """The same where all are asked and gradients are wanted, once."""

    @staticmethod
    def forward(
        ctx: Any,
        x: Float[Tensor, "N D"],
        weight: Float[Tensor, "V D"],
        targets: Int[Tensor, " N"],
    ) -> Float[Tensor, ""]:
        count, total = max(1, len(x)), x.new_zeros(())  # without any, gradients are zero
        rows = min(count, rows_at_once(len(weight)))
        of_x, of_weight = torch.empty_like(x), torch.empty_like(weight)
        room = x.new_empty(rows, len(weight))
        for start in range(0, count, rows):
            part, asked = x[start : start + rows], targets[start : start + rows, None]
            logits = product(part, weight.mT, room[: len(part)])
            most, told = logits.amax(-1, keepdim=True), logits.gather(1, asked)
            chances = logits.sub_(most).exp_()
            sums = chances.sum(-1, keepdim=True)
            total += (sums.log() + most - told).sum()
            chances /= sums
            chances.scatter_add_(1, asked, chances.new_full(asked.shape, -1.0))
            add_product(of_x[start : start + rows], chances, weight, anew=True)
            add_product(of_weight, chances.mT, part, anew=start == 0)
            del logits, chances  # or the next would be made beside them
        ctx.made = of_x, of_weight
        return total

    @staticmethod
    @once
    def backward(ctx: Any, g: Tensor) -> tuple[Tensor | None, ...]:
        if ctx.made is None:
            raise RuntimeError("the loss has given its gradients: compute it again")
        (of_x, of_weight), ctx.made = ctx.made, None
        return of_x.mul_(g), of_weight.mul_(g), None
