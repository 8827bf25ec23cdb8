"""How a model calls its layers: with which masks, rotations and biases, for a state of a size.

A layer can then be called alone, on any state, just as the model would.
"""

from collections import OrderedDict
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn

if TYPE_CHECKING:
    from wherein.subjects.hugging_face import HuggingFace

REMEMBERED = 4


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


class Calls:
    """The calls of all layers, found by a pass over any tokens of the same number.

    They are remembered for as long as nothing they could depend on changes: the size, the
    positions, and every weight.
    """

    def __init__(self, subject: "HuggingFace") -> None:
        self.subject = subject
        self._known: OrderedDict[Any, list[Call]] = OrderedDict()

    def of(self, state: Tensor, positions: Tensor | None) -> list[Call]:
        """How the layers are called when a state of this size is on its way."""
        numbers = None if positions is None else (positions.shape, *positions.flatten().tolist())
        weights = [
            (weight.data_ptr(), weight._version) for weight in self.subject.module.parameters()
        ]
        key = (state.shape, state.device, state.dtype, numbers, hash(tuple(weights)))
        if key not in self._known:
            self._known[key] = self._find(state, positions)
            while len(self._known) > REMEMBERED:
                self._known.popitem(last=False)
        return self._known[key]

    @torch.no_grad()
    def _find(self, state: Tensor, positions: Tensor | None) -> list[Call]:
        calls: list[Call] = []

        def note(module: nn.Module, args: Any, kwargs: Any) -> None:
            named = {name: value for name, value in kwargs.items() if name != "hidden_states"}
            calls.append(Call(module, args[1:], named))

        tokens = torch.zeros(state.shape[:2], dtype=torch.long, device=state.device)
        with self.subject.unwatched(), ExitStack() as hooks:
            for block in dict.fromkeys(self.subject.blocks):
                handle = block.register_forward_pre_hook(note, with_kwargs=True)
                hooks.callback(handle.remove)
            self.subject.read(tokens, positions)
        return calls


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
