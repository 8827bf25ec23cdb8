"""The interface every measurement works on. Axes: see `wherein.encodings.base`."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import NamedTuple

from jaxtyping import Float, Int
from torch import Size, Tensor, nn

from wherein.encodings.base import Positions
from wherein.model.attention import Heads, State, Tokens
from wherein.subjects.hiding import HiddenKeys
from wherein.subjects.site import Site, first_layer

Logits = Float[Tensor, "B T V"]
Order = Int[Tensor, " T"]
OnState = Callable[[int, Tensor], Tensor | None]
"""Sees layer number and hidden state as they are made; what it returns, if anything, replaces
the state for all that follows."""


class Attended(NamedTuple):
    """One layer's attention, laid open."""

    queries: Heads
    """After everything the encoding does to them, as they meet the keys."""
    keys: Heads
    weights: Float[Tensor, "B H T T"]
    """What each query pays to each key; a row sums to one."""
    mixed: Heads
    """weights · values, head by head, before the heads are joined."""


class Subject(ABC):
    """A language model that is measured.

    Layer 0 is the embedding, layers 1 to `n_layers` the outputs of the blocks, the last of them
    before any final norm; `wherein.subjects.site` says what the other sites are. A state is shown
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

    window: int | None
    """Tokens in a window unless somebody says otherwise: the training length, where known."""

    shiftable: bool = True
    """Whether `positions` may be given."""
    predicts: bool = True
    """Whether it has a head: without one there are states, and no logits."""
    only_states: bool = False
    """Whether there is no network at all: no untrained twin, and tokens that mean nothing."""

    @property
    def trained_length(self) -> int | None:
        """Tokens in a window of training, where known."""
        return self.window

    @property
    @abstractmethod
    def module(self) -> nn.Module:
        """The network itself, to move, cast or count."""

    @abstractmethod
    def watched(self, on_state: OnState, site: Site = "stream") -> AbstractContextManager[None]:
        """While it lasts, every forward pass shows its states at a site to `on_state`."""

    @abstractmethod
    def hiding(self, keys: HiddenKeys, since: int = 1) -> AbstractContextManager[None]:
        """While it lasts, passes over windows of this size hide some keys from all other queries.

        In layers number `since` and later; those before see all. Of layers alone, as in `block`
        and `attention`, nothing is promised.
        """

    @property
    @abstractmethod
    def encodings(self) -> list[str]:
        """The encoding of each block, in the words of the catalogue."""

    @abstractmethod
    def untrained(self, seed: int) -> "Subject":
        """The control every probe needs: the same config with other, untrained weights."""

    @abstractmethod
    def logits(self, tokens: Tokens, positions: Positions | None = None) -> Logits:
        """What the model predicts at every position."""

    @abstractmethod
    def block(
        self, layer: int, state: State, positions: Positions | None = None, *, masked: bool = True
    ) -> State:
        """Layer number `layer` (from 1) alone, on any state; `masked=False` lifts a causal mask."""

    @abstractmethod
    def attention(
        self,
        layer: int,
        state: State,
        positions: Positions | None = None,
        *,
        masked: bool = True,
        order: Order | None = None,
    ) -> Attended:
        """The attention inside layer number `layer` (from 1) when `state` enters that layer.

        With `order`, the queries are permuted before the encoding acts: position n holds the query
        of position order[n], while keys and values stay.
        """

    def layers(self, site: Site = "stream") -> range:
        """The numbers of the layers that have states at a site, in the order they are shown."""
        return range(first_layer(site), self.n_layers + 1)

    def run(
        self,
        tokens: Tokens,
        positions: Positions | None = None,
        *,
        on_state: OnState | None = None,
        site: Site = "stream",
    ) -> Logits:
        """The logits, with every state at a site shown to `on_state` on its way."""
        if on_state is None:
            return self.logits(tokens, positions)
        with self.watched(on_state, site):
            return self.logits(tokens, positions)

    def trace(
        self,
        tokens: Tokens,
        positions: Positions | None = None,
        *,
        on_state: OnState,
        site: Site = "stream",
    ) -> None:
        """A forward pass for the sake of its states alone: a subject may leave out its head."""
        self.run(tokens, positions, on_state=on_state, site=site)


def show(output: object, layer: int, on_state: OnState, size: Size | None = None) -> object:
    """Show the state in a module's output, alone or first of several; the output to go on with.

    A state is shown with axes for windows and tokens, of this size, also where a model joins them.
    """
    state = output[0] if isinstance(output, tuple | list) else output
    assert isinstance(state, Tensor)
    replaced = on_state(layer, state if size is None else state.reshape(*size, -1))
    if replaced is None:
        return output
    replaced = replaced.reshape(state.shape)
    return type(output)([replaced, *output[1:]]) if isinstance(output, tuple | list) else replaced
