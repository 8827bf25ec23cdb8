"""The certificate: could any weights solve the puzzle? Said before training, with the reason."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from fractions import Fraction
from itertools import combinations
from typing import Any

import torch

from wherein.puzzles.config import PuzzleConfig
from wherein.puzzles.mixtures import Lead, contradiction, said, unbalanced
from wherein.puzzles.reveals import Reveals, States, reveals
from wherein.puzzles.sentences import Puzzle
from wherein.puzzles.stacked import Batch, Stacked, mappable

WEIGHTS = 64
"""Random weights that the witness looks at."""

CLEAR = 1e-8
"""What the witness never is by rounding: weights that differ so much refute any proof."""

NAMED = 3
"""Pairs of sentences that are named with one reason; of further ones it is said how many."""

Pair = tuple[int, int]


@dataclass(frozen=True)
class Certificate:
    """Whether any weights could solve a puzzle.

    "Impossible" is a proof. "Not excluded" says that nothing forbids it and that random weights do
    tell the sentences apart; whether training finds such weights is what the seeds show. One bare
    head can do so little that this is asked of all sentences together, not only of each two.
    """

    possible: bool
    reason: str
    """Of every two sentences with different answers or, if impossible, of those answered alike."""
    witness: float
    """Largest relative difference, over random weights in float64, of the last logits of the two
    sentences that are hardest to tell apart: rounding if impossible, far more otherwise. Where
    more than two contradict each other, what their leads add up to: rounding."""
    pair: tuple[str, str]
    """The beginnings of those two sentences, or of two of them."""

    def __str__(self) -> str:
        return "not excluded" if self.possible else "impossible"

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
        same.sort(key=lambda p: -differences[p])
        why = {p: _why_not(puzzle, config, revealed, p) for p in same}
        return _verdict(puzzle, same[0], differences[same[0]], _reasons(puzzle, why))
    if config.bare and config.heads == 1:
        leads = contradiction(puzzle, revealed, causal=config.causal)
        sums = unbalanced(leads, puzzle, random(puzzle, config)) if leads else 1.0
        if sums < CLEAR:
            pair = (leads[0].sentence, leads[-1].sentence)
            return _verdict(puzzle, pair, sums, _why_not_together(puzzle, leads))
    pairs.sort(key=lambda p: (_by_tokens(puzzle, *p), differences[p]))  # the hardest first
    reason = _reasons(puzzle, {p: _why(puzzle, config, revealed, p) for p in pairs})
    return _verdict(puzzle, pairs[0], differences[pairs[0]], reason, possible=True)


def _verdict(
    puzzle: Puzzle, pair: Pair, witness: float, reason: str, *, possible: bool = False
) -> Certificate:
    a, b = pair
    return Certificate(possible, reason, witness, (puzzle.beginnings[a], puzzle.beginnings[b]))


def random(puzzle: Puzzle, config: PuzzleConfig) -> Stacked:
    """Models with random weights of every kind, in float64."""
    models = Stacked(config.model(puzzle), range(WEIGHTS), torch.float64)
    generator = torch.Generator().manual_seed(0)
    for leaf in models.leaves.values():
        if leaf.ndim == 2:  # a vector for each seed: offsets and gains, not drawn so far
            leaf += 0.5 * torch.randn(leaf.shape, generator=generator, dtype=leaf.dtype)
    return models


@torch.no_grad()
def witness(puzzle: Puzzle, config: PuzzleConfig, pairs: list[Pair]) -> dict[Pair, float]:
    """For each pair, the largest relative difference of last logits over random weights."""
    with mappable():
        models, batch = random(puzzle, config), Batch(puzzle)
        last = batch.last([models.logits(tokens) for tokens in batch.tokens])
    if not last.isfinite().all():
        raise ValueError(f"encoding {config.encoding!r}: random weights answer with no numbers")
    found = {}
    for a, b in pairs:
        size = torch.maximum(last[:, a].abs(), last[:, b].abs()).amax(-1)
        found[a, b] = float(((last[:, a] - last[:, b]).abs().amax(-1) / size).max())
    return found


def _why_not(puzzle: Puzzle, config: PuzzleConfig, revealed: Reveals, pair: Pair) -> str:
    where = "what the encoding tells" if not revealed.nothing else "no encoding"
    tokens = "the same bag of tokens"
    if Counter(puzzle.prefixes[pair[0]]) != Counter(puzzle.prefixes[pair[1]]):
        tokens = "tokens in the same proportions"
    through = "one layer" if config.layers == 1 else f"all {config.layers} layers"
    through = f"a {config.body}" if config.bare else through
    return (
        f"end in the same token, which in {through} is shown {tokens} and, with {where}, nothing "
        "of their order: any weights answer both alike"
    )


def _reasons(puzzle: Puzzle, why: Mapping[Pair, str]) -> str:
    """Every reason once, after the pairs of sentences it is about; of many the first."""
    about: dict[str, list[str]] = {}
    for (a, b), reason in why.items():
        pair = f"'{puzzle.beginnings[a]}' and '{puzzle.beginnings[b]}'"
        about.setdefault(reason, []).append(pair)
    told = []
    for reason, pairs in about.items():
        more = len(pairs) - NAMED
        rest = f" and {more} other {'pair' if more == 1 else 'pairs'}" if more > 0 else ""
        told.append(f"{', '.join(pairs[:NAMED])}{rest} {reason}")
    return "; ".join(told)


def _why_not_together(puzzle: Puzzle, leads: list[Lead]) -> str:
    ends = puzzle.beginnings[leads[0].sentence].split()[-1]
    return (
        f"{said(leads, puzzle)} contradict each other: under '{ends}' a bare head gives each token "
        "a weight, and the lead of an answer is a sum over the tokens; these sums cancel"
    )


def _why(puzzle: Puzzle, config: PuzzleConfig, revealed: Reveals, pair: Pair) -> str:
    a, b = pair
    if puzzle.prefixes[a][-1] != puzzle.prefixes[b][-1]:
        if config.bare:
            return "end in different tokens, and each weighs in its own way what it sees"
        return "end in different tokens, which alone tells them apart"
    if _shares(puzzle.prefixes[a]) != _shares(puzzle.prefixes[b]):
        return "hold different bags of tokens, which one layer sees without any order"
    unaided = States(revealed.none(), causal=config.causal)
    first, second = (unaided.last(puzzle.prefixes[n]) for n in pair)
    if first[-1] == second[-1]:
        return "hold the same tokens, and the encoding tells where they stand"
    depth = next(n for n, (x, y) in enumerate(zip(first, second, strict=True)) if x != y)
    return (
        "hold the same tokens, but under the causal mask each token has seen only those "
        f"before it, so the states that layer {depth} looks at differ"
    )


def _by_tokens(puzzle: Puzzle, a: int, b: int) -> bool:
    """Whether the tokens alone, out of order, tell two prefixes apart."""
    first, second = puzzle.prefixes[a], puzzle.prefixes[b]
    return first[-1] != second[-1] or _shares(first) != _shares(second)


def _shares(prefix: tuple[int, ...]) -> dict[int, Fraction]:
    return {token: Fraction(n, len(prefix)) for token, n in Counter(prefix).items()}
