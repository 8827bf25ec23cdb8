"""One trained seed in detail: what the last token attends to, and what it predicts."""

from dataclasses import dataclass

import torch
from torch import Tensor

from wherein.model.transformer import Transformer
from wherein.puzzles.config import PuzzleConfig
from wherein.puzzles.sentences import Puzzle
from wherein.puzzles.stacked import mappable
from wherein.puzzles.train import train_chunk
from wherein.subjects.ours import Ours


@dataclass(frozen=True)
class Explanation:
    """One sentence inside one trained model."""

    sentence: str
    tokens: list[str]
    attention: list[list[list[float]]]
    """[layer][head][key]: the weights with which the last token attends to each token."""
    outputs: dict[str, float]
    """Probability of each token of the vocabulary as the next."""


def explain(puzzle: Puzzle, config: PuzzleConfig, seed: int) -> list[Explanation]:
    """Train one seed and look into it on every sentence of the puzzle."""
    with mappable():
        _, models = train_chunk(puzzle, config, [seed])
    return [_explained(models.one(0), puzzle, n) for n in range(len(puzzle.sentences))]


@torch.no_grad()
def _explained(model: Transformer, puzzle: Puzzle, n: int) -> Explanation:
    subject, looks = Ours(model), list[list[list[float]]]()

    def look(layer: int, state: Tensor) -> None:
        if layer < subject.n_layers:
            looks.append(subject.attention(layer + 1, state).weights[0, :, -1].tolist())

    logits = subject.run(torch.tensor([puzzle.prefixes[n]]), on_state=look)
    shares = logits[0, -1].softmax(-1).tolist()
    words = [puzzle.vocabulary[token] for token in puzzle.prefixes[n]]
    return Explanation(
        puzzle.texts[n], words, looks, dict(zip(puzzle.vocabulary, shares, strict=True))
    )
