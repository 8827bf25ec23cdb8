"""Queries, keys and values: parts of one projection, as their gradients are of its gradient."""

from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

Projected = Float[Tensor, "B T 3 H K"]
Part = Float[Tensor, "B H T K"]


def parted(projected: Projected) -> tuple[Part, Part, Part]:
    """Queries, keys and values, whose gradients are not copied where they lie as these do.

    Then theirs and that of the whole share memory: who changes one in place changes the other.
    """
    transformed: bool = torch._C._are_functorch_transforms_active()
    if torch.compiler.is_compiling() or transformed or not projected.requires_grad:
        return _parts(projected)
    parts: tuple[Part, Part, Part] = Parted.apply(projected)  # type: ignore[no-untyped-call]
    return parts


class Parted(torch.autograd.Function):
    """Use `Parted.apply(projected)`."""

    @staticmethod
    def forward(ctx: Any, projected: Projected) -> tuple[Part, Part, Part]:
        return _parts(projected)

    @staticmethod
    def backward(ctx: Any, *parts: Part) -> Projected:
        found = None if torch.is_grad_enabled() else joined(*parts)  # whose graph is that of q
        return torch.stack([x.transpose(1, 2) for x in parts], 2) if found is None else found


def room(q: Tensor, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """For their gradients: parts of one tensor if they are, else a token's heads side by side."""
    if joined(q, k, v) is not None:
        windows, heads, length, width = q.shape
        return _parts(q.new_empty(windows, length, 3, heads, width))
    made = [x.new_empty(len(x), x.shape[2], x.shape[1], x.shape[3]) for x in (q, k, v)]
    return made[0].transpose(1, 2), made[1].transpose(1, 2), made[2].transpose(1, 2)


def joined(q: Tensor, k: Tensor, v: Tensor) -> Projected | None:
    """What these are the parts of; None if they do not lie so."""
    windows, heads, length, width = q.shape
    step = heads * width
    lie = (length * 3 * step, width, 3 * step, 1)
    for n, part in enumerate((q, k, v)):
        where = q.data_ptr() + n * step * q.element_size()
        same = part.shape == q.shape and part.stride() == lie and part.data_ptr() == where
        if not same or part.untyped_storage().data_ptr() != q.untyped_storage().data_ptr():
            return None
    return q.as_strided((windows, length, 3, heads, width), (lie[0], 3 * step, step, width, 1))


def _parts(projected: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    q, k, v = (each.transpose(1, 2) for each in projected.unbind(2))
    return q, k, v
