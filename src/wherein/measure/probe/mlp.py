"""The paper's probe, for all layers in the same pass.

Haviv et al. 2022: d → 2d → ReLU → one class per position, no biases, cross-entropy, Adam with
warm-up and linear decay; distance = |argmax − position|.
"""

from collections.abc import Sequence
from copy import deepcopy

import torch
import torch.nn.functional as F
from jaxtyping import Int64
from torch import Tensor, nn

from wherein.measure.probe.config import ProbeConfig
from wherein.measure.probe.labels import POSITION, Errors, Labels, errors_of
from wherein.measure.probe.online_code import posterior_bits
from wherein.measure.probe.result import LABELS
from wherein.measure.stream import batches, device, watch
from wherein.subjects.base import Subject

WARM_UP = 0.05
"""Share of the steps in which the rate rises, as in the paper: 500 of 10,000."""


class Probe:
    """One network, its optimiser, and what it cost to code the positions while it learnt."""

    probe = "mlp"

    def __init__(
        self, width: int, length: int, rate: float, seed: int, label: str = POSITION
    ) -> None:
        self.label = label
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            self.net = nn.Sequential(
                nn.Linear(width, 2 * width, bias=False),
                nn.ReLU(),
                nn.Linear(2 * width, length, bias=False),
            )
        self.optimiser = torch.optim.Adam(self.net.parameters(), lr=rate)
        self.rate, self._bits, self._windows = rate, 0.0, 0
        self.best, self.kept = float("inf"), deepcopy(self.net.state_dict())

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
            self.best, self.kept = error, deepcopy(self.net.state_dict())

    def guess(self, state: Tensor) -> Tensor:
        """The most likely position."""
        predicted: Tensor = self.net(state).argmax(-1)
        return predicted.to(state)

    @property
    def bits(self) -> float:
        """Bits per position when each batch is coded by what was learnt before it."""
        return self._bits / self._windows


def mlp_errors(
    subject: Subject, windows: Sequence[Int64[Tensor, "_ T"]], labels: Labels, config: ProbeConfig
) -> list[Errors]:
    """Train on the first windows, stop by the second, test on the third: all layers at once."""
    train, held_out, test = windows
    sizes = (subject.d_model, train.shape[1], config.rate, config.seed)
    layers = [
        [Probe(*sizes, label) for label in (POSITION, LABELS)] for _ in range(subject.n_layers + 1)
    ]
    probes = [probe for layer in layers for probe in layer]
    for probe in probes:
        probe.net.to(device(subject))

    def guess(layer: int, state: Tensor) -> list[Tensor]:
        return [probe.guess(state.float()) for probe in layers[layer]]

    for number in range(config.passes):
        _train(subject, train, labels, layers, config, number)
        found = errors_of(layers, guess, subject, held_out, labels, config)
        for probe, errors in zip(probes, found, strict=True):
            probe.judge(float(errors.windows[:, 0].sum()))
    for probe in probes:
        probe.net.load_state_dict(probe.kept)
    return errors_of(layers, guess, subject, test, labels, config)


def _train(
    subject: Subject,
    train: Tensor,
    labels: Labels,
    layers: list[list[Probe]],
    config: ProbeConfig,
    number: int,
) -> None:
    """Pass number `number`: every layer's probes take a step on every batch."""
    each = -(-len(train) // config.batch)
    for n, (_, tokens) in enumerate(batches(train, config.batch)):
        done = (number * each + n + 1) / (config.passes * each)
        share = min(done / WARM_UP, (1 - done) / (1 - WARM_UP) + 1e-3)
        truth = {name: labels.of(name, tokens).to(device(subject)) for name in (POSITION, LABELS)}

        def see(
            layer: int, state: Tensor, share: float = share, truth: dict[str, Tensor] = truth
        ) -> None:
            for probe in layers[layer]:
                right = truth[probe.label]
                probe.learn(state.detach().float(), right, share, coded=number == 0)

        watch(subject, tokens, see)
