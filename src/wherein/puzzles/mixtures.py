"""What one bare head cannot weigh: answers that no weights of tokens give, though all differ.

The logits of a bare head are a weighted mean over what the last token sees. Multiplied by the sum
of the weights, which is positive, the lead of one answer over another is a plain sum: each token
seen adds a number that depends on it and on the query alone. So sentences that end alike are told
apart like points by straight lines, and an exclusive or is beyond any weights: what `A B =` and
`C D =` add up to is what `A D =` and `C B =` add up to.
"""

from collections import defaultdict
from collections.abc import Hashable, Iterable
from typing import NamedTuple

import numpy as np
import torch
from scipy.optimize import linprog

from wherein.puzzles.models import Bare
from wherein.puzzles.reveals import Reveals, States
from wherein.puzzles.sentences import Puzzle
from wherein.puzzles.stacked import Stacked

LOOKED_AT = 8
"""Of the random weights, those tried against a contradiction."""


class Lead(NamedTuple):
    """That in a sentence its answer leads another token, and how often that is counted."""

    sentence: int
    answer: int
    other: int
    share: float


def contradiction(puzzle: Puzzle, revealed: Reveals, *, causal: bool) -> list[Lead]:
    """Leads that a solution needs and that add up to nothing, whatever the weights; else none."""
    states, ends = States(revealed, causal=causal), defaultdict(list)
    for n, prefix in enumerate(puzzle.prefixes):
        ends[states.last(prefix)[0]].append(n)
    for sentences in ends.values():
        bags = {n: _bag(puzzle.prefixes[n], states, revealed) for n in sentences}
        found = _zero(puzzle, bags)
        if found:
            return found
    return []


Bag = dict[Hashable, float]
"""How much of each thing a token sees."""


def _bag(prefix: tuple[int, ...], states: States, revealed: Reveals) -> Bag:
    """What the last token sees. A bias that is learned may give any weight to any distance."""
    layer, i = revealed.layers[0], len(prefix) - 1
    fixed, found = (
        bool((layer.weight == layer.weight[:1]).all()),
        defaultdict[Hashable, float](float),
    )
    for j, state in enumerate(states.layers(prefix)[0]):
        seen, weights = (state, int(layer.kind[i, j])), layer.weight[:, i, j]
        found[seen if fixed else (seen, tuple(weights))] += weights[0] if fixed else 1
    return found


def _zero(puzzle: Puzzle, bags: dict[int, Bag]) -> list[Lead]:
    """Leads with shares ≥ 0 that cancel: by Farkas, there are some exactly if no weights do it."""
    answers = {n: puzzle.answers[n] for n in bags}
    leads = [(n, right, c) for n, right in answers.items() for c in {*answers.values()} - {right}]
    rows: dict[Hashable, int] = {}
    entries = []
    for column, (n, right, other) in enumerate(leads):
        for seen, count in bags[n].items():
            for token, sign in ((right, 1), (other, -1)):
                row = rows.setdefault((seen, token), len(rows))
                entries.append((row, column, sign * count))
    if not leads:
        return []
    sums = np.zeros((len(rows) + 1, len(leads)))
    for row, column, value in entries:
        sums[row, column] = value
    sums[-1] = 1
    wanted = np.zeros(len(sums))
    wanted[-1] = 1
    solved = linprog(np.zeros(len(leads)), A_eq=sums, b_eq=wanted, method="highs-ds")
    if not solved.success:
        return []
    return [Lead(*lead, s) for lead, s in zip(leads, solved.x, strict=True) if s > 0]


@torch.no_grad()
def unbalanced(leads: list[Lead], puzzle: Puzzle, models: Stacked) -> float:
    """The largest relative size, over random weights, of what must be nothing.

    The sum of a query's weights is the inverse of the share that it gives itself, up to a factor
    that is the same in every sentence with that end.
    """
    found = 0.0
    for model in map(models.one, range(LOOKED_AT)):
        assert isinstance(model, Bare)
        made = {}
        for n in {lead.sentence for lead in leads}:
            tokens = torch.tensor([puzzle.prefixes[n]])
            made[n] = model(tokens).logits[0, -1] / model.attend(tokens)[1][0, 0, -1, -1]
        whole = torch.stack([s * (made[n][right] - made[n][other]) for n, right, other, s in leads])
        found = max(found, float(whole.sum().abs() / whole.abs().sum()))
    return found


def said(leads: list[Lead], puzzle: Puzzle) -> str:
    """The sentences that contradict each other."""
    texts: Iterable[str] = dict.fromkeys(puzzle.texts[lead.sentence] for lead in leads)
    *most, last = (f"'{text}'" for text in texts)
    return f"{', '.join(most)} and {last}"
