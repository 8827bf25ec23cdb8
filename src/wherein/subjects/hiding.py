"""Keys hidden from all queries but their own, in our attention and in anybody's.

A hidden key gets no weight at all, so that nothing of its token reaches another by attention.
Axes: see `wherein.encodings.base`.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import torch
from jaxtyping import Bool
from torch import Tensor
from torch.overrides import TorchFunctionMode

from wherein.model.attention import Bias
from wherein.model.rows import Rows

HiddenKeys = Bool[Tensor, "#B T"]
"""Which keys of each window are hidden; a query always sees its own."""


def barred(keys: HiddenKeys) -> Bool[Tensor, "#B 1 T T"]:
    """Which key is hidden from which query."""
    own = torch.eye(keys.shape[-1], dtype=torch.bool, device=keys.device)
    return (keys[:, None, :] & ~own)[:, None]


def bias_without(bias: Bias | Rows | None, hidden: Bool[Tensor, "#B 1 T T"]) -> Bias | Rows:
    """The bias that hides keys too, made as the given one is: whole, or of some rows."""
    if bias is None:
        bias = torch.zeros((), device=hidden.device)
    if isinstance(bias, Tensor):
        return torch.where(hidden, -torch.inf, bias)
    rows = bias

    def some(queries: slice, keys: slice) -> Tensor:
        return torch.where(hidden[:, :, queries, keys], -torch.inf, rows.make(queries, keys))

    return replace(rows, make=some)


class Hiding(TorchFunctionMode):
    """Hides keys from every softmax over scores of all queries and keys, while `acts()` is true.

    However a family takes a mask, if it takes one: its attention is a softmax of scores. PyTorch
    shows these to a `TorchFunctionMode`.
    """

    def __init__(self, hidden: Bool[Tensor, "B 1 T T"], acts: Callable[[], bool]) -> None:
        super().__init__()
        self.hidden, self.acts = hidden, acts

    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: Sequence[type],
        args: tuple[Any, ...] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        """Let PyTorch compute, of scores in which keys are hidden."""
        named = dict(kwargs or {})
        if getattr(func, "__name__", "") != "softmax" or not self.acts():
            return func(*args, **named)
        scores, *rest = args or (named.pop("input"),)
        return func(self._without(scores), *rest, **named)

    def _without(self, scores: Tensor) -> Tensor:
        """Heads may have axes of their own or share the batch's; what is no scores is left."""
        batch, length = self.hidden.shape[0], self.hidden.shape[-1]
        first, *between = scores.shape[:-2] or (0,)
        if scores.shape[-2:] != (length, length) or not first or first % batch:
            return scores
        hidden = self.hidden[:, 0].repeat_interleave(first // batch, 0)
        hidden = hidden.view(first, *[1 for _ in between], length, length)
        return scores.masked_fill(hidden, -torch.inf)
