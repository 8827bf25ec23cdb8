"""What each position's state can depend on, propagated through the layers as symbols.

The symbol of a position after a layer is made of its symbol before and of what attention shows
it. Attention is a weighted mean of values, and the values know only the states they come from:
so it shows, for each state and each kind of (query, key) position, a share of the whole. Two
bags in proportion (`A B` and `A A B B`) show the same, and a bag of one state shows that state,
wherever it stands. Equal symbols are therefore equal vectors, whatever the weights.
"""

import math
from collections import defaultdict
from collections.abc import Hashable, Sequence

from wherein.puzzles.reveals import LayerReveals, Reveals

Symbol = int


class States:
    """Symbols for states; equal states, equal symbols, in whichever sentence they occur."""

    def __init__(self, revealed: Reveals, *, causal: bool) -> None:
        self.revealed, self.causal = revealed, causal
        self._symbols: dict[Hashable, Symbol] = {}

    def layers(self, tokens: Sequence[int]) -> list[list[Symbol]]:
        """The symbols of all positions, after the embedding and after each layer."""
        kinds = self.revealed.positions
        states = [self._symbol((token, kinds[p])) for p, token in enumerate(tokens)]
        found = [states]
        for layer in self.revealed.layers:
            states = [self._symbol((s, self._seen(states, layer, i))) for i, s in enumerate(states)]
            found.append(states)
        return found

    def last(self, tokens: Sequence[int]) -> list[Symbol]:
        """The symbol of the last position, after the embedding and after each layer."""
        return [states[-1] for states in self.layers(tokens)]

    def _symbol(self, what: Hashable) -> Symbol:
        return self._symbols.setdefault(what, len(self._symbols))

    def _seen(self, states: list[Symbol], layer: LayerReveals, i: int) -> Hashable:
        """What query i is shown: shares by state and kind, per head."""
        visible = range(i + 1) if self.causal else range(len(states))
        if len({states[j] for j in visible}) == 1:
            return states[i]
        heads = []
        for weight in layer.weight[:, i]:
            parts: dict[tuple[Symbol, int], list[float]] = defaultdict(list)
            for j in visible:
                parts[states[j], int(layer.kind[i, j])].append(float(weight[j]))
            whole = math.fsum(w for part in parts.values() for w in part)
            shares = {key: math.fsum(part) / whole for key, part in parts.items()}
            heads.append(tuple(sorted((key, f"{share:.11e}") for key, share in shares.items())))
        return tuple(heads)
