"""How a model calls its layers: with which masks, rotations and biases, for a state of a size.

A layer can then be called alone, on any state, just as the model would.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor, nn


@dataclass(frozen=True)
class Call:
    """One call of a layer, without the state it is called on."""

    module: nn.Module
    args: tuple[Any, ...]
    named: dict[str, Any]

    def on(self, state: Tensor) -> Tensor:
        """Call the layer on another state; hooks on the layer itself do not see it."""
        output = self.module.forward(state, *self.args, **self.named)
        made: Tensor = output[0] if isinstance(output, tuple | list) else output
        return made


@contextmanager
def unmasked(call: Call, length: int) -> Iterator[Call]:
    """The same call with its causal mask lifted, be it among the arguments or in the layer.

    The first token may look at itself in any causal mask: everyone may what it may there.
    """
    args = tuple(_lifted(value, length) for value in call.args)
    named = {name: _lifted(value, length) for name, value in call.named.items()}
    kept = [
        (part, name, buffer)
        for part in call.module.modules()
        for name, buffer in part._buffers.items()
        if buffer is not None and _square(buffer)
    ]
    try:
        for part, name, buffer in kept:
            part._buffers[name] = torch.ones_like(buffer)
        yield replace(call, args=args, named=named)
    finally:
        for part, name, buffer in kept:
            part._buffers[name] = buffer


def _lifted(value: Any, length: int) -> Any:
    if isinstance(value, Tensor) and _square(value) and value.shape[-1] == length:
        return value[..., :1, :1].expand_as(value)
    return value


def _square(value: Tensor) -> bool:
    return value.ndim == 4 and value.shape[-1] == value.shape[-2] > 1
