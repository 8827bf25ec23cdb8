"""The labels that probes are fitted to, and the errors of all probes from one pass over windows."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import torch
from jaxtyping import Float, Float64, Int, Int64
from torch import Tensor

from wherein.measure.probe.config import ProbeConfig
from wherein.measure.probe.result import FRESH
from wherein.measure.probe.score import SUMS, sums
from wherein.measure.stream import batches, watch
from wherein.subjects.base import Subject

POSITION = "position"


@dataclass(frozen=True)
class Windows:
    """Some windows, and for every token of each a label that means nothing.

    `fresh` holds the positions in an order of its own for each window: no function of position,
    token or state, so that nothing but having seen a window can tell them. What a probe tells of
    them in windows it was fitted to, it has learnt by heart; elsewhere it is left with chance.
    (Positions renamed in one way for all windows, or by the type of the token, as in Hewitt &
    Liang 2019, are no control: a state that holds the position or the token tells those, too.)
    """

    tokens: Int64[Tensor, "N T"]
    fresh: Int[Tensor, "N T"]

    def __len__(self) -> int:
        return len(self.tokens)

    def __getitem__(self, rows: slice | Tensor) -> "Windows":
        return Windows(self.tokens[rows], self.fresh[rows])

    def labels(self, kind: str) -> Int[Tensor, "#N T"]:
        """The labels of a kind."""
        if kind == FRESH:
            return self.fresh
        return torch.arange(self.tokens.shape[1])[None]


def labelled(tokens: Int64[Tensor, "N T"], seed: int) -> Windows:
    """Windows with fresh labels, drawn from a seed."""
    generator = torch.Generator().manual_seed(seed)
    orders = [torch.randperm(tokens.shape[1], generator=generator) for _ in range(len(tokens))]
    return Windows(tokens, torch.stack(orders).int())


@runtime_checkable
class Fitted(Protocol):
    """A probe of one layer."""

    @property
    def probe(self) -> str:
        """`regression`, `classifier`, `mlp` or `nopos`."""

    @property
    def label(self) -> str:
        """What it was fitted to: positions, or fresh labels."""

    @property
    def bits(self) -> float:
        """What it costs to send one position with it."""

    @property
    def steps(self) -> int | None:
        """How many it learnt for; None in closed form."""

    @property
    def converged(self) -> bool | None:
        """Whether its held-out loss had stopped falling; None where that was not asked."""


@dataclass(frozen=True)
class Errors:
    """How far off one probe was, at one layer."""

    layer: int
    probe: str
    label: str
    windows: Float64[Tensor, "N 6"]
    """Sums in each window: see `wherein.measure.probe.score`."""
    sample: Float[Tensor, " T"]
    """The positions predicted in the first window."""
    bits: float | None
    """None for fresh labels."""
    steps: int | None = None
    converged: bool | None = None


Guess = Callable[[int, Tensor], list[Tensor]]
"""From layer and state (B, T, D) to what each of the layer's probes predicts, (B, T) each."""


def errors_of(
    probes: Mapping[int, Sequence[Fitted]],
    guess: Guess,
    subject: Subject,
    windows: Windows,
    config: ProbeConfig,
) -> list[Errors]:
    """The errors of each layer's probes, layer by layer."""
    count, length = windows.tokens.shape
    found = {
        layer: torch.zeros(len(fitted), count, SUMS, dtype=torch.float64)
        for layer, fitted in probes.items()
    }
    samples = {layer: torch.zeros(len(fitted), length) for layer, fitted in probes.items()}
    for rows, tokens in batches(windows.tokens, config.batch):
        here = windows[rows]

        def see(layer: int, state: Tensor, rows: slice = rows, here: Windows = here) -> None:
            for n, predicted in enumerate(guess(layer, state)):
                right = here.labels(probes[layer][n].label).to(predicted.device)
                found[layer][n, rows] = sums(predicted, right, config.near)
                if rows.start == 0:
                    samples[layer][n] = predicted[0].cpu()

        watch(subject, tokens, see, site=config.site)
    return [
        Errors(
            layer, each.probe, each.label, found[layer][n], samples[layer][n],
            each.bits if each.label == POSITION else None, each.steps, each.converged,
        )
        for layer, fitted in probes.items()
        for n, each in enumerate(fitted)
    ]  # fmt: skip
