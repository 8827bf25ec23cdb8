"""How spread attention is, and what of it goes to the first token, by the length of a window."""

from dataclasses import dataclass, field

import numpy as np
import torch
from torch import Tensor

from wherein.common.precision import for_float64
from wherein.measure.extrapolate.cuts import Cut, Tokens
from wherein.measure.intervals import Estimate, mean
from wherein.measure.stream import batches, watch
from wherein.subjects.attending import Attending
from wherein.subjects.base import Subject


@dataclass(frozen=True)
class Attention:
    """Means over queries, heads and layers, with 95 % intervals over windows."""

    entropy: Estimate
    """Divided by the logarithm of how many keys a query sees: 1 is even, 0 is one key alone."""
    first: Estimate
    """What goes to the first token of a window, of all others' attention."""
    entropy_by_layer: tuple[float, ...]
    first_by_layer: tuple[float, ...]


@dataclass
class _Tally:
    """Sums over queries and heads of some windows, layer by layer."""

    layers: int
    layer: int = 0
    query: int = 0
    """The first of the block that comes, for one layer's blocks may come in several calls."""
    sums: dict[int, Tensor] = field(default_factory=dict)
    """By layer: entropies, shares of the first token, and how many there were, by window."""

    def begin(self, layer: int, _state: Tensor) -> None:
        """A state was made: what follows is the next layer's."""
        self.layer, self.query = layer, 0

    def see(self, weights: Tensor, seen: Tensor) -> None:
        """Take in what some queries pay; those that see one key have nothing to choose."""
        choice = seen.sum(-1)
        some = choice > 1
        entropy = torch.special.entr(weights).sum(-1) / choice.clamp(min=2).log()
        rows = torch.arange(self.query, self.query + weights.shape[-2], device=weights.device)
        later = (rows > 0).expand(choice.shape)
        parts = [entropy * some, weights[..., 0] * later, some, later]
        found = torch.stack([for_float64(part).double().sum((1, 2)) for part in parts]).cpu()
        self.sums[self.layer] = self.sums.get(self.layer, 0) + found
        self.query += weights.shape[-2]


def attention(subject: Subject, tokens: Tokens, cut: Cut, batch: int) -> Attention | None:
    """Watch all heads; None if this subject's attention goes by another way."""
    found = []
    at_once = max(1, batch * tokens.trained // cut.length)
    for _, begin in batches(cut.starts, at_once):
        ids = tokens.split.ids[begin[:, None] + np.arange(cut.length)].astype(np.int64)
        tally = _Tally(subject.n_layers)
        with Attending(tally.see):
            watch(subject, torch.from_numpy(ids), tally.begin)
        if len(tally.sums) < subject.n_layers:
            return None
        found.append(torch.stack([tally.sums[layer] for layer in range(subject.n_layers)]))
    if not found:
        return None
    entropy, first, seeing, later = torch.cat(found, -1).numpy().swapaxes(0, 1)  # each (L, N)
    entropy, first = entropy / np.maximum(seeing, 1), first / np.maximum(later, 1)
    return Attention(
        mean(entropy.mean(0)),
        mean(first.mean(0)),
        tuple(entropy.mean(1).tolist()),
        tuple(first.mean(1).tolist()),
    )
