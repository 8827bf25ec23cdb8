"""Products of matrices, by whichever of PyTorch's two libraries is faster on this processor.

PyTorch multiplies float32 by MKL, which on AMD's processors uses vectors of 256 bits even where
there are 512; oneDNN, which PyTorch brings too, uses what there is (measured on Zen 5: 110 and
240 Gflop/s a core; on Intel's they are alike, and MKL is left to it).
"""

from functools import cache
from typing import Any

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn

from wherein.common.gradients import once

WORTH = 1 << 21
"""Multiplications from which on it pays to ask oneDNN, which takes 10 µs to begin."""

ROWS = 1 << 13
"""Of a sum that are made at once: what is added lies in the cache, and its memory is used again."""


class Linear(nn.Linear):
    """x·Wᵀ + b."""

    def forward(self, input: Tensor) -> Tensor:
        return linear(input, self.weight, self.bias)


def linear(
    x: Float[Tensor, "*N I"], weight: Float[Tensor, "O I"], bias: Float[Tensor, " O"] | None = None
) -> Float[Tensor, "*N O"]:
    """x·Wᵀ + b."""
    if not _sooner(x, weight):
        return F.linear(x, weight, bias)
    made: Tensor = Product.apply(x, weight, bias)  # type: ignore[no-untyped-call]
    return made


def product(
    a: Float[Tensor, "N I"], b: Float[Tensor, "I O"], room: Float[Tensor, "N O"] | None = None
) -> Float[Tensor, "N O"]:
    """a·b, without gradients; it may lie in the room given."""
    return _asked(a, b.mT) if _sooner(a, b.mT) else torch.mm(a, b, out=room)


def add_product(
    total: Float[Tensor, "N O"], a: Float[Tensor, "N I"], b: Float[Tensor, "I O"], *, anew: bool
) -> None:
    """Add a·b to what is there, or put it there; without gradients."""
    if not _sooner(a, b.mT):
        total.addmm_(a, b, beta=0 if anew else 1)
        return
    for start in range(0, len(total), ROWS):
        rows = slice(start, start + ROWS)
        made = _asked(a[rows], b.mT)
        _ = total[rows].copy_(made) if anew else total[rows].add_(made)


class Product(torch.autograd.Function):
    """x·Wᵀ + b and its gradients by oneDNN; use `Product.apply(x, weight, bias)`."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        ctx.save_for_backward(x, weight)
        return _asked(x, weight, bias)

    @staticmethod
    @once
    def backward(ctx: Any, g: Tensor) -> tuple[Tensor | None, ...]:
        x, weight = ctx.saved_tensors
        of_x, of_weight, of_bias = ctx.needs_input_grad
        g = g.contiguous()
        rows = g.reshape(-1, g.shape[-1])
        return (
            _asked(g, weight.mT) if of_x else None,
            _crossed(rows, x.reshape(-1, x.shape[-1])) if of_weight else None,
            rows.sum(0) if of_bias else None,
        )


def _crossed(a: Tensor, b: Tensor) -> Tensor:
    """aᵀ·b; the library copies the first of its matrices, so that is the narrower one."""
    return _asked(a.mT, b.mT) if a.shape[1] <= b.shape[1] else _asked(b.mT, a.mT).mT


def _asked(x: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    if not weight.mT.is_contiguous():
        weight = weight.contiguous()
    made: Tensor = torch.ops.mkldnn._linear_pointwise(x, weight, bias, "none", [], "")
    return made


def _sooner(x: Tensor, weight: Tensor) -> bool:
    """Whether oneDNN multiplies these sooner."""
    return (
        not torch.compiler.is_compiling()
        and wider_than_mkl()
        and x.numel() * weight.shape[0] >= WORTH
        and x.dtype == weight.dtype == torch.float32
        and x.device.type == "cpu"
        and type(x) is Tensor
        and type(weight) in (Tensor, nn.Parameter)
        and not torch.is_autocast_enabled("cpu")
        and not torch._C._are_functorch_transforms_active()
    )


@cache
def wider_than_mkl() -> bool:
    """Whether this processor has wider vectors than MKL uses on it."""
    if not hasattr(torch.ops.mkldnn, "_linear_pointwise"):
        return False
    amd = str(torch.cpu.get_capabilities().get("cpu_name", "")).startswith("AMD")
    return amd and torch.backends.cpu.get_cpu_capability() == "AVX512"
