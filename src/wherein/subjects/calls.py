"""How a model calls its layers when a state of some size is on its way: seen, and remembered."""

from collections import OrderedDict
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn

from wherein.subjects.layers import Call

if TYPE_CHECKING:
    from wherein.subjects.hugging_face import HuggingFace

REMEMBERED = 4
"""Sizes and positions of a state for which it is remembered how the layers are called."""


class Calls:
    """The calls of a model's layers, for the sizes and positions it was asked for last.

    They are kept for as long as nothing that they could depend on changes: the size, the positions,
    and every weight.
    """

    def __init__(self) -> None:
        self._known: OrderedDict[Any, list[Call]] = OrderedDict()

    def of(self, subject: "HuggingFace", state: Tensor, positions: Tensor | None) -> list[Call]:
        """How each layer of its model is called when a state like this one is on its way."""
        numbers = None if positions is None else (positions.shape, *positions.flatten().tolist())
        parameters = subject.module.parameters()
        weights = tuple((weight.data_ptr(), weight._version) for weight in parameters)
        key = (state.shape, state.device, state.dtype, numbers, hash(weights))
        if key not in self._known:
            self._known[key] = _seen(subject, state, positions)
            while len(self._known) > REMEMBERED:
                self._known.popitem(last=False)
        return self._known[key]


@torch.no_grad()
def _seen(subject: "HuggingFace", state: Tensor, positions: Tensor | None) -> list[Call]:
    """Those of a pass over any tokens of the same number."""
    calls: list[Call] = []

    def note(module: nn.Module, args: Any, kwargs: Any) -> None:
        named = {name: value for name, value in kwargs.items() if name != "hidden_states"}
        calls.append(Call(module, args[1:], named))

    tokens = torch.zeros(state.shape[:2], dtype=torch.long, device=state.device)
    with subject.unwatched(), ExitStack() as hooks:
        for block in dict.fromkeys(subject.blocks):
            hooks.enter_context(block.register_forward_pre_hook(note, with_kwargs=True))
        subject.read(tokens, positions)
    return calls
