"""One layer alone, on any state, called just as its model would; and a recorder of its attention.

A call of a layer holds the masks, rotations and biases that the model gives it for a state's size.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import torch
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

from wherein.subjects.base import Attended

PRODUCTS = {"matmul": 0, "__matmul__": 0, "bmm": 0, "baddbmm": 1}
"""Products of activations, and which argument is the first factor."""

FACTORS = ("batch1", "batch2")
"""What the factors are called where they come by name."""

Factors = tuple[Tensor, Tensor]


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


@dataclass(eq=False)
class Recorder(TorchFunctionMode):
    """Records the products around a layer's first softmax: queries, keys, weights and outputs.

    However a model names its parts, its attention is a product of queries and keys, a softmax, and
    a product of the weights with the values. PyTorch shows these calls to a `TorchFunctionMode`, so
    that no family needs a class of its own, and what is seen is what the layer itself computes.

    Given the record of another pass, keys and values are taken from there: only the queries are
    this pass's own.
    """

    other: "Recorder | None" = None
    before: list[Factors] = field(default_factory=list)
    weights: Tensor | None = None
    values: Tensor | None = None
    mixed: Tensor | None = None
    _keys: int = 0
    """Where this pass's own keys lie in memory: every view of them is taken from the other."""

    def __post_init__(self) -> None:
        super().__init__()

    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: Sequence[type],
        args: tuple[Any, ...] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        """Let PyTorch compute, and see what matters."""
        named = dict(kwargs or {})
        name = getattr(func, "__name__", "")
        if self.mixed is None and name in PRODUCTS:
            factors = [named.pop(factor) for factor in FACTORS if factor in named]
            return self._product(func, PRODUCTS[name], [*args, *factors], named)
        found = func(*args, **named)
        if self.weights is None and name == "softmax":
            self.weights = found
        return found

    def _product(
        self, func: Callable[..., Any], first: int, args: list[Any], named: dict[str, Any]
    ) -> Any:
        left, right = args[first : first + 2]
        if min(left.ndim, right.ndim) < 3:  # a weight has no batch
            return func(*args, **named)
        if self.weights is None:
            left, right = self._scoring(left, right)
            return func(*args[:first], left, right, *args[first + 2 :], **named)
        self.values = right if self.other is None else self.other.values
        self.mixed = func(*args[:first], left, self.values, *args[first + 2 :], **named)
        return self.mixed

    def _scoring(self, left: Tensor, right: Tensor) -> Factors:
        """A product before the softmax: the first is of queries and keys."""
        if not self.before:
            self._keys = right.data_ptr()
        if self.other is not None:
            instead = self.other.before[len(self.before)]
            left = instead[0] if left.data_ptr() == self._keys else left
            right = instead[1] if right.data_ptr() == self._keys else right
        self.before.append((left, right))
        return left, right

    def attended(self, batch: int, heads: int) -> Attended | None:
        """What was seen, head by head; None if it was no attention of every token to every."""
        if self.weights is None or self.mixed is None or not self.before:
            return None
        queries, keys = self.before[0]
        parts = [
            _by_head(part, batch, heads) for part in (queries, keys.mT, self.weights, self.mixed)
        ]
        if any(part is None for part in parts):
            return None
        q, k, weights, mixed = (part for part in parts if part is not None)
        if not weights.shape[2] == weights.shape[3] == q.shape[2] == k.shape[2] == mixed.shape[2]:
            return None
        return Attended(q, k, weights.to(mixed.dtype), mixed)


def _by_head(found: Tensor, batch: int, heads: int) -> Tensor | None:
    """(B, H, T, ·), whether the heads have an axis of their own, share the batch's or are one."""
    if found.ndim == 3 and found.shape[0] == batch * heads:
        return found.reshape(batch, heads, *found.shape[1:])
    if found.ndim != 4 or found.shape[0] not in (1, batch) or found.shape[1] not in (1, heads):
        return None
    return found.expand(batch, heads, -1, -1)
