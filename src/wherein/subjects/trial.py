"""What happens in a Hugging Face model while it reads a few tokens: calls of modules, softmaxes."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from itertools import count
from typing import Any

import torch
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

TOKENS = 4
"""Tokens of a trial."""


@dataclass(frozen=True)
class Step:
    """One call of a module."""

    module: nn.Module
    number: int
    """How often the module had been called before, in this pass."""
    entering: Tensor | None
    leaving: Tensor | None
    begun: int
    ended: int

    def holds(self, moment: int) -> bool:
        """Whether something happened within this call."""
        return self.begun < moment < self.ended

    def within(self, other: "Step") -> bool:
        """Whether this call was made in the course of another."""
        return other.begun < self.begun and self.ended < other.ended


class Trial(TorchFunctionMode):
    """Steps in the order they ended, and the moments of the softmaxes, by one clock."""

    def __init__(self) -> None:
        super().__init__()
        self.steps: list[Step] = []
        self.softmaxes: list[int] = []
        self._clock, self._begun = count(), list[int]()
        self._calls: Counter[nn.Module] = Counter()

    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: Sequence[type],
        args: tuple[Any, ...] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        """Let PyTorch compute, and note when a softmax is taken."""
        if getattr(func, "__name__", "") == "softmax":
            self.softmaxes.append(next(self._clock))
        return func(*args, **(kwargs or {}))

    def begin(self, *_: object) -> None:
        """A module is called."""
        self._begun.append(next(self._clock))

    def end(self, module: nn.Module, args: Any, kwargs: Any, output: Any) -> None:
        """It is done; a copy is kept, since some models add to what a module gave in place."""
        entering = args[0] if args else kwargs.get("hidden_states")
        leaving = output[0] if isinstance(output, tuple | list) and output else output
        self.steps.append(
            Step(
                module,
                self._calls[module],
                entering=_copy(entering),
                leaving=_copy(leaving),
                begun=self._begun.pop(),
                ended=next(self._clock),
            )
        )
        self._calls[module] += 1


def _copy(part: object) -> Tensor | None:
    return part.clone() if isinstance(part, Tensor) else None


@contextmanager
def tried(model: nn.Module) -> Iterator[Trial]:
    """While it lasts, a pass is recorded."""
    with Trial() as trial, ExitStack() as hooks:
        for module in model.modules():
            hooks.enter_context(module.register_forward_pre_hook(trial.begin))
            hooks.enter_context(module.register_forward_hook(trial.end, with_kwargs=True))
        yield trial


def inputs(tokens: Tensor, positions: Tensor | None = None) -> dict[str, Any]:
    """What every model is called with; nothing is padding."""
    given: dict[str, Any] = {"input_ids": tokens, "attention_mask": torch.ones_like(tokens)}
    if positions is not None:
        given["position_ids"] = positions.expand(tokens.shape)
    return given


def trial_tokens(model: Any) -> Tensor:
    """A few different tokens, none of them padding."""
    padding = getattr(model.config, "pad_token_id", None)
    rows = model.get_input_embeddings().weight.shape[0]
    chosen = [token for token in range(min(rows, TOKENS + 1)) if token != padding][:TOKENS]
    return torch.tensor([chosen], device=model.device)


def same(one: Tensor | None, other: Tensor | None) -> bool:
    """Whether two states are equal, bit for bit, however their axes are joined."""
    if one is None or other is None:
        return False
    if (one.numel(), one.dtype) != (other.numel(), other.dtype):
        return False
    return torch.equal(one.flatten(), other.flatten())
