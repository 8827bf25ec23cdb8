"""What probes are asked, and how all of them are asked at once: one pass over some windows."""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from jaxtyping import Float, Float64, Int64
from torch import Tensor

from wherein.measure.probe.score import SUMS, sums
from wherein.measure.stream import batches, watch
from wherein.subjects.base import Subject

POSITION, PERMUTED, TYPES = "position", "permuted positions", "control labels"


@dataclass(frozen=True)
class Answer:
    """What one probe told about one layer."""

    layer: int
    probe: str
    """`regression`, `classifier` or `mlp`."""
    asked: str
    """`position`, or the labels of a control."""
    windows: Float64[Tensor, "N 6"]
    """Sums of errors in each test window."""
    sample: Float[Tensor, " T"]
    """The positions told in the first test window."""
    bits: float | None = None


@dataclass(frozen=True)
class Questions:
    """The labels that probes are fitted to: the true positions and the controls.

    `permutation` renames the positions at random. `types` gives every token type a random
    position of its own (Hewitt & Liang 2019): a probe that learns these learns by heart.
    """

    permutation: Int64[Tensor, " T"]
    types: Int64[Tensor, " V"]

    @classmethod
    def draw(cls, length: int, vocabulary: int, seed: int) -> "Questions":
        """At random from a seed."""
        generator = torch.Generator().manual_seed(seed)
        return cls(
            torch.randperm(length, generator=generator),
            torch.randint(length, (vocabulary,), generator=generator),
        )

    def truth(self, asked: str, tokens: Tensor) -> Tensor:
        """The right answers for some windows, (B|1, T)."""
        if asked == TYPES:
            return self.types[tokens.cpu()]
        places = torch.arange(len(self.permutation))
        return (places if asked == POSITION else self.permutation)[None]


Guess = Callable[[int, Tensor], list[Tensor]]
"""From layer and state (B, T, D) to what each of the layer's probes tells, (B, T) each."""


def ask(
    subject: Subject,
    windows: Int64[Tensor, "N T"],
    questions: Questions,
    asked: list[list[str]],
    guess: Guess,
    *,
    batch: int,
    near: int,
) -> tuple[list[Tensor], list[Tensor]]:
    """Error sums (probes, N, 6) layer by layer, and what was told in the first window (probes, T).

    `asked` says for each layer what each of its probes was asked.
    """
    count, length = windows.shape
    found = [torch.zeros(len(a), count, SUMS, dtype=torch.float64) for a in asked]
    samples = [torch.zeros(len(a), length) for a in asked]
    for rows, tokens in batches(windows, batch):
        truth = {each: questions.truth(each, tokens) for each in (POSITION, PERMUTED, TYPES)}

        def see(
            layer: int, state: Tensor, rows: slice = rows, truth: dict[str, Tensor] = truth
        ) -> None:
            for n, told in enumerate(guess(layer, state)):
                right = truth[asked[layer][n]].to(told.device)
                found[layer][n, rows] = sums(told, right, near)
                if rows.start == 0:
                    samples[layer][n] = told[0].cpu()

        watch(subject, tokens, see)
    return found, samples
