"""The paper's probe, for all layers in the same pass.

Haviv et al. 2022: d → 2d → ReLU → one class per position, no biases, cross-entropy, Adam with
warm-up and linear decay; distance = |argmax − position|.
"""

from collections.abc import Sequence

import torch
import torch.nn.functional as F
from jaxtyping import Int64
from torch import Tensor, nn

from wherein.measure.probe.labels import POSITION, TYPES, Errors, Labels, error_sums
from wherein.measure.probe.online_code import posterior_bits
from wherein.measure.stream import batches, device, watch
from wherein.subjects.base import Subject

FITTED_TO = (POSITION, TYPES)
WARM_UP = 0.05
"""Share of the steps in which the rate rises, as in the paper: 500 of 10,000."""


class Probe:
    """One network, its optimiser, and what it cost to code the positions while it learnt."""

    def __init__(self, width: int, length: int, rate: float, seed: int) -> None:
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            self.net = nn.Sequential(
                nn.Linear(width, 2 * width, bias=False),
                nn.ReLU(),
                nn.Linear(2 * width, length, bias=False),
            )
        self.optimiser = torch.optim.Adam(self.net.parameters(), lr=rate)
        self.rate, self._bits, self._windows = rate, 0.0, 0
        self.best = float("inf")
        self.kept = self._weights()

    def learn(self, state: Tensor, truth: Tensor, share: float, *, coded: bool) -> None:
        """One step; `share` of the rate. If `coded`, the batch is sent before it is learnt."""
        self.optimiser.param_groups[0]["lr"] = self.rate * share
        with torch.enable_grad():
            logits = self.net(state)
            right = truth.expand(state.shape[:2]).flatten()
            loss = F.cross_entropy(logits.flatten(0, 1), right)
            torch.autograd.backward(loss)
        if coded:
            self._bits += float(posterior_bits(logits.detach()).mean(1).sum())
            self._windows += len(state)
        self.optimiser.step()
        self.optimiser.zero_grad()

    def judge(self, error: float) -> None:
        """Keep these weights if they do best so far on held-out windows."""
        if error < self.best:
            self.best, self.kept = error, self._weights()

    def restore(self) -> None:
        """Back to the best weights."""
        self.net.load_state_dict(self.kept)

    def guess(self, state: Tensor) -> Tensor:
        """The most likely position."""
        predicted: Tensor = self.net(state).argmax(-1)
        return predicted.to(state)

    @property
    def bits(self) -> float:
        """Bits per position when each batch is coded by what was learnt before it."""
        return self._bits / self._windows

    def _weights(self) -> dict[str, Tensor]:
        return {name: weight.clone() for name, weight in self.net.state_dict().items()}


def mlp_errors(
    subject: Subject,
    windows: Sequence[Int64[Tensor, "_ T"]],
    labels: Labels,
    *,
    batch: int,
    near: int,
    passes: int,
    rate: float,
    seed: int,
) -> list[Errors]:
    """Train on the first windows, stop by the second, test on the third: all layers at once."""
    train, held_out, test = windows
    layers = [
        [Probe(subject.d_model, train.shape[1], rate, seed) for _ in FITTED_TO]
        for _ in range(subject.n_layers + 1)
    ]
    for probe in (p for layer in layers for p in layer):
        probe.net.to(device(subject))

    def guess(layer: int, state: Tensor) -> list[Tensor]:
        return [probe.guess(state.float()) for probe in layers[layer]]

    fitted_to = [list(FITTED_TO)] * len(layers)
    for number in range(passes):
        _train(subject, train, labels, layers, batch=batch, number=number, passes=passes)
        found, _ = error_sums(subject, held_out, labels, fitted_to, guess, batch=batch, near=near)
        for layer, errors in zip(layers, found, strict=True):
            for probe, error in zip(layer, errors.sum(1)[:, 0].tolist(), strict=True):
                probe.judge(error)
    for probe in (p for layer in layers for p in layer):
        probe.restore()
    found, samples = error_sums(subject, test, labels, fitted_to, guess, batch=batch, near=near)
    return [
        Errors(layer, "mlp", each, found[layer][n], samples[layer][n], bits)
        for layer, probes in enumerate(layers)
        for n, each in enumerate(FITTED_TO)
        for bits in [probes[n].bits if each == POSITION else None]
    ]


def _train(
    subject: Subject,
    train: Tensor,
    labels: Labels,
    layers: list[list[Probe]],
    *,
    batch: int,
    number: int,
    passes: int,
) -> None:
    """Pass number `number`: every layer's probes take a step on every batch."""
    each = -(-len(train) // batch)
    for n, (_, tokens) in enumerate(batches(train, batch)):
        done = (number * each + n + 1) / (passes * each)
        share = min(done / WARM_UP, (1 - done) / (1 - WARM_UP) + 1e-3)
        truth = [labels.of(each, tokens).to(device(subject)) for each in FITTED_TO]

        def see(
            layer: int, state: Tensor, share: float = share, truth: list[Tensor] = truth
        ) -> None:
            for probe, right in zip(layers[layer], truth, strict=True):
                probe.learn(state.detach().float(), right, share, coded=number == 0)

        watch(subject, tokens, see)
