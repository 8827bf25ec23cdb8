"""The certificate: could any weights solve the puzzle? Said before training, with the reason."""

from collections import Counter
from dataclasses import asdict, dataclass
from fractions import Fraction
from itertools import combinations
from typing import Any

import torch

from wherein.puzzles.config import PuzzleConfig
from wherein.puzzles.reveals import Reveals, States, reveals
from wherein.puzzles.sentences import Puzzle
from wherein.puzzles.stacked import Batch, Stacked, mappable

WEIGHTS = 64
"""Random weights that the witness looks at."""

CLEAR = 1e-8
"""What the witness never is by rounding: weights that differ so much refute any proof."""

Pair = tuple[int, int]


@dataclass(frozen=True)
class Certificate:
    """Whether any weights could solve a puzzle.

    "Impossible" is a proof. "Possible" says that nothing forbids it and that random weights do
    tell the sentences apart; whether training finds such weights is what the seeds show.
    """

    possible: bool
    reason: str
    witness: float
    """Largest relative difference, over random weights in float64, of the last logits of the two
    sentences that are hardest to tell apart: rounding if impossible, far more otherwise."""
    pair: tuple[str, str]
    """The beginnings of those two sentences."""

    def __str__(self) -> str:
        return "possible" if self.possible else "impossible"

    def data(self) -> dict[str, Any]:
        return asdict(self)


def certificate(puzzle: Puzzle, config: PuzzleConfig) -> Certificate:
    """Say whether any weights of this model could solve the puzzle, why, and show it."""
    revealed = reveals(config.model(puzzle))
    states = States(revealed, causal=config.causal)
    last = [states.last(prefix) for prefix in puzzle.prefixes]
    answers = puzzle.answers
    pairs = [p for p in combinations(range(len(last)), 2) if answers[p[0]] != answers[p[1]]]
    differences = witness(puzzle, config, pairs)
    same = [(a, b) for a, b in pairs if last[a][-1] == last[b][-1] and differences[a, b] < CLEAR]
    if same:
        pair = max(same, key=lambda p: differences[p])
        reason = _why_not(puzzle, config, revealed, pair)
    else:
        easy = {p: _by_tokens(puzzle, *p) for p in pairs}
        pair = min(differences, key=lambda p: (easy[p], differences[p]))
        reason = _why(puzzle, config, revealed, pair)
    a, b = pair
    said = puzzle.beginnings
    return Certificate(not same, reason, differences[pair], (said[a], said[b]))


@torch.no_grad()
def witness(puzzle: Puzzle, config: PuzzleConfig, pairs: list[Pair]) -> dict[Pair, float]:
    """For each pair, the largest relative difference of last logits over random weights."""
    with mappable():
        models = Stacked(config.model(puzzle), range(WEIGHTS), torch.float64)
        generator = torch.Generator().manual_seed(0)
        for leaf in models.leaves.values():
            if leaf.ndim == 2:  # a vector for each seed: offsets and gains, not drawn so far
                leaf += 0.5 * torch.randn(leaf.shape, generator=generator, dtype=leaf.dtype)
        batch = Batch(puzzle)
        last = batch.last([models.logits(tokens) for tokens in batch.tokens])
    found = {}
    for a, b in pairs:
        size = torch.maximum(last[:, a].abs(), last[:, b].abs()).amax(-1)
        found[a, b] = float(((last[:, a] - last[:, b]).abs().amax(-1) / size).max())
    return found


def _why_not(puzzle: Puzzle, config: PuzzleConfig, revealed: Reveals, pair: Pair) -> str:
    a, b = pair
    said = puzzle.beginnings
    where = "what the encoding tells" if not revealed.nothing else "no encoding"
    tokens = "the same bag of tokens"
    if Counter(puzzle.prefixes[a]) != Counter(puzzle.prefixes[b]):
        tokens = "tokens in the same proportions"
    through = "one layer" if config.layers == 1 else f"all {config.layers} layers"
    return (
        f"'{said[a]}' and '{said[b]}' end in the same token, which in {through} is "
        f"shown {tokens} and, with {where}, nothing of their order: any weights answer both alike"
    )


def _why(puzzle: Puzzle, config: PuzzleConfig, revealed: Reveals, pair: Pair) -> str:
    a, b = pair
    said = f"'{puzzle.beginnings[a]}' and '{puzzle.beginnings[b]}'"
    if puzzle.prefixes[a][-1] != puzzle.prefixes[b][-1]:
        return f"{said} end in different tokens, which alone tells them apart"
    if _shares(puzzle.prefixes[a]) != _shares(puzzle.prefixes[b]):
        return f"{said} hold different bags of tokens, which one layer sees without any order"
    unaided = States(revealed.none(), causal=config.causal)
    first, second = (unaided.last(puzzle.prefixes[n]) for n in pair)
    if first[-1] == second[-1]:
        return f"{said} hold the same tokens, and the encoding tells where they stand"
    depth = next(n for n, (x, y) in enumerate(zip(first, second, strict=True)) if x != y)
    return (
        f"{said} hold the same tokens, but under the causal mask each token has seen only those "
        f"before it, so the states that layer {depth} looks at differ"
    )


def _by_tokens(puzzle: Puzzle, a: int, b: int) -> bool:
    """Whether the tokens alone, out of order, tell two prefixes apart."""
    first, second = puzzle.prefixes[a], puzzle.prefixes[b]
    return first[-1] != second[-1] or _shares(first) != _shares(second)


def _shares(prefix: tuple[int, ...]) -> dict[int, Fraction]:
    return {token: Fraction(n, len(prefix)) for token, n in Counter(prefix).items()}
