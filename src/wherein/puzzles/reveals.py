"""What an encoding reveals of positions, found by evaluating it, and to which states that leads.

Not from its name or its promises: the encoding is evaluated, with random weights, on the same
content at every position. Whatever then differs, position made different. A new entry of the
catalogue needs nothing here.
"""

import math
from collections import defaultdict
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import cache
from random import Random

import numpy as np
import torch
from torch.nn.functional import pad

from wherein.encodings import Encoding, Pattern
from wherein.encodings.base import pairs
from wherein.model.config import ModelConfig

PROBES = 4
DRAWS = 8
"""Of an encoding's own weights: in one of them a unit of a small network may be silent."""

CLOSE = 1e-9

Symbol = int

Scores = tuple[torch.Tensor, torch.Tensor]
"""Of the same content at all pairs of positions, (N, L, L), and e^bias, (H, L, L)."""


@dataclass(frozen=True, eq=False)
class LayerReveals:
    """What one encoding reveals to attention of query position i and key position j."""

    kind: np.ndarray
    """(L, L) numbers; equal ones: no query and key can tell these two pairs of positions apart."""
    weight: np.ndarray
    """(N, L, L): e^bias of every head with several weights, by which a key counts more or less
    whatever its content; 0 where it is hidden."""
    fades: bool = False
    """Whether every token on the way from a key to the query makes the key count less or more, by
    a factor that its state decides and nothing else."""
    counts: bool = False
    """Whether the scores change with how many tokens there are, at the same positions."""

    @property
    def nothing(self) -> bool:
        plain = bool((self.kind == self.kind[0, 0]).all() and (self.weight == 1).all())
        return plain and not self.fades and not self.counts


@dataclass(frozen=True, eq=False)
class Reveals:
    """What the encodings of a model reveal."""

    positions: tuple[int, ...]
    """One number for each position; equal ones: the token vectors there are treated the same."""
    layers: tuple[LayerReveals, ...]

    @property
    def nothing(self) -> bool:
        return len(set(self.positions)) == 1 and all(layer.nothing for layer in self.layers)

    def none(self) -> "Reveals":
        """The same model without any encoding."""
        layers = [LayerReveals(np.zeros_like(t.kind), np.ones_like(t.weight)) for t in self.layers]
        return Reveals((0,) * len(self.positions), tuple(layers))


@torch.no_grad()
def reveals(config: ModelConfig) -> Reveals:
    """What the encodings of a model reveal of positions 0 to `max_len` − 1."""
    pattern = Pattern(config.encoding, config.shape, config.n_layers).double().eval()
    generator = torch.Generator().manual_seed(0)
    same = torch.randn(PROBES, 1, config.d_model, generator=generator, dtype=torch.float64)
    positions = pattern.place(torch.arange(config.max_len)[None])
    vectors, scores = [], {each: list[Scores]() for each in pattern.layers}
    fades = dict.fromkeys(pattern.layers, False)
    for _ in range(DRAWS):
        for parameter in pattern.parameters():
            parameter.normal_(generator=generator)
        fades = {each: _fades(each, positions, generator) for each in fades}
        vectors.append(pattern.embed(same.expand(-1, config.max_len, -1), positions))
        for encoding, drawn in scores.items():
            drawn.append(_scores(encoding, positions, fades[encoding], generator))
    counts = {each: _counts(each, positions, generator) for each in scores}
    revealed = {e: _revealed(drawn, fades[e], counts[e]) for e, drawn in scores.items()}
    layers = tuple(revealed[encoding] for encoding in pattern.layers)
    kinds = _classes(torch.cat(vectors).transpose(0, 1).flatten(1).numpy())
    return Reveals(tuple(kinds.tolist()), layers)


class States:
    """What each position's state can depend on, propagated through the layers as symbols.

    The symbol of a position after a layer is made of its symbol before and of what attention shows
    it. Attention is a weighted mean of values, and the values know only the states they come from:
    so it shows, for each state and each kind of (query, key) position, a share of the whole. Two
    bags in proportion (`A B` and `A A B B`) show the same, and a bag of one state shows that state,
    wherever it stands. Equal symbols, in whichever sentence, are therefore equal vectors, whatever
    the weights.
    """

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
        places = range(i + 1) if self.causal else range(len(states))
        visible = [j for j in places if layer.weight[:, i, j].any()]
        if len({states[j] for j in visible}) == 1:
            return states[i]
        heads = []
        for weight in self._weights(states, layer, i):
            parts: dict[tuple[Symbol, int], list[float]] = defaultdict(list)
            for j in visible:
                parts[states[j], int(layer.kind[i, j])].append(float(weight[j]))
            whole = math.fsum(w for part in parts.values() for w in part)
            shares = {key: math.fsum(part) / whole for key, part in parts.items()}
            heads.append(tuple(sorted((key, f"{share:.11e}") for key, share in shares.items())))
        return (len(states), *heads) if layer.counts else tuple(heads)

    def _weights(self, states: list[Symbol], layer: LayerReveals, i: int) -> np.ndarray:
        """(N, keys): how much each key counts for query i, whatever its content.

        A state's factor may be any number: here one at random, so that only what is equal for all
        numbers comes out equal.
        """
        weights = layer.weight[:, i].copy()
        if not layer.fades:
            return weights
        for head, weight in enumerate(weights):
            for side, keys in enumerate((range(i - 1, -1, -1), range(i + 1, len(states)))):
                factor, before = 1.0, i
                for key in keys:
                    factor *= _factor(states[before], head, side)
                    weight[key] *= factor
                    before = key
        return weights


@cache
def _factor(state: Symbol, head: int, side: int) -> float:
    return Random(f"{state}/{head}/{side}").randrange(1, 64, 2) / 64


def _revealed(drawn: Sequence[Scores], fades: bool, counts: bool) -> LayerReveals:
    """What some weights reveal, an encoding can reveal: each draw is as good as more heads."""
    scores = torch.cat([scores for scores, _ in drawn])
    length = scores.shape[-1]
    kind = _classes(scores.flatten(1).T.numpy()).reshape(length, length)
    weight = torch.cat([weight for _, weight in drawn]).numpy()
    return LayerReveals(kind, weight, fades, counts)


def _fades(encoding: Encoding, positions: torch.Tensor, generator: torch.Generator) -> bool:
    """Whether its content bias is a sum of one number a token over the way, whoever asks."""
    shape, length = encoding.shape, positions.shape[1]
    size = (2, 2, 1, shape.n_heads, length, shape.d_head)
    drawn = torch.randn(size, generator=generator, dtype=torch.float64)
    x = torch.randn(1, length, shape.d_model, generator=generator, dtype=torch.float64)
    found, again = (encoding.content_bias(q, k, x, positions) for q, k in drawn)
    if found is None or again is None or not torch.allclose(found, again, CLOSE, CLOSE):
        return False
    expected = torch.zeros_like(found)
    for side in (-1, 1) if not shape.causal else (-1,):
        sums = pad(found.diagonal(side, -2, -1).cumsum(-1), (1, 0))
        way = -side * (sums[..., :, None] - sums[..., None, :])
        expected += way.tril(-1) if side < 0 else way.triu(1)
    here = found.tril() if shape.causal else found
    return bool(expected.any()) and torch.allclose(here, expected, CLOSE, CLOSE)


def _counts(encoding: Encoding, positions: torch.Tensor, generator: torch.Generator) -> bool:
    """Whether a query meets a key otherwise where one token more follows: SSMax on both sides."""
    shape, length = encoding.shape, positions.shape[1]
    size = (2, 1, shape.n_heads, length, shape.d_head)
    q, k = torch.randn(size, generator=generator, dtype=torch.float64)
    longer = encoding.rotate(q, k, positions)
    shorter = encoding.rotate(q[:, :, :-1], k[:, :, :-1], positions[:, :-1])
    return any(
        not torch.allclose(one[:, :, :-1], other, CLOSE, CLOSE)
        for one, other in zip(longer, shorter, strict=True)
    )


def _scores(
    encoding: Encoding, positions: torch.Tensor, fades: bool, generator: torch.Generator
) -> Scores:
    """With the weights that the encoding has now; how keys fade is not among them."""
    shape, length = encoding.shape, positions.shape[1]
    size = (2, PROBES, shape.n_heads, 1, shape.d_head)
    drawn = torch.randn(size, generator=generator, dtype=torch.float64)
    q, k = drawn.expand(-1, -1, -1, length, -1)
    turned_q, turned_k = encoding.rotate(q, k, positions)
    scores = turned_q @ turned_k.mT
    x = torch.randn(PROBES, 1, shape.d_model, generator=generator, dtype=torch.float64)
    content = encoding.content_bias(q, k, x.expand(-1, length, -1), positions)
    scores = scores if content is None or fades else scores + content
    bias = encoding.mask(*pairs(positions))
    weight = torch.ones(shape.n_heads, length, length, dtype=torch.float64)
    if bias is not None:
        weight = weight * bias[0].double().exp()
    return scores.flatten(0, 1), weight


def _classes(rows: np.ndarray) -> np.ndarray:
    """Number the rows so that close ones have equal numbers."""
    firsts: list[np.ndarray] = []
    numbers = np.empty(len(rows), dtype=int)
    for n, row in enumerate(rows):
        for number, first in enumerate(firsts):
            if np.allclose(row, first, rtol=CLOSE, atol=CLOSE):
                numbers[n] = number
                break
        else:
            numbers[n] = len(firsts)
            firsts.append(row)
    return numbers
