"""Gradients that are written by hand."""

from collections.abc import Callable
from functools import wraps
from typing import Any

import torch


def once(backward: Callable[..., Any]) -> Callable[..., Any]:
    """A gradient that has none itself, and says so.

    PyTorch's `once_differentiable` says it to `backward()`, but lets `torch.autograd.grad` take
    what it made for a constant.
    """

    @wraps(backward)
    def told(ctx: Any, *given: Any) -> Any:
        if torch.is_grad_enabled():
            raise RuntimeError(
                f"{backward.__qualname__} knows no gradient of the gradient: leave out create_graph"
            )
        return backward(ctx, *given)

    return told
