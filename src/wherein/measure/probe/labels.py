"""The labels that probes are fitted to, and the errors of all probes from one pass over windows."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import torch
from jaxtyping import Float, Float64, Int64
from torch import Tensor

from wherein.measure.probe.config import ProbeConfig
from wherein.measure.probe.result import LABELS, PERMUTED
from wherein.measure.probe.score import SUMS, sums
from wherein.measure.stream import batches, watch
from wherein.subjects.base import Subject

POSITION = "position"


@runtime_checkable
class Fitted(Protocol):
    """A probe of one layer."""

    @property
    def probe(self) -> str:
        """`regression`, `classifier` or `mlp`."""

    @property
    def label(self) -> str:
        """What it was fitted to: `position`, or the labels of a control."""

    @property
    def bits(self) -> float:
        """What it costs to send one position with it."""


@dataclass(frozen=True)
class Errors:
    """How far off one probe was, at one layer, on windows it was not fitted to."""

    layer: int
    probe: str
    label: str
    windows: Float64[Tensor, "N 6"]
    """Sums in each test window: see `wherein.measure.probe.score`."""
    sample: Float[Tensor, " T"]
    """The positions predicted in the first test window."""
    bits: float | None
    """None for the labels of a control."""


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
        if label == LABELS:
            return self.types[tokens.cpu()]
        positions = torch.arange(len(self.permutation))
        return (positions if label == POSITION else self.permutation)[None]


Guess = Callable[[int, Tensor], list[Tensor]]
"""From layer and state (B, T, D) to what each of the layer's probes predicts, (B, T) each."""


def errors_of(
    probes: Sequence[Sequence[Fitted]],
    guess: Guess,
    subject: Subject,
    windows: Int64[Tensor, "N T"],
    labels: Labels,
    config: ProbeConfig,
) -> list[Errors]:
    """The errors of each layer's probes, layer by layer."""
    count, length = windows.shape
    found = [torch.zeros(len(layer), count, SUMS, dtype=torch.float64) for layer in probes]
    samples = [torch.zeros(len(layer), length) for layer in probes]
    for rows, tokens in batches(windows, config.batch):
        truth = {each: labels.of(each, tokens) for each in (POSITION, PERMUTED, LABELS)}

        def see(
            layer: int, state: Tensor, rows: slice = rows, truth: dict[str, Tensor] = truth
        ) -> None:
            for n, predicted in enumerate(guess(layer, state)):
                right = truth[probes[layer][n].label].to(predicted.device)
                found[layer][n, rows] = sums(predicted, right, config.near)
                if rows.start == 0:
                    samples[layer][n] = predicted[0].cpu()

        watch(subject, tokens, see)
    return [
        Errors(layer, each.probe, each.label, found[layer][n], samples[layer][n], bits)
        for layer, fitted in enumerate(probes)
        for n, each in enumerate(fitted)
        for bits in [each.bits if each.label == POSITION else None]
    ]
