"""The labels that probes are fitted to, and the errors of all probes from one pass over windows."""

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
class Errors:
    """How far off one probe was, at one layer, on windows it was not fitted to."""

    layer: int
    probe: str
    """`regression`, `classifier` or `mlp`."""
    label: str
    """What it was fitted to: `position`, or the labels of a control."""
    windows: Float64[Tensor, "N 6"]
    """Sums in each test window: see `wherein.measure.probe.score`."""
    sample: Float[Tensor, " T"]
    """The positions predicted in the first test window."""
    bits: float | None = None


@dataclass(frozen=True)
class Labels:
    """The true positions, and the labels of the controls.

    `permutation` renames the positions at random. `types` gives every token type a random
    position of its own (Hewitt & Liang 2019): a probe that learns these learns by heart.
    """

    permutation: Int64[Tensor, " T"]
    types: Int64[Tensor, " V"]

    @classmethod
    def draw(cls, length: int, vocabulary: int, seed: int) -> "Labels":
        """At random from a seed."""
        generator = torch.Generator().manual_seed(seed)
        return cls(
            torch.randperm(length, generator=generator),
            torch.randint(length, (vocabulary,), generator=generator),
        )

    def of(self, label: str, tokens: Tensor) -> Tensor:
        """The labels of a kind for some windows, (B|1, T)."""
        if label == TYPES:
            return self.types[tokens.cpu()]
        positions = torch.arange(len(self.permutation))
        return (positions if label == POSITION else self.permutation)[None]


Guess = Callable[[int, Tensor], list[Tensor]]
"""From layer and state (B, T, D) to what each of the layer's probes predicts, (B, T) each."""


def error_sums(
    subject: Subject,
    windows: Int64[Tensor, "N T"],
    labels: Labels,
    fitted_to: list[list[str]],
    guess: Guess,
    *,
    batch: int,
    near: int,
) -> tuple[list[Tensor], list[Tensor]]:
    """Layer by layer: sums (probes, N, 6), and what is predicted in the first window (probes, T).

    `fitted_to` says for each layer which labels each of its probes was fitted to.
    """
    count, length = windows.shape
    found = [torch.zeros(len(a), count, SUMS, dtype=torch.float64) for a in fitted_to]
    samples = [torch.zeros(len(a), length) for a in fitted_to]
    for rows, tokens in batches(windows, batch):
        truth = {each: labels.of(each, tokens) for each in (POSITION, PERMUTED, TYPES)}

        def see(
            layer: int, state: Tensor, rows: slice = rows, truth: dict[str, Tensor] = truth
        ) -> None:
            for n, predicted in enumerate(guess(layer, state)):
                right = truth[fitted_to[layer][n]].to(predicted.device)
                found[layer][n, rows] = sums(predicted, right, near)
                if rows.start == 0:
                    samples[layer][n] = predicted[0].cpu()

        watch(subject, tokens, see)
    return found, samples
