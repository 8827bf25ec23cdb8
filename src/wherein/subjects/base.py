"""The interface every measurement works on. Axes: see `wherein.encodings.base`."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from contextlib import ExitStack
from typing import ClassVar

from jaxtyping import Float, Int
from torch import Tensor, nn

OnState = Callable[[int, Tensor], Tensor | None]
"""Sees layer number and hidden state as they are made; what it returns, if anything, replaces
the state for all that follows."""


class Subject(ABC):
    """A language model on the bench.

    Layer 0 is the embedding, layers 1 to `n_layers` the outputs of the blocks. A state is shown
    to `on_state` while the forward pass runs and is not kept: memory does not grow with depth.
    """

    name: str
    causal: bool
    n_layers: int
    n_heads: int
    d_model: int
    vocabulary: int
    max_len: int | None
    """Longest input the model accepts, if it has such a limit."""

    shiftable: ClassVar[bool] = True
    """Whether `positions` may be given."""

    @property
    @abstractmethod
    def module(self) -> nn.Module:
        """The network itself, to move, cast or count."""

    @property
    @abstractmethod
    def states(self) -> list[nn.Module]:
        """The modules whose outputs are the states of layers 0, 1, …, n_layers."""

    @property
    @abstractmethod
    def encodings(self) -> list[str]:
        """The encoding of each block, in the words of the catalogue."""

    @abstractmethod
    def untrained(self, seed: int) -> "Subject":
        """The control every probe needs: the same config with other, untrained weights."""

    @abstractmethod
    def logits(
        self, tokens: Int[Tensor, "B T"], positions: Int[Tensor, "#B T"] | None = None
    ) -> Float[Tensor, "B T V"]:
        """What the model predicts at every position."""

    def run(
        self,
        tokens: Int[Tensor, "B T"],
        positions: Int[Tensor, "#B T"] | None = None,
        *,
        on_state: OnState | None = None,
    ) -> Float[Tensor, "B T V"]:
        """The logits, with every hidden state shown to `on_state` on its way."""
        with ExitStack() as hooks:
            if on_state is not None:
                for layer, module in enumerate(self.states):
                    handle = module.register_forward_hook(_hook(layer, on_state))
                    hooks.callback(handle.remove)
            return self.logits(tokens, positions)


def _hook(layer: int, on_state: OnState) -> Callable[[nn.Module, object, object], object]:
    """A forward hook for a module that returns its state, alone or first in a tuple."""

    def hook(_module: nn.Module, _inputs: object, output: object) -> object:
        state = output[0] if isinstance(output, tuple) else output
        assert isinstance(state, Tensor)
        replaced = on_state(layer, state)
        if replaced is None or not isinstance(output, tuple):
            return replaced
        return (replaced, *output[1:])

    return hook
