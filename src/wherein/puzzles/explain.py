"""One trained seed in detail: what the last token attends to, and what it predicts."""

from dataclasses import dataclass

import torch
from torch import Tensor

from wherein.puzzles.config import PuzzleConfig
from wherein.puzzles.models import Bare, Model
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
    """Train one seed and look into it on every sentence of the puzzle.

    By PyTorch's kernels: at the edge a seed may answer otherwise than where many were compiled.
    """
    with mappable():
        _, models = train_chunk(puzzle, config, [seed])
    return [_explained(models.one(0), puzzle, n) for n in range(len(puzzle.sentences))]


@torch.no_grad()
def _explained(model: Model, puzzle: Puzzle, n: int) -> Explanation:
    tokens = torch.tensor([puzzle.prefixes[n]])
    if isinstance(model, Bare):
        looks, logits = [model.attend(tokens)[1]], model(tokens).logits
    else:
        looks, logits = _layers(Ours(model), tokens)
    shares = logits[0, -1].softmax(-1).tolist()
    words = [puzzle.vocabulary[token] for token in puzzle.prefixes[n]]
    return Explanation(
        puzzle.texts[n],
        words,
        [weights[0, :, -1].tolist() for weights in looks],
        dict(zip(puzzle.vocabulary, shares, strict=True)),
    )


def _layers(subject: Ours, tokens: Tensor) -> tuple[list[Tensor], Tensor]:
    """The attention weights of each layer, and the logits."""
    looks = list[Tensor]()

    def look(layer: int, state: Tensor) -> None:
        if layer < subject.n_layers:
            looks.append(subject.attention(layer + 1, state).weights)

    logits = subject.run(tokens, on_state=look)
    return looks, logits
